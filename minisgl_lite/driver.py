"""The Driver: runs rounds for whoever waits for answers. Chapter 05."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from tqdm import tqdm

from .assembly import Schedule
from .books import Books
from .core import Event, InvariantError
from .output_processor import Answer, OutputProcessor, Piece


class Driver:
    """Starts requests, runs rounds until their answers are there, and lets go of those that nobody waits for."""

    def __init__(self, schedule: Schedule, books: Books, outputs: OutputProcessor) -> None:
        self.loop, self.scheduler, self.books, self.outputs = schedule.loop, schedule.scheduler, books, outputs
        self.left: deque[Answer] = deque()
        """Of streams that nobody reads any more, to be forgotten."""

    def start(self, answers: Iterable[Answer]) -> None:
        """Queue the requests of some answers."""
        with self.books:
            for answer in answers:
                self.scheduler.submit(answer.req)
                self.outputs.add(answer)

    def round(self) -> list[Event]:
        """Run one round; its events, which have been handed out."""
        self.forget_left()
        with self.books:
            events = self.loop.step()
            self.outputs.sort(events)
        return events

    def progress(self) -> list[Event]:
        """Run a round for requests that wait for it; there must be something that it can do. Returns its events."""
        before = (self.scheduler.launched, self.scheduler.committed)
        events = self.round()
        if not events and before == (self.scheduler.launched, self.scheduler.committed):
            raise InvariantError("requests are waiting, but no round can be made")
        return events

    def complete(self, answers: Sequence[Answer]) -> None:
        """Run rounds until all of `answers` have ended; on a terminal, show progress after the first second."""
        most = sum(answer.req.limit - answer.req.prompt_len + 1 for answer in answers)
        mine = {answer.req.uid for answer in answers}
        with tqdm(total=most, desc="at most", unit="token", disable=None, leave=False, delay=1) as bar:
            for answer in answers:
                while answer.reason is None:
                    events = self.progress()
                    if not bar.disable:
                        bar.update(sum(uid in mine for uid, _, _ in events))
        self.drain()

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
                self.outputs.discard(answer)
            for uid in mine:
                self.scheduler.abort(uid)
            self.outputs.sort([event for event in self.scheduler.take_notes() if event[0] not in mine])

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
