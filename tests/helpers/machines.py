"""Random schedules as a state machine: submit, launch, settle, abort, fail in any order, checked after every step.

The shadow engine runs late and says who read a page that was not theirs any more; the answers are those of the oracle;
what was admitted is compared with a brute force that knows no tree, no queue and no counter.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Batch, Req
from minisgl_lite.scheduler.loop import Flight
from tests.helpers.schedules import oracle, request, shadow

LONG = int(os.environ.get("MINISGL_LITE_LONG", "0"))
"""Set it to N for N times as many examples, drawn anew in each run."""

BASE = [(7 * i * i + 3 * i) % 11 for i in range(64)]
"""Prompts begin with a stretch of it, so that many share a prefix."""


def examples(count: int, steps: int = 50) -> settings:
    """`count` runs of `steps` steps: the same ones each time, unless the long run is asked for."""
    return settings(
        max_examples=count * max(LONG, 1), stateful_step_count=steps, derandomize=not LONG, deadline=None, database=None
    )


class SchedulerMachine(RuleBasedStateMachine):
    """Subclasses say which parts are under test."""

    cache_type = "naive"
    chunked = False
    policies: tuple[Any, ...] = (None,)

    def custom(self, policy: Any) -> Custom:
        raise NotImplementedError

    @initialize(
        size=st.sampled_from([1, 3, 16]),
        tokens=st.sampled_from([96, 48, 160]),
        rows=st.sampled_from([4, 6, 1, 2]),
        budget=st.sampled_from([64, 16, 5]),
        policy=st.integers(0, 2),
    )
    def build(self, size: int, tokens: int, rows: int, budget: int, policy: int) -> None:
        self.budget = budget
        new_policy = self.policies[policy % len(self.policies)]
        self.schedule = shadow(
            tokens // size, late=True, custom=self.custom(new_policy), page_size=size, cache_type=self.cache_type,
            max_running_req=rows, max_extend_tokens=budget,
        )  # fmt: skip
        self.s, self.loop = self.schedule.scheduler, self.schedule.loop
        self.bound = getattr(self.s.policy, "prefills", None)
        self.flights: list[Flight] = []
        self.reqs: list[Req] = []
        self.queue: list[Req] = []
        self.got: dict[int, list[int]] = {}
        self.wanted: dict[int, tuple[list[int], str]] = {}
        self.ended: dict[int, str] = {}
        self.waited = self.aborts = 0

    @precondition(lambda self: len(self.s.live) < 12)
    @rule(
        some=st.lists(
            st.tuples(
                st.integers(0, 24), st.lists(st.integers(0, 3), max_size=8), st.integers(1, 12), st.integers(0, 3)
            ),
            min_size=1,
            max_size=4,
        )
    )
    def submit(self, some: list[tuple[int, list[int], int, int]]) -> None:
        """Requests of (tokens of BASE, tokens behind them, max_tokens, 0: may stop at an EOS)."""
        allocator = self.s.cache.allocator
        for shared, tail, new, ignore in some:
            prompt = (BASE[:shared] + tail) or [1]
            req = request(len(self.reqs), prompt, new, ignore > 0)
            if allocator.pages_for(req.limit) <= allocator.num_pages:
                self.s.submit(req)
                self.reqs.append(req)
                self.queue.append(req)
                self.got[req.uid] = []
                self.wanted[req.uid] = oracle(prompt, new, ignore > 0)

    @precondition(lambda self: len(self.flights) < 2 and self.loop.has_work)
    @rule()
    def launch(self) -> None:
        waiting, running = [r for r in self.queue if r.finish_reason is None], list(self.s.decode.running)
        flight = self.loop.launch()
        batch = flight.batch if flight else None
        if flight:
            self.flights.append(flight)
        if batch and batch.phase == "prefill":
            self.check_prefill(batch, waiting)
            self.waited = self.waited + 1 if running else 0
            assert self.bound is None or self.waited <= self.bound, "decodes wait longer than the policy says"
        else:
            assert not running or batch, "a request could decode, but nothing was launched"
            self.waited = 0
        if self.bound is None or (batch and batch.phase == "prefill"):
            self.check_nobody_left_out(batch)

    def check_prefill(self, batch: Batch, waiting: list[Req]) -> None:
        new = [req for req in batch.reqs if req.last_launch == batch.index and req in waiting]
        assert new == waiting[: len(new)], "not first come, first served"
        self.queue = waiting[len(new) :]
        tokens, parts = sum(batch.lens), [r for r in batch.reqs if r.cached_len < r.prompt_len]
        if self.chunked:
            assert tokens <= self.budget, "more tokens than the budget"
            assert len(parts) <= 1
            assert not parts or (parts[0] is batch.reqs[-1] and tokens == self.budget), "a piece without a reason"
        else:
            assert not parts
            assert tokens <= self.budget or len(batch.reqs) == 1
        emitting = [r for r in batch.reqs if r not in parts]
        assert batch.emitting == emitting, "an unfinished prompt emits, or a finished one does not"
        for req, start in zip(batch.reqs, batch.starts, strict=True):
            if req in new:
                assert start == self.matched(req) * self.size, f"request {req.uid}: not the longest cached prefix"

    @property
    def size(self) -> int:
        return self.s.cache.allocator.page_size

    def cached_texts(self) -> dict[tuple[int, ...], int]:
        """Text -> the page that holds its end."""
        return {}

    def matched(self, req: Req) -> int:
        """Pages of the longest cached beginning that leaves a token, by brute force."""
        texts, k = self.cached_texts(), 0
        while (k + 1) * self.size < req.prompt_len and tuple(req.input_ids[: (k + 1) * self.size]) in texts:
            k += 1
        return k

    def check_nobody_left_out(self, batch: Batch | None) -> None:
        """Whoever is at the head of the queue has a reason to wait: no row, no budget, or no room."""
        prefill = batch if batch and batch.phase == "prefill" else None
        left = self.budget - (sum(prefill.lens) if prefill else 0)
        if not self.queue or not self.s.table.available or left <= 0:
            return
        head = next((r for r in self.queue if r.finish_reason is None), None)
        if head is None:
            return
        texts, k = self.cached_texts(), self.matched(head)
        if not self.chunked and prefill and head.prompt_len - k * self.size > left:
            return
        read = {page for req in self.s.cache.accounts.values() for page in req.pages}
        found = {texts[tuple(head.input_ids[: (i + 1) * self.size])] for i in range(k)}
        idle = set(texts.values()) - read - found
        room = self.s.cache.allocator.free + len(idle) - self.promised()
        assert self.s.cache.allocator.pages_for(head.limit) - k > room, f"request {head.uid} fits, but was left out"

    def promised(self) -> int:
        admitted = [req for req in self.s.live.values() if req.table_idx is not None]
        return sum(self.s.cache.allocator.pages_for(req.limit) - len(req.pages) for req in admitted)

    @precondition(lambda self: self.flights)
    @rule()
    def settle(self) -> None:
        self.take(self.loop.settle(self.flights.pop(0)))

    @precondition(lambda self: self.loop.has_work)
    @rule(rounds=st.integers(1, 6))
    def step(self, rounds: int) -> None:
        for _ in range(rounds):
            while self.flights:
                self.settle()
                self.sound()
            self.launch()
            self.sound()

    @precondition(lambda self: len(self.flights) == 1)
    @rule()
    def fail(self) -> None:
        """The forward pass of the batch in flight raises: nothing of it was computed."""
        batch = self.flights.pop().batch
        self.loop.runner._queue.remove(batch)
        self.s.fail(batch)

    @precondition(lambda self: len(self.reqs) > 3 * self.aborts)
    @rule(back=st.integers(0, 7))
    def abort(self, back: int) -> None:
        req = self.reqs[max(0, len(self.reqs) - 1 - back)]
        self.aborts += 1
        unfinished = req.finish_reason is None
        assert self.s.abort(req.uid) is unfinished
        assert self.s.abort(req.uid) is False

    def take(self, events: list[Any]) -> None:
        for uid, token, reason in events:
            assert uid not in self.ended, f"request {uid}: an event after the last"
            if token is not None:
                self.got[uid].append(token)
            if reason is not None:
                self.ended[uid] = reason
            self.compare(self.reqs[uid])

    def compare(self, req: Req) -> None:
        want, reason = self.wanted[req.uid]
        got, end = self.got[req.uid], self.ended.get(req.uid)
        assert got == want[: len(got)], f"request {req.uid}: {got}, not {want}"
        if end not in (None, "abort"):
            assert (len(got), end) == (len(want), reason), f"request {req.uid}: {end} after {len(got)} tokens"

    @invariant()
    def sound(self) -> None:
        self.s.check()
        assert self.s.cache.room() >= self.promised(), "promised pages are gone"

    def teardown(self) -> None:
        for _ in range(5_000):
            while self.flights:
                self.settle()
            if not self.loop.has_work:
                break
            self.take(self.loop.step())
        self.sound()
        assert self.ended.keys() == self.got.keys(), "requests that never ended"
