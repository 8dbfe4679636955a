"""How a check asks the graded process, and what it last asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .checklib import OracleLike
from .process import Child


class Asker:
    """Hands a check's questions to the child; implements checklib.Ask.

    most: seconds that an answer may take, whatever the check allows.
    """

    def __init__(self, child: Child, oracle: Callable[[], Sequence[OracleLike]], most: float) -> None:
        self.child, self._oracle, self.most = child, oracle, most
        self.asked: tuple[str, dict[str, Any]] | None = None
        self.used_oracle = False

    def __call__(self, probe: str, args: dict[str, Any] | None = None, *, seconds: float = 20.0) -> Any:
        """See checklib.Ask."""
        self.asked = (probe, args or {})
        return self.child(probe, args, seconds=min(seconds, self.most))

    def oracle(self) -> Sequence[OracleLike]:
        """See checklib.Ask."""
        self.used_oracle = True
        return self._oracle()
