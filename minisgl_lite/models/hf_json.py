"""Reading the JSON files of a checkpoint, with errors that name file, field and fault. Chapter 01."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


class CheckpointError(ValueError):
    """A checkpoint that cannot be used. The message is one line that names the file and what is wrong with it."""


def describe_os_error(path: Path, error: OSError) -> CheckpointError:
    """The CheckpointError for a file or folder that the operating system does not let us read."""
    reason = "no permission to read it" if isinstance(error, PermissionError) else (error.strerror or str(error))
    return CheckpointError(f"{path}: {reason}")


class Fields:
    """A JSON object with typed access. The errors of every method name the file, the field and its value."""

    def __init__(self, path: Path, values: dict[str, Any], prefix: str = "") -> None:
        """`prefix` is put before field names in messages: for an object inside another."""
        self.path, self.values, self.prefix = path, values, prefix

    @classmethod
    def read(cls, path: Path) -> Fields:
        """Read a file that holds one JSON object. Raises CheckpointError."""
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise CheckpointError(f"{path}: there is no such file") from None
        except OSError as error:
            raise describe_os_error(path, error) from None
        except ValueError as error:  # JSON and UTF-8 errors are both ValueErrors
            raise CheckpointError(f"{path}: not valid JSON: {error}") from None
        if not isinstance(values, dict):
            raise CheckpointError(f"{path}: holds a {type(values).__name__}, not a JSON object")
        return cls(path, values)

    def get(self, name: str, default: Any = None) -> Any:
        """The value as it stands; `default` where the field is absent or null."""
        value = self.values.get(name)
        return default if value is None else value

    def integer(self, name: str, default: int | None = None) -> int:
        """A whole number of at least 1. Without a default, absent and null are errors."""
        value = self._present(name, default)
        if type(value) is not int or value < 1:
            raise self.error(name, "it must be an integer of at least 1")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number above 0. Without a default, absent and null are errors."""
        value = self._present(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= sys.float_info.max:
            raise self.error(name, "it must be a finite number above 0")
        return float(value)

    def texts(self, name: str) -> list[str]:
        """A list of strings; an empty one where the field is absent or null."""
        value = self._present(name, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise self.error(name, "it must be a list of strings")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """true or false."""
        value = self._present(name, default)
        if not isinstance(value, bool):
            raise self.error(name, "it must be true or false")
        return value

    def inside(self, name: str) -> Fields:
        """The object in field `name`."""
        value = self._present(name, None)
        if not isinstance(value, dict):
            raise self.error(name, "it must be a JSON object")
        return Fields(self.path, value, f"{self.prefix}{name}.")

    def error(self, name: str, rule: str) -> CheckpointError:
        """The error for a value that breaks a rule."""
        return CheckpointError(f"{self.path}: {self.prefix}{name} is {self.values.get(name)!r}; {rule}")

    def _present(self, name: str, default: Any) -> Any:
        value = self.get(name, default)
        if value is None:
            raise CheckpointError(f"{self.path}: the field {self.prefix}{name} is missing")
        return value
