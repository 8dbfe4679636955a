"""LLM: the offline interface. Chapter 05."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .answers import Answer, Answers, Completion, Piece
from .assembly import Custom, assemble
from .config import EngineConfig
from .core import Event, InvariantError, SamplingParams
from .door import Door, Prompt
from .trace import Round

if TYPE_CHECKING:
    from .models.checkpoint import Checkpoint


class LLM:
    """An engine that is driven by the caller: `generate` for a batch of prompts, or `submit` and `step` by hand.

    Not safe for use from several threads. Options: see EngineConfig; each may be left out. Raises ValueError for
    options that contradict each other or the model, NotImplementedError (naming the chapter) for those whose chapter
    is not there.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | Checkpoint = "tiny",
        dtype: Any = None,
        device: Any = None,
        page_size: int = 1,
        num_pages: int | None = None,
        max_running_req: int = 256,
        max_seq_len: int | None = None,
        max_extend_tokens: int = 8192,
        cache_type: Any = None,
        overlap: bool | None = None,
        attention_backend: Any = None,
        cuda_graph_max_bs: int | None = None,
        tp_size: int = 1,
        memory_ratio: float = 0.9,
        *,
        custom: Custom | None = None,
    ) -> None:
        """`custom` puts parts of your own in place of those that the options choose."""
        options = dict(locals())
        for name in ("self", "custom"):
            del options[name]
        self._parts = assemble(EngineConfig(**options), custom)
        self._loop, self._scheduler = self._parts.schedule.loop, self._parts.schedule.scheduler
        self._next_uid = 0
        self._door = Door(self._parts)
        self._answers = Answers(self._scheduler.end)
        self._mailbox: list[Event] = []
        self._closed = False

    # ---- one batch of prompts -------------------------------------------------------------------------------------

    def generate(
        self, prompts: Sequence[Prompt], params: SamplingParams | Sequence[SamplingParams] | None = None
    ) -> list[Completion]:
        """Complete all prompts, in the order given. `params`: one for all, or one a prompt.

        Every prompt is checked before the first is queued (ValueError). When a step raises, this call's requests are
        aborted and the exception goes on. Events of requests that others submitted wait for the next `step`.
        """
        self._require_open()
        answers = [Answer(req, self._door.text(req)) for req in self._door.requests(prompts, params, self._next_uid)]
        self._next_uid += len(answers)
        for answer in answers:
            self._start(answer)
        try:
            while any(answer.reason is None for answer in answers):
                self._progress()
            self._drain()
        finally:
            self._forget(answers)
        decode = self._parts.checkpoint.decode
        return [answer.completion(decode) for answer in answers]

    def _start(self, answer: Answer) -> None:
        self._scheduler.submit(answer.req)
        self._answers.add(answer)

    def _progress(self) -> None:
        before = (self._scheduler.launched, self._scheduler.committed)
        events = self._loop.step()
        if not events and before == (self._scheduler.launched, self._scheduler.committed):
            raise InvariantError("requests are waiting, but no round can be made")
        self._mailbox += self._answers.sort(events)

    def _drain(self) -> None:
        """Settle what is still in flight when nobody waits for it any more."""
        while not self._scheduler.live and self._loop.has_work:
            self._progress()

    def _forget(self, answers: Iterable[Answer]) -> None:
        """Abort those of `answers` that have not ended; nobody is told."""
        mine = [answer.req.uid for answer in answers if answer.reason is None]
        for answer in answers:
            self._answers.discard(answer)
        for uid in mine:
            self._scheduler.abort(uid)
        others = [event for event in self._scheduler.take_notes() if event[0] not in mine]
        self._mailbox += self._answers.sort(others)

    def stream(self, prompt: Prompt, params: SamplingParams | None = None) -> Iterator[Piece]:
        """(new text, token, reason) for each token of one prompt, as it comes; the last one has the reason.

        The texts, joined, are what `generate` gives; text that may be cut off yet comes later than its token. The token
        of a stop is None. The prompt is checked at once (ValueError) and queued with the first piece; whoever closes
        the iterator aborts it. Raises RuntimeError when the engine gives the request up. Comes with chapter 10.
        """
        self._require_open()
        req = self._door.request(prompt, params, self._next_uid)
        return self._pieces(Answer(req, self._door.streamed_text(req)))

    def _pieces(self, answer: Answer) -> Iterator[Piece]:
        self._require_open()
        answer.req.uid, self._next_uid = self._next_uid, self._next_uid + 1
        self._start(answer)
        try:
            while answer.reason is None or answer.pieces:
                while not answer.pieces:
                    self._progress()
                if answer.reason is not None:
                    self._drain()
                if answer.req.error:
                    raise RuntimeError(f"the request was given up: {answer.req.error}")
                yield answer.pieces.popleft()
        finally:
            self._forget([answer])

    # ---- request by request ---------------------------------------------------------------------------------------

    def submit(self, prompt: Prompt, params: SamplingParams | None = None, uid: int | None = None) -> int:
        """Queue a prompt and return its uid. Raises ValueError, with nothing queued, when it can never run.

        max_tokens is cut to what context and pool leave room for; the request then ends with "length".
        """
        if uid is not None and (self._scheduler.in_use(uid) or any(event[0] == uid for event in self._mailbox)):
            raise ValueError(f"uid {uid} is in use by a request that has not ended yet")
        self._require_open()
        req = self._door.request(prompt, params, self._next_uid if uid is None else uid)
        self._scheduler.submit(req)
        if (text := self._door.text(req)) is not None:
            self._answers.add(Answer(req, text, awaited=False))
        self._next_uid = max(self._next_uid, req.uid + 1)
        return req.uid

    def step(self) -> list[Event]:
        """Run one round; (uid, token or None, finish reason or None) for each thing that happened."""
        self._require_open()
        events = self._answers.sort(self._loop.step())
        events, self._mailbox = self._mailbox + events, []
        return events

    def abort(self, uid: int) -> None:
        """End a request; the next step delivers (uid, None, "abort"), once. Unknown or ended: ignored."""
        self._scheduler.abort(uid)

    @property
    def has_work(self) -> bool:
        """Whether a step would do or deliver anything."""
        return bool(self._mailbox) or self._loop.has_work

    # ---- looking inside -------------------------------------------------------------------------------------------

    @property
    def trace(self) -> list[Round]:
        """The last 10,000 rounds, oldest first."""
        return list(self._parts.schedule.recorder.rounds)

    @property
    def tokenizer(self) -> Any:
        """The checkpoint's tokenizer."""
        return self._parts.checkpoint.tokenizer

    def check_invariants(self) -> None:
        """Raise InvariantError if the book-keeping contradicts itself. Reads the device; for tests and the judge."""
        self._scheduler.check()
        self._parts.engine.check(self._scheduler.cache.accounts)

    def close(self) -> None:
        """Abort what is unfinished and refuse further work. May be called twice."""
        for uid in list(self._scheduler.live):
            self._scheduler.abort(uid)
        self._closed = True
        self._parts.close()

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("this LLM is closed")

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
