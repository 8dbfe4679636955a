"""What the scheduler and the engine say to each other: SamplingParams, Req, Batch. Chapter 03."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from numbers import Real
from typing import Literal

from .values import as_int, in_order, ints, shown

Phase = Literal["prefill", "decode"]
FinishReason = Literal["stop", "length", "abort"]
Event = tuple[int, int | None, FinishReason | None]
"""One thing that happened to a request: (uid, token or None, why it ended or None)."""
NO_TOKEN = -1
"""In place of a sampled token: what the model said of this entry was not numbers, its request cannot go on."""


class InvariantError(AssertionError):
    """The engine's own book-keeping contradicts itself. Always a bug in the engine, never in the caller."""


def require(condition: bool, message: str) -> None:
    """Raise InvariantError with `message` unless `condition` holds (unlike `assert`, also under `python -O`)."""
    if not condition:
        raise InvariantError(message)


@dataclass(frozen=True)
class SamplingParams:
    """How one request picks its tokens and when it ends. Never changed by the engine.

    temperature: 0 is greedy. top_k: -1 is off. top_p: 1.0 is off. max_tokens: most tokens to generate, at least 1.
    ignore_eos: an EOS is a token like any other. stop_token_ids, stop: further ends, as ids and as text.
    seed: makes a sampled request repeatable as far as its logits are: these may differ in their last bits with the size
    of the batch, in 16 bits so much that now and then another token is drawn. logprobs: how many of the most likely
    tokens are reported with each token and its own log-probability.
    """

    temperature: float = 0.0
    top_k: int = -1
    top_p: float = 1.0
    max_tokens: int = 16
    ignore_eos: bool = False
    seed: int | None = None
    stop_token_ids: tuple[int, ...] = ()
    stop: tuple[str, ...] = ()
    logprobs: int | None = None

    def __post_init__(self) -> None:
        """Make other libraries' integers Python's, and lists tuples; `validate` refuses the rest."""
        for name in ("top_k", "max_tokens", "seed", "logprobs"):
            object.__setattr__(self, name, as_int(getattr(self, name)))
        for name in ("stop_token_ids", "stop"):
            if in_order(value := getattr(self, name)) or isinstance(value, set | frozenset):
                object.__setattr__(self, name, tuple(map(as_int, value)))

    def validate(self) -> None:
        """Raise ValueError naming the field, its value and its limit; says nothing about what is implemented."""
        for name, sound, limit in (
            ("max_tokens", type(self.max_tokens) is int and self.max_tokens >= 1, "an integer of at least 1"),
            ("temperature", isinstance(self.temperature, Real) and self.temperature >= 0.0, "a number of at least 0"),
            ("top_p", isinstance(self.top_p, Real) and 0.0 < self.top_p <= 1.0, "a number above 0 and at most 1"),
            ("top_k", type(self.top_k) is int and (self.top_k == -1 or self.top_k >= 1), "-1 (off) or at least 1"),
            ("ignore_eos", isinstance(self.ignore_eos, bool), "True or False"),
            ("stop_token_ids", ints(self.stop_token_ids) is not None, "a list of integers"),
        ):
            if not sound:
                raise ValueError(f"{name} is {shown(getattr(self, name))}; it must be {limit}")


class Req:
    """One request, from the queue to its last token. The scheduler owns it; the engine reads it through a Batch.

    Positions count from 0; the prompt takes positions 0 .. prompt_len - 1.

        input_ids    prompt, then the tokens sampled so far. Grows at commit only.
        cached_len   positions 0 .. cached_len - 1 have, or are about to have, their K/V in the pool: some launched
                     batch computes them. The only integer that planning moves.
        limit        the most positions that ever need K/V: prompt_len + max_tokens - 1. The last token that is
                     sampled is never fed back, so nothing is ever stored for it.
        table_idx    row of the page table and of the token pool, or None while the request waits.
        pages        page numbers, in position order. Owned through the CacheManager.
        last_launch  index of the last batch that names this request; 0 before the first.
        logprobs     one dict a sampled token, token id -> log-probability; None unless they are asked for.
        error        why the engine gave the request up, "" if it did not.
    """

    __slots__ = (
        "cached_len",
        "error",
        "finish_reason",
        "handle",
        "input_ids",
        "last_launch",
        "limit",
        "logprobs",
        "pages",
        "params",
        "prompt_len",
        "stop_ids",
        "table_idx",
        "uid",
    )

    def __init__(
        self,
        uid: int,
        prompt: Iterable[int],
        params: SamplingParams,
        *,
        eos_ids: Iterable[int] = (),
        max_tokens: int | None = None,
    ) -> None:
        """`max_tokens` replaces params.max_tokens where less fits; `eos_ids` end the request unless it ignores them."""
        self.uid = uid
        self.input_ids = list(prompt)
        self.prompt_len = len(self.input_ids)
        self.params = params
        self.stop_ids = frozenset(params.stop_token_ids) | (frozenset() if params.ignore_eos else frozenset(eos_ids))
        self.limit = self.prompt_len + (params.max_tokens if max_tokens is None else max_tokens) - 1
        self.cached_len = 0
        self.table_idx: int | None = None
        self.pages: list[int] = []
        self.last_launch = 0
        self.finish_reason: FinishReason | None = None
        self.logprobs: list[dict[int, float]] | None = None if params.logprobs is None else []
        self.error = ""
        self.handle: object = None
        """The cache manager's own note about this request; nobody else looks at it."""

    @property
    def row(self) -> int:
        """table_idx of an admitted request."""
        if self.table_idx is None:
            raise InvariantError(f"request {self.uid} has no row")
        return self.table_idx

    @property
    def can_decode(self) -> bool:
        """The whole prompt is computed, and at least one more position is to come."""
        return self.prompt_len <= self.cached_len < self.limit

    def __repr__(self) -> str:
        return f"Req(uid={self.uid}, cached_len={self.cached_len}, prompt_len={self.prompt_len}, limit={self.limit})"


@dataclass
class Batch:
    """One round of work: entry i computes positions starts[i] .. starts[i] + lens[i] - 1 of reqs[i].

    Everything but `reqs` is a copy of what was true when the batch was planned: requests move on before it settles.

        rows       row of the page table, an entry
        ids        prefill only: the token ids of all entries, one after the other. A decode batch has none: its tokens
                   may not have reached the host yet, they are read from the token pool
        emits      indices of the entries that sample a token: those that reach the end of their request's prompt, and
                   every decode entry; None means all entries
        new_pages  (rows, columns, pages): page-table entries to be written before the batch runs. At page size 1 a
                   decode batch has one an entry, in entry order
        index      1, 2, 3, ... in launch order
        uids       of `reqs`; worked out where it is not given
    """

    phase: Phase
    reqs: list[Req] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    lens: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    emits: list[int] | None = None
    new_pages: tuple[list[int], list[int], list[int]] = field(default_factory=lambda: ([], [], []))
    index: int = 0
    uids: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if len(self.uids) != len(self.reqs):
            self.uids = [req.uid for req in self.reqs]

    def add(self, req: Req, n: int) -> None:
        """Append a prefill entry: the next `n` prompt tokens of an admitted request."""
        start, entry = req.cached_len, len(self.reqs)
        self.reqs.append(req)
        self.uids.append(req.uid)
        self.starts.append(start)
        self.lens.append(n)
        self.rows.append(req.row)
        self.ids += req.input_ids[start : start + n]
        reaches_end = start + n >= req.prompt_len
        if self.emits is not None:
            if reaches_end:
                self.emits.append(entry)
        elif not reaches_end:
            self.emits = list(range(entry))

    @property
    def emitting(self) -> list[Req]:
        """The requests that sample a token in this batch, in entry order."""
        return self.reqs if self.emits is None else [self.reqs[i] for i in self.emits]
