"""What the judge asks of the student's code: chapter 07. Runs in the graded process; returns plain values."""

from __future__ import annotations

from functools import partial
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Batch, Req, SamplingParams
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.scheduler.cache import CacheManager
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.decode import DecodeManager
from minisgl_lite.scheduler.interleave import Interleave
from minisgl_lite.scheduler.prefill import PrefillManager
from minisgl_lite.scheduler.table import TableManager
from workbook.judge.calls import call
from workbook.judge.drive import Traffic, drive
from workbook.judge.model import bundled_model


def parts(prefills: int | None) -> Custom:
    """Pieces of prompts, prefill first or interleaved."""
    policy = None if prefills is None else partial(Interleave, prefills)
    return Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, policy=policy)


def probe_schedule(args: dict[str, Any]) -> dict[str, Any]:
    """A whole schedule on the shadow engine."""
    return drive(Traffic(**args["traffic"]), parts(args["prefills"]))


class WarmCache(CacheManager):
    """Opens an account with some pages already there, as a prefix cache does."""

    def __init__(self, allocator: PageAllocator, warm: dict[int, int]) -> None:
        super().__init__(allocator)
        self.warm = warm

    def open(self, req: Req) -> None:
        super().open(req)
        req.pages = self.allocator.take(self.warm.get(req.uid, 0))
        req.cached_len = len(req.pages) * self.allocator.page_size


def probe_adder(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Ask one adder about several requests; how things stand after each answer. See `scene` in checks/ex1.py.

    One that is listed twice is asked about twice.
    """
    size, table = args["page_size"], TableManager(args["rows"])
    cache = WarmCache(PageAllocator(args["pages"], size), {uid: warm for uid, _, _, _, warm in args["requests"]})
    requests: dict[int, Req] = {}
    for uid, prompt, most, stored, _ in args["requests"]:
        req = Req(uid, [5] * prompt, SamplingParams(max_tokens=most))
        if stored is not None:  # an earlier round has begun it
            req.table_idx = table.take()
            CacheManager.open(cache, req)
            req.pages = cache.allocator.take(cache.allocator.pages_for(stored))
            req.cached_len, req.last_launch = stored, 1
        requests[uid] = req
    adder = ChunkedAdder(table, cache, args["budget"])
    seen = [standing(adder, table, cache, None, None)]
    for uid, *_ in args["requests"]:
        req = requests[uid]
        answer = call(adder.try_add, req, name="ChunkedAdder.try_add")
        seen.append(standing(adder, table, cache, req, answer))
    return seen


def standing(adder: Any, table: TableManager, cache: CacheManager, req: Req | None, answer: Any) -> dict[str, Any]:
    """What an adder has said, and how things stand."""
    return {
        "answer": answer,
        "row": req is not None and req.table_idx is not None,
        "rows": table.available,
        "accounts": list(cache.accounts),
        "pages": cache.allocator.free,
        "room": adder.room(),
        "tokens": adder.tokens,
    }


class Choices:
    """A queue and a decode set by script: what each has to offer, and how often it was asked."""

    def __init__(self) -> None:
        self.batch: Batch | None = None
        self.asked = 0

    @property
    def runnable(self) -> bool:
        """Whether something is on offer."""
        return self.batch is not None

    def head(self) -> Req | None:
        """Who is next."""
        return self.batch.reqs[0] if self.batch else None

    def schedule_next_batch(self) -> Batch | None:
        """What is on offer."""
        self.asked += 1
        return self.batch


def probe_choices(args: dict[str, Any]) -> list[list[Any]]:
    """One policy, a situation a round: ["prefill" | "decode" | None, how often the queue was asked].

    rounds: [whether the queue has a batch, uids that are decoding].
    """
    policy, seen = Interleave(args["prefills"]), []
    for waiting, running in args["rounds"]:
        queue, decode = Choices(), DecodeManager()
        if waiting:
            req = Req(99, [5, 5], SamplingParams())
            req.table_idx = 9
            queue.batch = Batch("prefill")
            queue.batch.add(req, 2)
        reqs = []
        for row, uid in enumerate(running):
            req = Req(uid, [5, 5], SamplingParams())
            req.table_idx, req.cached_len = row, 2
            reqs.append(req)
        decode.add(reqs)
        offered: Any = queue
        batch = call(policy.choose, offered, decode, name="Interleave.choose")
        seen.append([None if batch is None else batch.phase, queue.asked])
    return seen


class Patient(ChunkedAdder):
    """Says 0 to a request whose prompt is computed: a queue that keeps it must not go round for ever."""

    def try_add(self, req: Req) -> int:
        """See ChunkedAdder."""
        return super().try_add(req) if req.cached_len < req.prompt_len else 0


def probe_queue(args: dict[str, Any]) -> list[Any]:
    """One queue and an adder of a fixed budget: after each round, its entries, the head and what is runnable.

    rounds: each a list of ["add", uid, prompt tokens] and ["discard", uid], done before the round.
    """
    table, known, seen = TableManager(args["rows"]), {}, []
    cache = CacheManager(PageAllocator(1000, 1))
    queue: PrefillManager = ChunkedPrefillManager(table, lambda: Patient(table, cache, args["budget"]))
    for actions in args["rounds"]:
        for action, uid, *prompt in actions:
            if action == "add":
                known[uid] = Req(uid, [5] * prompt[0], SamplingParams(max_tokens=1))
                queue.add(known[uid])
            else:
                queue.discard(known[uid])
        before = [bool(queue.runnable), None if (head := queue.head()) is None else head.uid]
        batch = call(queue.schedule_next_batch, name="ChunkedPrefillManager.schedule_next_batch")
        entries = [] if batch is None else [list(e) for e in zip(batch.uids, batch.starts, batch.lens, strict=True)]
        if batch is not None:
            for req, n in zip(batch.reqs, batch.lens, strict=True):
                req.cached_len += n
        seen.append([*before, entries])
    return seen


def probe_generate(args: dict[str, Any]) -> dict[str, Any]:
    """Greedy tokens of the bundled model, prompts in pieces; and how many tokens each prefill round computed."""
    from minisgl_lite import LLM

    params = SamplingParams(max_tokens=args["max_tokens"], ignore_eos=True)
    size = args["page_size"]
    limits = {"max_running_req": 3, "num_pages": 256 // size, "page_size": size, "max_extend_tokens": args["budget"]}
    with LLM(bundled_model(), **limits, cache_type="naive", overlap=False, custom=parts(args["prefills"])) as llm:
        outputs = llm.generate(args["prompts"], params)
        llm.check_invariants()
        budgets = [sum(r.lens) for r in llm.trace if r.phase == "prefill"]
    return {"ids": [out.token_ids for out in outputs], "budgets": budgets}
