"""Text while the tokens come: the incremental detokenizer. Chapter 10."""

from __future__ import annotations

from collections.abc import Callable, Sequence

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
MOST_HELD = 3
"""An unfinished UTF-8 character has at most three bytes, and each shows as one replacement character at most."""
WINDOW, KEEP, MOST = 16, 8, 128
"""Tokens of look-back: when there are WINDOW, all but the last KEEP are let go; of MOST, in any case."""


class Detokenizer:
    """Turns tokens into text one by one; what it returns, joined, is the text of all of them.

    A token's text depends on its neighbours: a word loses its space at the beginning of a text, and a token may be one
    byte of a character. So a few tokens are decoded together, and what is new in their text is returned:

        tokens of the window    [ in the text already ... | the new one ]
        their text              [ returned ............... | new | held: a character that may not be complete ]

    Nothing is held for more than MOST_HELD replacement characters: what ends like an unfinished character for longer is
    not one. What was returned stays, also where a decoder rewrites text behind the last token: with byte fallback, one
    invalid byte turns the good characters next to it into replacement characters.
    """

    def __init__(self, decode: Callable[[Sequence[int]], str]) -> None:
        """`decode`: ids -> their text."""
        self._decode = decode
        self._ids: list[int] = []
        self._text = ""
        """What the tokens of the window decode to."""
        self._returned = 0
        """Characters of it that were returned."""
        self._whole = (0, 0)
        """(tokens, characters) of the window, up to the last token behind which nothing was held."""
        self._limit = WINDOW

    def push(self, token: int) -> str:
        """Add a token; the text that is certain now and was not before, often ""."""
        text = self._decode([*self._ids, token])
        if text == self._text != "" and (not text.endswith(REPLACEMENT) or not self._decode([token])):
            return ""  # a special token: nothing that the next ones could lean on
        self._ids.append(token)
        if not text.startswith(self._text[: self._returned]):
            # an unfinished character has undone finished ones before it: without them it is only unfinished
            tokens, characters = self._whole
            self._ids, self._returned, self._whole = self._ids[tokens:], max(0, self._returned - characters), (0, 0)
            text = self._decode(self._ids)
        self._text = text
        unfinished = len(text) - len(text.rstrip(REPLACEMENT))
        new = self._return_up_to(len(text) - min(unfinished, MOST_HELD))
        if not unfinished:
            self._whole = (len(self._ids), len(text))
        if len(self._ids) >= MOST:
            # nothing that is held for so long will be completed
            new += self.flush()
        if len(self._ids) >= self._limit:
            self._shorten()
        return new

    def flush(self) -> str:
        """The text that is held back; after the last token."""
        return self._return_up_to(len(self._text))

    def _return_up_to(self, end: int) -> str:
        new = self._text[self._returned : end]
        self._returned = max(self._returned, end)
        return new

    def _shorten(self) -> None:
        """Let go of all but the last KEEP tokens if the text of the rest ends as before.

        The rest may begin in the middle of a character or lose a space at its front; that does not matter as long as
        all that is still to be returned, and a character before it, stays what it is.
        """
        kept, held = self._ids[-KEEP:], max(0, len(self._text) - self._returned)
        text, end = self._decode(kept), held + 1
        certain = (len(text) >= end and text[-end:] == self._text[-end:]) or text == self._text == ""
        if certain or len(self._ids) >= MOST:
            self._whole = (0, 0) if held else (KEEP, len(text))
            self._ids, self._text, self._returned, self._limit = kept, text, len(text) - held, WINDOW
        else:
            self._limit = len(self._ids) + KEEP
