"""LLM: the offline interface. Chapter 05."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .assembly import Custom, assemble
from .config import AttentionName, CacheType, EngineConfig
from .core import Event, SamplingParams
from .driver import Driver
from .input_processor import InputProcessor, Prompt
from .output_processor import Answer, Completion, OutputProcessor, Piece
from .trace import Round

if TYPE_CHECKING:
    import torch

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
        dtype: torch.dtype | str | None = None,
        device: torch.device | str | None = None,
        page_size: int = 1,
        num_pages: int | None = None,
        max_running_req: int = 256,
        max_seq_len: int | None = None,
        max_extend_tokens: int = 8192,
        cache_type: CacheType | None = None,
        overlap: bool | None = None,
        attention_backend: AttentionName | None = None,
        cuda_graph_max_bs: int | None = None,
        tp_size: int = 1,
        memory_ratio: float = 0.9,
        *,
        custom: Custom | None = None,
    ) -> None:
        """`custom` puts parts of your own in place of those that the options choose."""
        config = EngineConfig(
            model=model,
            dtype=dtype,
            device=device,
            page_size=page_size,
            num_pages=num_pages,
            max_running_req=max_running_req,
            max_seq_len=max_seq_len,
            max_extend_tokens=max_extend_tokens,
            cache_type=cache_type,
            overlap=overlap,
            attention_backend=attention_backend,
            cuda_graph_max_bs=cuda_graph_max_bs,
            tp_size=tp_size,
            memory_ratio=memory_ratio,
        )
        self._parts = assemble(config, custom)
        self._loop, self._scheduler = self._parts.schedule.loop, self._parts.schedule.scheduler
        self._books, self._outputs = self._parts.books, OutputProcessor(self._parts.schedule.end)
        self._driver = Driver(self._parts.schedule, self._books, self._outputs)
        self._inputs, self._next_uid, self._closed = InputProcessor(self._parts), 0, False

    # ---- one batch of prompts -------------------------------------------------------------------------------------

    def generate(
        self, prompts: Sequence[Prompt], params: SamplingParams | Sequence[SamplingParams] | None = None
    ) -> list[Completion]:
        """Complete all prompts, in the order given. `params`: one for all, or one a prompt.

        Every prompt is checked before the first is queued (ValueError). Events of requests that others submitted wait
        for the next `step`. When a forward pass raises while this call waits, even one that computes other requests
        only, this call's requests are aborted and the exception goes on, unless all of them were complete. What takes
        more than a second shows progress on a terminal.
        """
        self._ready()
        reqs = self._inputs.requests(prompts, params, self._next_uid)
        answers = [Answer(req, self._inputs.text(req)) for req in reqs]
        self._next_uid += len(answers)
        try:
            self._driver.start(answers)
            self._driver.complete(answers)
        finally:
            self._driver.forget(answers)
        decode = self._parts.checkpoint.decode
        return [answer.completion(decode) for answer in answers]

    def stream(self, prompt: Prompt, params: SamplingParams | None = None) -> Iterator[Piece]:
        """(new text, token, reason) for each token of one prompt, as it comes; the last one has the reason.

        The texts, joined, are what `generate` gives; text that may be cut off yet comes later than its token. The token
        of a stop is None. The prompt is checked at once (ValueError) and queued with the first piece; whoever closes
        the iterator aborts it, at once or, while a step runs, after it. Raises RuntimeError when the engine gives the
        request up. A forward pass that raises while this stream waits ends it with that exception, even one that
        computes other requests only. Comes with chapter 10.
        """
        self._ready()
        req = self._inputs.request(prompt, params, self._next_uid)
        answer = Answer(req, self._inputs.streamed_text(req))

        def new_uid() -> int:
            self._ready()
            self._next_uid += 1
            return self._next_uid - 1

        return self._driver.pieces(answer, new_uid)

    # ---- request by request ---------------------------------------------------------------------------------------

    def submit(self, prompt: Prompt, params: SamplingParams | None = None, uid: int | None = None) -> int:
        """Queue a prompt and return its uid. Raises ValueError, with nothing queued, when it can never run.

        max_tokens is cut to what context and pool leave room for; the request then ends with "length".
        """
        self._ready()
        uid = self._next_uid if uid is None else self._inputs.uid(uid)
        if self._scheduler.in_use(uid) or self._outputs.untold(uid):
            raise ValueError(f"uid {uid} is in use by a request that has not ended yet")
        req = self._inputs.request(prompt, params, uid)
        text = self._inputs.text(req)
        with self._books:
            self._scheduler.submit(req)
            if text is not None:
                self._outputs.add(Answer(req, text, awaited=False))
            self._next_uid = max(self._next_uid, uid + 1)
        return uid

    def step(self) -> list[Event]:
        """Run one round; (uid, token or None, finish reason or None) for each thing that happened.

        A forward pass that raises ends its own requests: the exception comes from here, their "abort" with a next step.
        """
        self._ready()
        self._driver.round()
        return self._outputs.collect()

    def abort(self, uid: int) -> None:
        """End a request; the next step delivers (uid, None, "abort"), once. Unknown or ended: ignored."""
        uid = self._inputs.uid(uid)
        with self._books:
            self._scheduler.abort(uid)

    @property
    def has_work(self) -> bool:
        """Whether a step would do or deliver anything."""
        if self._closed or self._books.broken:
            return False
        self._driver.forget_left()
        return bool(self._outputs.mailbox) or self._loop.has_work

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
        self._books.require_whole()
        self._scheduler.check()
        accounts = self._scheduler.cache.accounts.items()
        self._parts.engine.check({uid: req for uid, req in accounts if req.last_launch != self._books.crashed})

    def close(self) -> None:
        """Abort what is unfinished and refuse further work. May be called twice."""
        if not self._books.broken:
            with self._books:
                for uid in list(self._scheduler.live):
                    self._scheduler.abort(uid)
        self._closed = True
        self._parts.close()

    def _ready(self) -> None:
        if self._closed:
            raise RuntimeError("this LLM is closed")
        self._books.require_whole()
        self._driver.forget_left()

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
