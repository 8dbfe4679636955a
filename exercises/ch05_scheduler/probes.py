"""What the judge asks of the student's code: chapter 05. Runs in the graded process; returns plain values."""

from __future__ import annotations

from typing import Any

from minisgl_lite.assembly import Custom, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.pages import OutOfPages, PageAllocator
from minisgl_lite.scheduler.cache import CacheManager
from minisgl_lite.scheduler.prefill import PrefillAdder, PrefillManager
from minisgl_lite.scheduler.table import TableManager
from workbook.judge.calls import call
from workbook.judge.drive import Traffic, drive
from workbook.judge.model import bundled_model

EOS = 7
WHOLE_PROMPTS = Custom(adder=PrefillAdder, queue=PrefillManager)


def probe_schedule(args: dict[str, Any]) -> dict[str, Any]:
    """A whole schedule on the shadow engine."""
    return drive(Traffic(**args), WHOLE_PROMPTS)


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
    """Ask one adder about several requests; how things stand after each answer."""
    table = TableManager(args["rows"])
    cache = WarmCache(PageAllocator(args["pages"], args["page_size"]), dict(args["warm"]))
    adder = PrefillAdder(table, cache, args["budget"])
    seen = []
    for uid, prompt_len in enumerate(args["prompts"]):
        req = Req(uid, [5] * prompt_len, SamplingParams(max_tokens=4))
        answer = call(adder.try_add, req, name="PrefillAdder.try_add")
        seen.append(
            {
                "answer": answer,
                "row": req.table_idx is not None,
                "cached": req.cached_len,
                "rows": table.available,
                "accounts": list(cache.accounts),
                "pages": cache.allocator.free,
                "reserved": adder.reserved,
                "tokens": adder.tokens,
            }
        )
    return seen


class NotingAdder(PrefillAdder):
    """An adder that notes what it said of whom."""

    def __init__(self, table: TableManager, cache: CacheManager, budget: int, most: int) -> None:
        super().__init__(table, cache, budget)
        self.most = most
        self.said: list[list[int]] = []

    def try_add(self, req: Req) -> int:
        n = super().try_add(req)
        if self.most:
            n = min(n, self.most)
        self.said.append([req.uid, n])
        return n


class NotingManager(PrefillManager):
    """A queue that notes whom it is told to have been placed."""

    def __init__(self, table: TableManager, adder: NotingAdder) -> None:
        super().__init__(table, lambda: adder)
        self.told: list[list[int]] = []

    def placed(self, req: Req, n: int) -> None:
        self.told.append([req.uid, n])
        super().placed(req, n)


def probe_placed(args: dict[str, Any]) -> dict[str, Any]:
    """One round's prefill batch: its entries (uid, tokens), what try_add and `placed` were told, who is still queued.

    warm: see WarmCache. most: the most tokens that try_add gives a request; 0 is any number. moved: (uid, cached_len)
    of who has another one than at first.
    """
    warm = dict(args["warm"])
    table, cache = TableManager(args["rows"]), WarmCache(PageAllocator(64, 1), warm)
    adder = NotingAdder(table, cache, args["budget"], args["most"])
    manager = NotingManager(table, adder)
    for uid, prompt_len in enumerate(args["prompts"]):
        manager.add(Req(uid, [5] * prompt_len, SamplingParams(max_tokens=4)))
    batch = call(manager.schedule_next_batch, name="PrefillManager.schedule_next_batch", returns=Batch)
    return {
        "entries": [[req.uid, n] for req, n in zip(batch.reqs, batch.lens, strict=True)],
        "moved": [[r.uid, r.cached_len] for r in batch.reqs if r.cached_len != warm.get(r.uid, 0)],
        "said": adder.said,
        "told": manager.told,
        "pending": list(manager.pending),
    }


def probe_ahead(args: dict[str, Any]) -> list[list[Any]]:
    """The events of a scheduler that plans each batch before the one before it is settled. requests: see there."""
    config = EngineConfig(cache_type="naive", overlap=False)
    schedule = assemble_scheduler(config, 64, lambda _: VirtualEngine(lambda uid, position: 5), WHOLE_PROMPTS)
    scheduler, stops = schedule.scheduler, dict(args["stops"])
    for uid, (prompt, most) in enumerate(args["requests"]):
        scheduler.submit(Req(uid, [5] * prompt, SamplingParams(max_tokens=most), eos_ids=[EOS]))
    events: list[list[Any]] = []
    flight = scheduler.plan()
    while flight is not None:
        after = scheduler.plan()
        ends = [start + n for start, n in zip(flight.starts, flight.lens, strict=True)]
        tokens = [EOS if stops.get(uid) == end else 5 for uid, end in zip(flight.uids, ends, strict=True)]
        events += [list(event) for event in call(scheduler.commit, flight, tokens, name="Scheduler.commit")]
        flight = after or scheduler.plan()
    return events


def probe_alone(args: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What is free after the only request has ended, by its length and by an abort while its batch was computed."""
    config = EngineConfig(cache_type="naive", overlap=False, max_running_req=args["rows"])
    seen = {}
    for scene in ("ended", "aborted"):
        schedule = assemble_scheduler(
            config, args["pages"], lambda _: VirtualEngine(lambda uid, position: 5), WHOLE_PROMPTS
        )
        scheduler = schedule.scheduler
        scheduler.submit(Req(0, [1, 2], SamplingParams(max_tokens=1 if scene == "ended" else 4)))
        batch = scheduler.plan()
        if scene == "aborted":
            scheduler.abort(0)
        call(scheduler.commit, batch, [5], name=f"{scene}: Scheduler.commit")
        free = {"rows": scheduler.table.available, "pages": scheduler.cache.room()}
        standing = {"committed": scheduler.committed, "live": list(scheduler.live)}
        seen[scene] = {**free, **standing, "has_work": scheduler.has_work}
    return seen


def probe_lowered(args: dict[str, Any]) -> dict[str, Any]:
    """How many tokens a request gets that was made for fewer (most) than its params say, and why it ends."""
    config = EngineConfig(cache_type="naive", overlap=False)
    schedule = assemble_scheduler(config, 64, lambda _: VirtualEngine(lambda uid, position: 5), WHOLE_PROMPTS)
    scheduler, params = schedule.scheduler, SamplingParams(max_tokens=args["params"])
    req = Req(0, [5] * args["prompt"], params, max_tokens=args["most"])
    scheduler.submit(req)
    while (batch := scheduler.plan()) is not None:
        call(scheduler.commit, batch, [5], name="Scheduler.commit")
    return {"tokens": len(req.input_ids) - req.prompt_len, "reason": req.finish_reason}


def probe_out_of_order(args: dict[str, Any]) -> dict[str, Any]:
    """Launch two batches, commit the second; was it refused, and what had changed by then?"""
    config = EngineConfig(cache_type="naive", overlap=False)
    schedule = assemble_scheduler(config, 40, lambda _: VirtualEngine(lambda uid, position: 5), WHOLE_PROMPTS)
    scheduler, req = schedule.scheduler, Req(0, [1, 2], SamplingParams(max_tokens=4))
    scheduler.submit(req)
    scheduler.plan()
    second = scheduler.plan()
    scheduler.submit(Req(1, [3], SamplingParams(max_tokens=1)))
    scheduler.abort(1)
    try:
        scheduler.commit(second, [5])
    except InvariantError:
        changed = ["input_ids"] * (req.input_ids != [1, 2]) + ["the events that wait"] * (not scheduler.take_notes())
        return {"refused": True, "changed": " and ".join(changed)}
    return {"refused": False, "changed": ""}


class Pieces:
    """A phase policy that cuts the first prompt in two, with a whole one beside its first piece."""

    def __init__(self) -> None:
        self.half: Req | None = None

    def choose(self, prefill: PrefillManager, decode: Any) -> Batch | None:
        """First a piece of A and all of B, then the rest of A, then decode."""
        if len(prefill.pending) == 2:
            batch = Batch("prefill")
            for req, n in zip(list(prefill.pending.values()), (2, None), strict=True):
                adder = prefill.new_adder()
                req.table_idx = adder.table.take()
                adder.cache.open(req)
                batch.add(req, n or req.prompt_len)
                prefill.discard(req)
            self.half = batch.reqs[0]
            return batch
        if self.half is not None:
            batch, req = Batch("prefill"), self.half
            batch.add(req, req.prompt_len - req.cached_len)
            self.half = None
            return batch
        return decode.schedule_next_batch()


def probe_pieces(args: dict[str, Any]) -> dict[str, Any]:
    """A schedule in which one prompt is computed in two pieces."""
    return drive(Traffic(**args), Custom(adder=PrefillAdder, queue=PrefillManager, policy=Pieces))


def probe_grow(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Give pages to one batch after the other; how things stand after each. See `grow_args` in checks/growth.py."""
    size, reqs = args["page_size"], {}
    cache = WarmCache(PageAllocator(args["pages"], size), dict(args["warm"]))
    for uid, (row, prompt, stored) in args["reqs"]:
        req = reqs[uid] = Req(uid, [5] * prompt, SamplingParams(max_tokens=100))
        req.table_idx = row
        cache.open(req)
        if stored:  # as an earlier batch has left it
            req.pages += cache.allocator.take(-(-stored // size) - len(req.pages))
            req.cached_len, req.last_launch = stored, 1
    seen = [standing(cache, reqs, Batch("prefill"), None)]
    for phase, entries in args["batches"]:
        batch = batch_of(phase, [(reqs[uid], n) for uid, n in entries], args["behind"])
        refusal = None
        try:
            name = f"a {phase} batch, starts {batch.starts}, lens {batch.lens}: CacheManager.grow"
            call(cache.grow, batch, name=name)
        except OutOfPages as error:
            refusal = str(error)
        seen.append(standing(cache, reqs, batch, refusal))
        if refusal is None:
            for req, n in zip(batch.reqs, batch.lens, strict=True):
                req.cached_len += n
                req.last_launch += 1
    return seen


def batch_of(phase: str, entries: list[tuple[Req, int]], behind: int) -> Batch:
    """A batch as the scheduler plans it. behind: tokens that have been sampled but have not arrived yet."""
    batch = Batch("prefill")
    for req, n in entries:
        if phase == "decode":
            req.input_ids = [5] * (req.cached_len + 1 - behind)
        batch.add(req, n)
    if phase == "decode":
        return Batch("decode", batch.reqs, batch.starts, batch.lens, batch.rows)
    return batch


def standing(cache: CacheManager, reqs: dict[int, Req], batch: Batch, refusal: str | None) -> dict[str, Any]:
    """Who holds which page, and what the batch and the trace are told."""
    moves = [
        [page, owner]
        for pages, owners in cache.take_moves()
        for page, owner in zip(pages, owners if isinstance(owners, list) else [owners] * len(pages), strict=True)
    ]
    return {
        "pages": [[uid, list(req.pages)] for uid, req in reqs.items()],
        "free": cache.allocator.snapshot(),
        "told": [list(part) for part in batch.new_pages],
        "moves": moves,
        "refusal": refusal,
    }


def probe_generate(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model, through the whole engine."""
    from minisgl_lite import LLM

    params = SamplingParams(max_tokens=args["max_tokens"], ignore_eos=True)
    limits = {"max_running_req": args["slots"], "num_pages": 2048, "page_size": args.get("page_size", 1)}
    with LLM(bundled_model(), **limits, cache_type="naive", overlap=False) as llm:
        outputs = llm.generate(args["prompts"], params)
        llm.check_invariants()
    return [out.token_ids for out in outputs]
