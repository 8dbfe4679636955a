"""What the judge asks of the student's code: chapter 06. Runs in the graded process; returns plain values."""

from __future__ import annotations

from functools import partial
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.scheduler.admission import AdmittingAdder
from minisgl_lite.scheduler.cache import CacheManager
from minisgl_lite.scheduler.prefill import PrefillManager
from minisgl_lite.scheduler.table import TableManager
from workbook.judge.calls import call
from workbook.judge.drive import Traffic, drive
from workbook.judge.model import bundled_model

# ---- 06.1 ----


class WarmCache(CacheManager):
    """Opens an account with some pages already there, as a prefix cache does."""

    def __init__(self, allocator: PageAllocator, warm: dict[int, int]) -> None:
        super().__init__(allocator)
        self.warm = warm

    def open(self, req: Req) -> None:
        super().open(req)
        req.pages = self.allocator.take(self.warm.get(req.uid, 0))
        req.cached_len = len(req.pages) * self.allocator.page_size


def request(uid: int, prompt: int, most: int, asked: int) -> Req:
    """A request that asked for `asked` tokens and was cut to `most` at the door."""
    return Req(uid, [5] * prompt, SamplingParams(max_tokens=asked), max_tokens=most)


def probe_adder(args: dict[str, Any]) -> dict[str, Any]:
    """One adder among running requests: the room at first, then what it says to each that waits. See `scene`."""
    table = TableManager(64)
    cache = WarmCache(PageAllocator(args["pages"], args["page_size"]), {uid: n for uid, n, *_ in args["waiting"]})
    for uid, prompt, most, asked, stored, reason in args["running"]:
        req = request(uid, prompt, most, asked)
        req.table_idx = table.take()
        cache.open(req)
        req.pages = cache.allocator.take(cache.allocator.pages_for(stored))
        req.cached_len, req.last_launch, req.finish_reason = stored, 1, reason
    adder = call(AdmittingAdder, table, cache, args["budget"], name="AdmittingAdder")
    seen: dict[str, Any] = {"room": adder.room(), "tokens": adder.tokens, "answers": []}
    for uid, _, prompt, most, asked in args["waiting"]:
        seen["answers"].append([adder.try_add(request(uid, prompt, most, asked)), adder.room()])
    return seen


def probe_need(args: dict[str, Any]) -> int:
    """What one opened request may still ask for."""
    cache = CacheManager(PageAllocator(64, args["page_size"]))
    adder = call(AdmittingAdder, TableManager(4), cache, 64, name="AdmittingAdder")
    req = request(0, args["prompt"], args["most"], args["asked"])
    cache.open(req)
    req.pages, req.cached_len = cache.allocator.take(args["held"]), args["stored"]
    return call(adder.need, req, name="AdmittingAdder.need")


def probe_promised(args: dict[str, Any]) -> dict[str, Any]:
    """A whole schedule on the shadow engine, admitted by the student's rule."""
    return drive(Traffic(**args), Custom(adder=AdmittingAdder, queue=PrefillManager))


def probe_generate(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model, through the whole engine, in a pool that cannot hold all requests."""
    from minisgl_lite import LLM

    params = SamplingParams(max_tokens=args["max_tokens"], ignore_eos=True)
    limits = {"max_running_req": 8, "num_pages": args["pages"], "page_size": args["page_size"]}
    custom = Custom(adder=AdmittingAdder, queue=PrefillManager)
    with LLM(bundled_model(), **limits, cache_type="naive", overlap=False, custom=custom) as llm:
        outputs = llm.generate(args["prompts"], params)
        llm.check_invariants()
    return [out.token_ids for out in outputs]


# ---- 06.2 ----


def probe_door(args: dict[str, Any]) -> list[list[Any]]:
    """Engines with little room. For each request ["tokens", their ids, reason], ["refused", why] or ["broken", why].

    beside: the prompt tokens of another request, which has begun to run before it is asked for.
    """
    from minisgl_lite import LLM
    from minisgl_lite.models.checkpoint import load

    checkpoint, seen = load("tiny"), []
    for pages, page_size, context, prompt, wanted in args["doors"]:
        ids = prompt if isinstance(prompt, list) else [40 + i % 60 for i in range(prompt)]
        limits = {"num_pages": pages, "page_size": page_size, "max_seq_len": context, "max_running_req": 2}
        params = SamplingParams(max_tokens=wanted, ignore_eos=True)
        with LLM(checkpoint, **limits, cache_type="naive", overlap=False) as llm:
            if beside := args.get("beside"):
                llm.submit([41] * beside, SamplingParams(max_tokens=4, ignore_eos=True))
                llm.step()
            seen.append(one_answer(llm, ids, params))
    return seen


def one_answer(llm: Any, ids: list[int], params: SamplingParams) -> list[Any]:
    """What becomes of one request."""
    try:
        uid = llm.submit(ids, params)
    except ValueError as error:
        return ["refused", str(error)]
    tokens: list[int] = []
    try:
        while llm.has_work:
            if not (events := llm.step()):
                return ["broken", "it waits for ever"]
            mine = [event for event in events if event[0] == uid]
            tokens += [token for _, token, _ in mine if token is not None]
            reason = mine[-1][2] if mine else None
        return ["tokens", tokens, reason]
    except Exception as error:
        return ["broken", f"{type(error).__name__}: {error}"]


# ---- 06.3 ----


def probe_overtaking(args: dict[str, Any]) -> dict[str, Any]:
    """A whole schedule on the shadow engine in which requests may be overtaken `bound` times."""
    from minisgl_lite.scheduler.bypass import BypassPrefillManager

    queue = partial(BypassPrefillManager, bound=args["bound"])
    return drive(Traffic(**args["traffic"]), Custom(adder=AdmittingAdder, queue=queue))


class PickyAdder:
    """Admits small requests and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.fitting: set[Req] = set()

    def try_add(self, req: Req) -> int:
        """Whatever has at most two tokens fits, and whoever is said to."""
        self.asked += 1
        if req.prompt_len > 2 and req not in self.fitting:
            return 0
        req.table_idx = req.uid
        return req.prompt_len


def probe_queue(args: dict[str, Any]) -> list[list[Any]]:
    """One queue and an adder that takes small requests only: for each round, who starts and how often it was asked.

    rounds: each a list of ["add", uid, prompt tokens], ["discard", uid] and ["fits", uid] (from now on it is small
    enough), done before the round.
    """
    from minisgl_lite.scheduler.bypass import BypassPrefillManager

    adder, seen, known = PickyAdder(), [], {}
    queue: Any = BypassPrefillManager(TableManager(4), lambda: adder, bound=args["bound"])  # type: ignore[arg-type, return-value]
    for actions in args["rounds"]:
        for action, uid, *prompt in actions:
            if action == "add":
                known[uid] = Req(uid, [5] * prompt[0], SamplingParams())
                queue.add(known[uid])
            elif action == "discard":
                call(queue.discard, known[uid], name="BypassPrefillManager.discard")
            else:
                adder.fitting.add(known[uid])
        adder.asked = 0
        batch = call(queue.schedule_next_batch, name="BypassPrefillManager.schedule_next_batch")
        seen.append([[req.uid for req in batch.reqs] if batch else [], adder.asked, list(queue.pending)])
    return seen
