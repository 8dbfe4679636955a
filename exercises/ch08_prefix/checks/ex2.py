"""How the answers to exercise 08.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import Model, judge_schedule, judge_turns, random_ops, random_traffic, show
from .situations import TREES

LEAVES, EVICTED = 400, 200
LOOKS = 10
"""Nodes that may be looked at for each leaf and each page: three are enough."""


def judge_tree(ask: Ask, name: str, size: int, ops: list[list[Any]]) -> Result:
    """Each operation beside the dictionary: locks, what can be evicted, what is evicted."""
    model = Model(size)
    for op, seen in zip(ops, ask("tree", {"page_size": size, "ops": ops}), strict=True):
        where = f"{name}, pages of {size}: {show(op)}"
        if seen["empty"] and op[0] == "evict" and op[1] > model.evictable:
            message = f"{where}: only {model.evictable} can be: it must be refused, before anything is taken"
            return Result.failed("asked-for-too-much", message)
        if seen["empty"]:
            message = f"{where}: the queue is empty, though {model.evictable} pages can be evicted"
            return Result.failed("queue-runs-empty", f"{message}: an entry that was out of date belongs back into it")
        if op[0] == "unlock" and seen["refused"] is not None:
            message = f"{where}: refused, though its lock had been taken: {seen['refused']}"
            note = "The root has no locks: the walk ends before it, and unlock(root) must do nothing"
            return Result.failed("unlock-refused", f"{message}. {note}")
        if op[0] == "evict":
            result = judge_eviction(where, op[1], seen, model)
        else:
            result = Result.ok()
            model.apply(op)
        if result.verdict == "ok":
            result = judge_locks(where, op[0], seen, model)
        if result.verdict == "ok":
            result = judge_counters(where, seen, model)
        if result.verdict != "ok":
            return result
    return Result.ok()


def judge_locks(where: str, kind: str, seen: dict[str, Any], model: Model) -> Result:
    """How many locks protect each page."""
    for text, page, locks, _, _ in sorted(seen["texts"], key=lambda entry: -len(entry[0])):
        want = model.locks(tuple(text))
        if locks == want:
            continue
        if kind == "unlock":
            diagnosis = "lock-left-behind" if locks > want else "unlocks-too-much"
        elif locks > want:
            diagnosis = "locks-too-much"
        else:
            diagnosis = "beginning-not-locked"
        ends = [list(end) for end in model.locked.values()]
        message = f"{where}: page {page} has {locks} locks, expected {want}; locked are the texts {ends}"
        return Result.failed(diagnosis, message if len(message) < 400 else message[:399] + "…")
    return Result.ok()


def judge_counters(where: str, seen: dict[str, Any], model: Model) -> Result:
    """The tree's own numbers, and its invariants."""
    if seen["evictable"] != model.evictable:
        message = f"{where}: evictable is {seen['evictable']}; {model.evictable} cached pages have no lock"
        return Result.failed("evictable-miscounted", message)
    if seen["size"] != len(model.pages):
        message = f"{where}: size is {seen['size']}; {len(model.pages)} pages are cached"
        return Result.failed("size-not-counted-down", message)
    if seen["broken"]:
        diagnosis = "leaf-not-offered" if "eviction" in seen["broken"] else "tree-broken"
        return Result.failed(diagnosis, f"{where}: {seen['broken']}")
    return Result.ok()


def judge_eviction(where: str, n: int, seen: dict[str, Any], model: Model) -> Result:
    """Which pages were given up."""
    if n > model.evictable:
        if seen["refused"] is None:
            return Result.failed("asked-for-too-much", f"{where}: only {model.evictable} can be; nobody minded")
        return Result.ok()
    if seen["refused"] is not None:
        return Result.failed("refuses-what-it-has", f"{where}: {model.evictable} can be; refused: {seen['refused']}")
    pages, texts = dict(model.pages), {page: text for text, page in model.pages.items()}
    got, want = seen["pages"], model.evict(n)
    if sorted(got) == sorted(want):
        left = {tuple(text): page for text, page, *_ in seen["texts"]}
        if left != model.pages:
            message = f"{where}: gave up pages {sorted(got)}, but not those are gone from the tree"
            return Result.failed("evicted-but-still-found", message)
        return Result.ok()
    message = f"{where}: gave up pages {sorted(got)}; expected {sorted(want)}"
    if len(got) != n:
        return Result.failed("evicts-too-much" if len(got) > n else "evicts-too-little", message)
    if set(got) - texts.keys():
        return Result.failed("evicts-what-is-not-cached", message)
    if any(any(end[: len(texts[page])] == texts[page] for end in model.locked.values()) for page in got):
        return Result.failed("evicts-what-is-read", message + ": some of them are locked")
    gone = {texts[page] for page in got}
    if any(len(o) > len(t) and o[: len(t)] == t and o not in gone for t in gone for o in pages):
        return Result.failed("evicts-from-the-front", message + ": text that goes on behind them is still cached")
    return Result.failed("not-the-oldest-first", message)


def check_by_hand(ask: Ask, rng: Random) -> Result:
    """Small trees: who is protected, what can be evicted, and in which order."""
    for name, size, ops in TREES:
        result = judge_tree(ask, name, size, ops)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(TREES)} trees")


def check_refusals(ask: Ask, rng: Random) -> Result:
    """More than can be evicted, and a lock that is given back twice: refused, with nothing changed."""
    ops = [["insert", [1, 2], [10, 11]], ["insert", [3], [20]], ["lock", [1, 2], "A"], ["evict", 2], ["evict", 1]]
    result = judge_tree(ask, "two of three pages locked", 1, ops)
    if result.verdict != "ok":
        return result
    *_, once, twice = ask("tree", {"page_size": 1, "ops": [*ops[:3], ["unlock", "A"], ["unlock", "A"]]})
    if twice["refused"] is None:
        return Result.failed("unlock-not-checked", "a lock was given back twice, and nobody minded")
    if (once["texts"], once["evictable"]) != (twice["texts"], twice["evictable"]):
        return Result.failed("unlock-not-checked", "giving a lock back twice was refused, but had changed the tree")
    return Result.ok()


def check_random_trees(ask: Ask, rng: Random) -> Result:
    """Random locks and evictions beside a dictionary."""
    for number in range(16):
        size = (1, 2, 3)[number % 3]
        result = judge_tree(ask, f"random tree {number}", size, random_ops(rng, size, 50, "miiiikkluuueee"))
        if result.verdict != "ok":
            return result
    return Result.ok("16 trees, 50 operations each")


def check_work(ask: Ask, rng: Random) -> Result:
    """How many nodes are looked at to evict pages from a tree of many leaves."""
    got = ask("work", {"leaves": LEAVES, "pages": EVICTED})
    if got["pages"] != EVICTED:
        return Result.failed("evicts-too-little", f"{got['pages']} different pages were evicted of {EVICTED}")
    most = LOOKS * (LEAVES + EVICTED)
    if got["looks"] > most:
        message = (
            f"{got['looks']} nodes were looked at to evict {EVICTED} pages one by one from a tree of {LEAVES} leaves"
        )
        return Result.failed("looks-at-every-leaf", f"{message}; with the queue a few hundred are enough")
    return Result.ok(f"{got['looks']} nodes looked at for {EVICTED} pages")


def check_short_pools(ask: Ask, rng: Random) -> Result:
    """Random traffic with shared beginnings in pools that are always short."""
    for _ in range(10):
        size = rng.choice((1, 2, 4))
        traffic = random_traffic(rng)
        pool = -(-21 // traffic.page_size) + rng.randint(0, size)
        result = judge_schedule(ask, type(traffic)(**{**vars(traffic), "pages": pool}))
        if result.verdict != "ok":
            return result
    return Result.ok("10 random schedules")


def check_turns_in_a_short_pool(ask: Ask, rng: Random) -> Result:
    """The bundled model in a pool of 160 positions: Hugging Face's tokens, though pages change hands all the time."""
    for size in (1, 4):
        result = judge_turns(ask, rng, size, 160 // size)
        if result.verdict != "ok":
            return result
    return Result.ok("two page sizes")
