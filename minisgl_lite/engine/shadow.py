"""The shadow engine: an engine whose K/V are the tokens themselves, so that a wrong page shows at once. Chapter 05."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ..core import Batch, InvariantError, Req, require
from ..scheduler.cache import CacheManager


def next_token(tokens: Sequence[int], vocab: int) -> int:
    """The token that follows `tokens`: a hash of all of them, so that one wrong token anywhere changes it."""
    text = ",".join(map(str, tokens)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=4).digest(), "big") % vocab


class ShadowOutput:
    """The tokens of a batch, computed when they are asked for if the engine runs late."""

    def __init__(self, engine: ShadowEngine, batch: Batch) -> None:
        self._engine, self._batch = engine, batch
        self._ids: list[int] | None = None

    def tokens(self) -> list[int]:
        """Run the batch, unless it has run."""
        if self._ids is None:
            self._ids = self._engine.execute(self._batch)
        return self._ids


class ShadowEngine:
    """Reads and writes slots through the page table, as the real engine does, and checks each access. No torch.

    A slot holds a token instead of its keys and values; the next token is a hash of all that the request reads. With
    `late`, a batch runs when its tokens are asked for, as on a slow device: whoever gives a page or row back too early
    is caught. Raises InvariantError, naming the request.
    """

    def __init__(self, rows: int, cache: CacheManager, vocab: int = 50, late: bool = False) -> None:
        self.cache, self.vocab, self.late = cache, vocab, late
        allocator = cache.allocator
        self.slots: list[int | None] = [None] * allocator.num_tokens
        self.page_table: list[dict[int, int]] = [{} for _ in range(rows)]
        self.token_pool: list[dict[int, int]] = [{} for _ in range(rows)]
        self.rounds = 0
        self.computed = 0
        """Tokens computed so far."""
        self.wasted: dict[int, int] = {}
        """uid -> entries computed after the request had ended."""
        self._queue: list[Batch] = []

    def now(self) -> float:
        """Rounds run so far."""
        return float(self.rounds)

    def forward_batch(self, batch: Batch) -> ShadowOutput:
        """Launch a batch; it runs now, or when its tokens are asked for."""
        self._queue.append(batch)
        output = ShadowOutput(self, batch)
        if not self.late:
            output.tokens()
        return output

    def execute(self, batch: Batch) -> list[int]:
        """Run the oldest launched batch: all writes, then all reads, as one layer of a kernel does."""
        require(self._queue[0] is batch, "batches run in launch order")
        self._queue.pop(0)
        self.rounds += 1
        for row, column, page in zip(*batch.new_pages, strict=True):
            self.page_table[row][column] = page
        free = set(self.cache.allocator.snapshot())
        self._write(batch, free)
        entries = range(len(batch.reqs)) if batch.emits is None else batch.emits
        out = []
        for i in entries:
            row, end = batch.rows[i], batch.starts[i] + batch.lens[i]
            token = next_token(self._read(batch.reqs[i], row, end, free), self.vocab)
            self.token_pool[row][end] = token
            out.append(token)
        return out

    def _write(self, batch: Batch, free: set[int]) -> None:
        written: set[int] = set()
        ids = iter(batch.ids)
        for req, start, n, row in zip(batch.reqs, batch.starts, batch.lens, batch.rows, strict=True):
            mine = self.cache.accounts.get(req.uid) is req and req.table_idx == row
            require(mine, f"request {req.uid}: its row or account was given away while a batch in flight names it")
            for position in range(start, start + n):
                slot = self._slot(req, row, position, free)
                require(slot not in written, f"request {req.uid}: two entries of one batch write slot {slot}")
                written.add(slot)
                self.slots[slot] = next(ids) if batch.phase == "prefill" else self.token_pool[row][position]
            self.computed += n
            if req.finish_reason is not None:
                self.wasted[req.uid] = self.wasted.get(req.uid, 0) + 1

    def _read(self, req: Req, row: int, end: int, free: set[int]) -> list[int]:
        tokens = []
        for position in range(end):
            token = self.slots[self._slot(req, row, position, free)]
            if token is None:
                raise InvariantError(f"request {req.uid} reads position {position}, which nobody has written")
            tokens.append(token)
        return tokens

    def _slot(self, req: Req, row: int, position: int, free: set[int]) -> int:
        size = self.cache.allocator.page_size
        page = self.page_table[row].get(position // size)
        if page is None:
            raise InvariantError(f"request {req.uid}: no page for position {position}")
        require(page not in free, f"request {req.uid}: position {position} is in page {page}, which is free")
        return page * size + position % size
