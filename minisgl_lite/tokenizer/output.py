"""The text of one answer while it grows: detokenized, and cut at a stop string. Chapter 10."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .detokenize import Detokenizer
from .stops import StopStrings


class OutputText:
    """Takes the tokens of an answer, gives its text. It belongs to one request and ends with it."""

    def __init__(self, decode: Callable[[Sequence[int]], str], stop: Sequence[str] = ()) -> None:
        """`decode`: ids -> text. `stop`: the strings that end the text; they are not part of it."""
        self._tokens, self._stops = Detokenizer(decode), StopStrings(stop)
        self.text = ""
        """What may be shown so far."""

    @property
    def stopped(self) -> bool:
        """Whether a stop string has come."""
        return self._stops.found

    def push(self, token: int) -> str:
        """Add a token; the text that may be shown now and could not before."""
        return self._show(self._stops.push(self._tokens.push(token)))

    def finish(self) -> str:
        """After the last token: what was held back."""
        return self._show(self._stops.push(self._tokens.flush()) + self._stops.flush())

    def _show(self, new: str) -> str:
        self.text += new
        return new
