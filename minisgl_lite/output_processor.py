"""OutputProcessor: what has come of the requests that a call waits for. Chapter 05."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .core import Event, FinishReason, Req

Piece = tuple[str, int | None, FinishReason | None]
"""(new text, its token or None, why the answer ended or None)"""


class Text(Protocol):
    """An answer's text while it grows; what there is of it, from chapter 10 on, is tokenizer.output.OutputText."""

    text: str
    """What may be shown so far."""

    @property
    def stopped(self) -> bool:
        """Whether the text has come to a stop string."""
        ...

    def push(self, token: int) -> str:
        """Add a token; the text that is new."""
        ...

    def finish(self) -> str:
        """After the last token: the text that was held back."""
        ...


@dataclass(frozen=True)
class Completion:
    """What a prompt led to. token_ids never holds the token of a stop; finish_reason: "stop", "length" or "abort".

    logprobs: for each of token_ids its log-probability and those of the most likely tokens, where they were asked for.
    error: why the engine aborted the request, "" where it did not.
    """

    text: str
    token_ids: list[int]
    finish_reason: FinishReason
    logprobs: list[dict[int, float]] | None = None
    error: str = ""


class Answer:
    """What has come of one request so far. token_ids never holds the token of a stop."""

    def __init__(self, req: Req, text: Text | None = None, awaited: bool = True) -> None:
        """`text`: where the text is needed as it grows. `awaited`: its events are for somebody who waits for them."""
        self.req, self.text, self.awaited = req, text, awaited
        self.token_ids: list[int] = []
        self.reason: FinishReason | None = None
        self.pieces: deque[Piece] = deque()

    def take(self, event: Event) -> Event:
        """Add an event; returns it as it is to be told: with a token that completes a stop string, "stop"."""
        uid, token, reason = event
        new = ""
        if self.text is not None:
            if token is not None and reason != "stop":
                new = self.text.push(token)
            if reason is not None or self.text.stopped:
                new += self.text.finish()
            if self.text.stopped:
                reason = "stop"
        if token is not None and reason != "stop":
            self.token_ids.append(token)
        self.reason = reason
        if self.awaited and self.text is not None:
            self.pieces.append((new, None if reason == "stop" else token, reason))
        return uid, token, reason

    def completion(self, decode: Callable[[Sequence[int]], str]) -> Completion:
        """The whole of an answer that has ended; `decode`: ids -> text."""
        assert self.reason is not None
        text = decode(self.token_ids) if self.text is None else self.text.text
        logprobs = None if self.req.logprobs is None else self.req.logprobs[: len(self.token_ids)]
        return Completion(text, self.token_ids, self.reason, logprobs, self.req.error)


class OutputProcessor:
    """Sorts events: each request's answer takes its own, and what nobody waits for goes into the mailbox."""

    def __init__(self, end: Callable[[int, FinishReason], object]) -> None:
        """`end(uid, reason)` is told of a request whose text ended it, or ended it for another reason."""
        self._end = end
        self._open: dict[int, Answer] = {}
        self.mailbox: list[Event] = []
        """Events, as they are to be told, until `collect`."""
        self._untold: set[int] = set()
        self._read = 0

    def add(self, answer: Answer) -> None:
        """Let an answer take the events of its request, until it has ended."""
        self._open[answer.req.uid] = answer

    def discard(self, answer: Answer) -> None:
        """Forget an answer, if it is here."""
        if self._open.get(answer.req.uid) is answer:
            del self._open[answer.req.uid]

    def collect(self) -> list[Event]:
        """Empty the mailbox."""
        events, self.mailbox = self.mailbox, []
        self._untold, self._read = set(), 0
        return events

    def untold(self, uid: int) -> bool:
        """Whether an event of `uid` is in the mailbox."""
        # looked through when somebody asks, and each event once
        self._untold.update(event[0] for event in self.mailbox[self._read :])
        self._read = len(self.mailbox)
        return uid in self._untold

    def sort(self, events: list[Event]) -> None:
        """Hand out `events`."""
        self.mailbox += self._sorted(events) if self._open else events

    def _sorted(self, events: list[Event]) -> Iterable[Event]:
        for event in events:
            answer = self._open.get(event[0])
            if answer is None:
                yield event
                continue
            uid, token, reason = answer.take(event)
            if reason is not None:
                self.discard(answer)
                if reason != event[2]:
                    self._end(uid, reason)
            if not answer.awaited:
                yield uid, token, reason
