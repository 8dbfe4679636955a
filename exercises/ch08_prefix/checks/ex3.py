"""How the answers to exercise 08.3 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .accounts import judge_step
from .books import Books
from .common import judge_schedule, judge_turns, random_traffic, show
from .situations import ACCOUNTS


def judge_books(ask: Ask, name: str, size: int, ops: list[list[Any]], pages: int = 60) -> Result:
    """Each step beside the books; the first difference is named."""
    books = Books(size)
    before: dict[str, Any] = {"texts": [], "free": list(range(pages))}
    for op, seen in zip(ops, ask("accounts", {"page_size": size, "pages": pages, "ops": ops}), strict=True):
        if seen.get("emptied"):
            message = (
                f"{name}: the list of pages that `open` found is remembered for the next round, and close emptied it"
            )
            return Result.failed("empties-the-list", f"{message}; bind a new one instead")
        books.apply(op, seen)
        result = judge_step(f"{name}, pages of {size}: {show(op)}", op, before, seen, books, pages)
        if result.verdict != "ok":
            return result
        before = seen
    return Result.ok()


def check_by_hand(ask: Ask, rng: Random) -> Result:
    """Accounts opened, computed and closed by hand: where every page is after each step."""
    for name, size, ops in ACCOUNTS:
        result = judge_books(ask, name, size, ops)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(ACCOUNTS)} situations")


def check_random_accounts(ask: Ask, rng: Random) -> Result:
    """Random requests over few beginnings, in random order."""
    for number in range(12):
        size = (1, 2, 3)[number % 3]
        result = judge_books(ask, f"random accounts {number}", size, random_accounts(rng, size), pages=400)
        if result.verdict != "ok":
            return result
    return Result.ok("12 runs")


def random_accounts(rng: Random, size: int) -> list[list[Any]]:
    """A few requests at a time, each at a random point between its opening and its close."""
    stems = [[rng.randrange(3) for _ in range(9)] for _ in range(2)]
    books, ops, running, uid = Books(size), [], dict[int, list[int]](), 0
    while len(ops) < 60:
        if len(running) < 4 and rng.random() < 0.4:
            prompt = rng.choice(stems)[: rng.randint(1, 9)] + [rng.randrange(3) for _ in range(rng.randint(0, 3))]
            ops.append(["open", uid, prompt])
            books.open(uid, prompt)
            running[uid] = prompt
            uid += 1
        elif running:
            who = rng.choice(list(running))
            account = books.accounts[who]
            missing = len(account.prompt) - account.cached_len
            if missing > 0:
                ops.append(["compute", who, rng.randint(1, missing)])
            elif len(account.ids) == account.cached_len:
                ops.append(["sample", who, rng.randrange(3)])
            elif rng.random() < 0.3:
                ops.append(["close", who])
                del running[who]
            else:
                ops.append(["decode", who])
            books.follow(ops[-1])
    return ops


def check_looked_up_once(ask: Ask, rng: Random) -> Result:
    """A prompt that was published, or whose request is closed, is searched for no more: not at each `open`."""
    n = 20
    _, later = ask("looked_up", {"requests": n, "closed": False})
    if later >= n:
        message = f"{n} requests run, their prompts are published; the next open searches the tree {later} times"
        return Result.failed("published-again", f"{message}: take what is published out of `_unpublished`")
    first, _ = ask("looked_up", {"requests": n, "closed": True})
    if first >= n:
        message = f"{n} requests are closed before they are published; the next open searches the tree {first} times"
        return Result.failed("closed-and-still-unpublished", f"{message}: `_unpublished` must forget them, too")
    return Result.ok(f"{n} requests, published and closed")


def check_shared_schedules(ask: Ask, rng: Random) -> Result:
    """Random traffic with equal prompts and aborts on the shadow engine."""
    for _ in range(12):
        result = judge_schedule(ask, random_traffic(rng))
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")


def check_conversations(ask: Ask, rng: Random) -> Result:
    """The bundled model: Hugging Face's tokens, and a second turn computes only what is new."""
    for size, pages in ((4, 512), (1, 160)):
        result = judge_turns(ask, rng, size, pages)
        if result.verdict != "ok":
            return result
    return Result.ok("two page sizes, and a short pool")
