"""The Driver: runs rounds for whoever waits for answers. Chapter 05."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from .answers import Answer, Answers, Piece
from .assembly import Schedule
from .books import Books
from .core import Event, InvariantError


class Driver:
    """Starts requests, runs rounds until their answers are there, and lets go of those that nobody waits for."""

    def __init__(self, schedule: Schedule, books: Books, answers: Answers) -> None:
        self.loop, self.scheduler, self.books, self.answers = schedule.loop, schedule.scheduler, books, answers
        self.left: deque[Answer] = deque()
        """Of streams that nobody reads any more, to be forgotten."""

    def start(self, answers: Iterable[Answer]) -> None:
        """Queue the requests of some answers."""
        with self.books:
            for answer in answers:
                self.scheduler.submit(answer.req)
                self.answers.add(answer)

    def round(self) -> list[Event]:
        """Run one round; its events, which have been handed out."""
        self.forget_left()
        with self.books:
            events = self.loop.step()
            self.answers.sort(events)
        return events

    def progress(self) -> None:
        """Run a round for requests that wait for it; there must be something that it can do."""
        before = (self.scheduler.launched, self.scheduler.committed)
        if not self.round() and before == (self.scheduler.launched, self.scheduler.committed):
            raise InvariantError("requests are waiting, but no round can be made")

    def drain(self) -> None:
        """Settle what is still in flight when nobody waits for it any more."""
        while not self.scheduler.live and self.loop.has_work:
            settled = self.scheduler.committed
            try:
                self.progress()
            except Exception:
                # a forward pass for requests that had ended already: nobody has lost anything
                if self.scheduler.committed == settled or self.books.broken:
                    raise

    def forget(self, answers: Iterable[Answer]) -> None:
        """Abort those of `answers` that have not ended; nobody is told."""
        if self.books.broken:
            return
        with self.books:
            mine = {answer.req.uid for answer in answers if answer.reason is None}
            for answer in answers:
                self.answers.discard(answer)
            for uid in mine:
                self.scheduler.abort(uid)
            self.answers.sort([event for event in self.scheduler.take_notes() if event[0] not in mine])

    def forget_left(self) -> None:
        """Forget the answers of streams that were left while the books were open."""
        while self.left:
            self.forget([self.left.popleft()])

    def pieces(self, answer: Answer, new_uid: Callable[[], int]) -> Iterator[Piece]:
        """See LLM.stream. `new_uid` is asked for the request's uid when the first piece is."""
        answer.req.uid = new_uid()
        try:
            self.start([answer])
            while answer.reason is None or answer.pieces:
                while not answer.pieces:
                    self.progress()
                if answer.reason is not None:
                    self.drain()
                piece = answer.pieces.popleft()
                if piece[2] == "abort" and answer.req.error:
                    raise RuntimeError(f"the request was given up: {answer.req.error}")
                yield piece
        finally:
            # the garbage collector comes here too, at any moment and in any thread
            if self.books.away:
                self.left.append(answer)
            else:
                self.forget([answer])
