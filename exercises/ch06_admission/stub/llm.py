"""LLM: the offline interface. Chapter 05."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .assembly import Custom, assemble
from .config import EngineConfig
from .core import Event, FinishReason, InvariantError, Req, SamplingParams
from .trace import Round

if TYPE_CHECKING:
    from .models.checkpoint import Checkpoint

Prompt = str | Sequence[int]


@dataclass(frozen=True)
class Completion:
    """What a prompt led to. token_ids never holds the token of a stop; finish_reason: "stop", "length" or "abort"."""

    text: str
    token_ids: list[int]
    finish_reason: FinishReason
    logprobs: list[dict[int, float]] | None = None


@dataclass
class _Collected:
    """What `generate` has of one request so far."""

    token_ids: list[int] = field(default_factory=list)
    reason: FinishReason | None = None


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
        requests = self._checked(prompts, params)
        got = {req.uid: _Collected() for req in requests}
        for req in requests:
            self._scheduler.submit(req)
        try:
            while any(c.reason is None for c in got.values()):
                self._collect(got, self._progress())
        except BaseException:
            for uid in got:
                self._scheduler.abort(uid)
            self._mailbox += [e for e in self._scheduler.take_notes() if e[0] not in got]
            raise
        return [self._completion(got[req.uid]) for req in requests]

    def _checked(
        self, prompts: Sequence[Prompt], params: SamplingParams | Sequence[SamplingParams] | None
    ) -> list[Req]:
        if isinstance(prompts, str):
            raise ValueError("prompts is one string; pass a list of prompts")
        each = (
            [params or SamplingParams()] * len(prompts) if isinstance(params, SamplingParams | None) else list(params)
        )
        if len(each) != len(prompts):
            raise ValueError(f"{len(prompts)} prompts, but {len(each)} sampling params")
        requests: list[Req] = []
        for prompt, p in zip(prompts, each, strict=True):
            requests.append(self._new_req(prompt, p, self._next_uid + len(requests)))
        self._next_uid += len(requests)
        return requests

    def _progress(self) -> list[Event]:
        before = (self._scheduler.launched, self._scheduler.committed)
        events = self._loop.step()
        if not events and before == (self._scheduler.launched, self._scheduler.committed):
            raise InvariantError("requests are waiting, but no round can be made")
        return events

    def _collect(self, got: dict[int, _Collected], events: list[Event]) -> None:
        for event in events:
            uid, token, reason = event
            if uid not in got:
                self._mailbox.append(event)
                continue
            if token is not None and reason != "stop":
                got[uid].token_ids.append(token)
            got[uid].reason = reason

    def _completion(self, collected: _Collected) -> Completion:
        assert collected.reason is not None
        return Completion(self._parts.checkpoint.decode(collected.token_ids), collected.token_ids, collected.reason)

    def stream(self, prompt: Prompt, params: SamplingParams | None = None) -> Iterator[tuple[str, int, Any]]:
        """(new text, token, reason) for each token of one prompt, as it comes. Comes with chapter 10."""
        raise NotImplementedError("LLM.stream comes with chapter 10 (sampling)")

    # ---- request by request ---------------------------------------------------------------------------------------

    def submit(self, prompt: Prompt, params: SamplingParams | None = None, uid: int | None = None) -> int:
        """Queue a prompt and return its uid. Raises ValueError, with nothing queued, when it can never run.

        max_tokens is cut to what context and pool leave room for; the request then ends with "length".
        """
        if uid is not None and self._scheduler.in_use(uid):
            raise ValueError(f"uid {uid} is in use by a request that has not ended yet")
        req = self._new_req(prompt, params or SamplingParams(), self._next_uid if uid is None else uid)
        self._scheduler.submit(req)
        self._next_uid = max(self._next_uid, req.uid + 1)
        return req.uid

    def step(self) -> list[Event]:
        """Run one round; (uid, token or None, finish reason or None) for each thing that happened."""
        self._require_open()
        events, self._mailbox = self._mailbox, []
        return events + self._loop.step()

    def abort(self, uid: int) -> None:
        """End a request; the next step delivers (uid, None, "abort"), once. Unknown or ended: ignored."""
        self._scheduler.abort(uid)

    @property
    def has_work(self) -> bool:
        """Whether a step would do or deliver anything."""
        return bool(self._mailbox) or self._loop.has_work

    def _new_req(self, prompt: Prompt, params: SamplingParams, uid: int) -> Req:
        self._require_open()
        if type(uid) is not int:
            raise ValueError(f"uid is {uid!r}; it must be an integer")
        params.validate()
        self._parts.chooser.check(params)
        ids = self._token_ids(prompt)
        most = self._most_tokens(len(ids), params.max_tokens)
        return Req(uid, ids, params, eos_ids=self._parts.checkpoint.config.eos_ids, max_tokens=most)

    def _most_tokens(self, prompt_len: int, wanted: int) -> int:
        """The door: `wanted`, cut to what context and pool leave room for; ValueError when the prompt is too long."""
        raise NotImplementedError("exercise 06.2: write the body of LLM._most_tokens")

    def _token_ids(self, prompt: Prompt) -> list[int]:
        if isinstance(prompt, str):
            ids = self._parts.checkpoint.encode(prompt)
        else:
            try:
                ids = [operator.index(token) for token in prompt]
            except TypeError:
                raise ValueError(f"a prompt is a string or a list of token ids, not {prompt!r:.80}") from None
        if not ids:
            raise ValueError("the prompt is empty; it needs at least one token")
        vocab = self._parts.checkpoint.config.vocab_size
        for position, token in enumerate(ids):
            if not 0 <= token < vocab:
                raise ValueError(f"token id {token} at position {position} is outside the vocabulary 0..{vocab - 1}")
        return ids

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

    def _require_open(self) -> None:
        if self._closed:
            raise RuntimeError("this LLM is closed")

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
