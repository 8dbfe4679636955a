"""Books: the engine's book-keeping is whole whenever anybody may look at it. Chapter 05."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TypeVar

from .core import Batch
from .kvcache.pages import OutOfPages
from .scheduler.loop import Output, Runner

T = TypeVar("T")


class Books:
    """`with books:` around everything that changes queues, accounts and answers.

    Ctrl-C waits for the end of the block, except in a forward pass: a round that was planned must be settled, and half
    a commit cannot be undone. A second Ctrl-C does not wait, in case the block hangs. Where an exception leaves the
    block half-done (that second one, or a bug), `broken` says so, and the block cannot be entered again. Exceptions of
    a forward pass are none of these: the loop has settled them.

    Only the main thread gets Ctrl-C, and only Python's own handler of it is replaced.
    """

    def __init__(self, whole_rounds: bool = False) -> None:
        """whole_rounds: Ctrl-C waits for a forward pass as well: others are computing the other parts of it."""
        self._whole_rounds = whole_rounds
        self.broken = ""
        """Why the books cannot be trusted any more, in one line; "" while they can."""
        self.crashed = 0
        """Index of the last batch whose launch raised: its page-table entries may not be there."""
        self.harmless: tuple[type[BaseException], ...] = (OutOfPages,)
        """Other exceptions that leave the books whole."""
        self._raised: list[BaseException] = []
        self._computing = False
        self._depth = 0
        self._thread = threading.get_ident()
        self._held = self._replaced = False

    @property
    def away(self) -> bool:
        """Whether this is no moment to open the books: they are open, or another thread works with them.

        The garbage collector asks: it may end a stream at any time, in any thread.
        """
        return self._depth > 0 or self._thread != threading.get_ident()

    def require_whole(self) -> None:
        """Raise RuntimeError, one line, when the books are broken."""
        if self.broken:
            raise RuntimeError(self.broken)

    def __enter__(self) -> None:
        self.require_whole()
        if not self._depth:
            self._thread = threading.get_ident()
            mine = threading.main_thread().ident == self._thread
            self._held, self._replaced = False, mine and signal.getsignal(signal.SIGINT) is signal.default_int_handler
            if self._replaced:
                signal.signal(signal.SIGINT, self._interrupt)
        self._depth += 1

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if error is not None and not self._told(error) and not isinstance(error, self.harmless):
            what = " ".join(f"{type(error).__name__} {error}".split())
            self.broken = f"this LLM was interrupted in its book-keeping ({what:.200}); make a new one"
        self._depth -= 1
        if not self._depth and self._replaced:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if self._held and not isinstance(error, KeyboardInterrupt):
                signal.default_int_handler(signal.SIGINT, None)

    def compute(self, call: Callable[[], T]) -> T:
        """Call a part of a forward pass: Ctrl-C may cut it short, and what it raises breaks no books."""
        try:
            try:
                self._computing = not self._whole_rounds
                return call()
            finally:
                self._computing = False
        except BaseException as error:
            # with overlap it is told a step later; no loop has more than a few of them to tell
            self._raised = [*self._raised[-3:], error]
            raise

    @property
    def untold(self) -> BaseException | None:
        """What a forward pass has raised that no caller has been told yet: with overlap, that takes a step more."""
        return self._raised[-1] if self._raised else None

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._computing or self._held:
            signal.default_int_handler(number, frame)
        self._held = True

    def _told(self, error: BaseException) -> bool:
        """Whether a forward pass raised this; it is forgotten then."""
        kept = [other for other in self._raised if other is not error]
        told, self._raised = len(kept) < len(self._raised), kept
        return told


class Watched:
    """A runner whose forward passes may be interrupted, and whose exceptions the books can tell from others."""

    def __init__(self, runner: Runner, books: Books) -> None:
        self.runner, self.books = runner, books

    def forward_batch(self, batch: Batch) -> Output:
        """See Runner."""
        try:
            return WatchedOutput(self.books.compute(lambda: self.runner.forward_batch(batch)), self.books)
        except BaseException:
            self.books.crashed = batch.index
            raise

    def now(self) -> float:
        """See Runner."""
        return self.runner.now()


class WatchedOutput:
    """The output of such a forward pass."""

    def __init__(self, output: Output, books: Books) -> None:
        self.output, self.books = output, books

    def tokens(self) -> list[int]:
        """See Output."""
        return self.books.compute(self.output.tokens)
