"""How the answers to exercise 04.1 are judged. Runs in the judge."""

from __future__ import annotations

import re
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import check_hand_driven_generation


def check_page_count(ask: Ask, rng: Random) -> Result:
    """pages_for: a page that is begun counts."""
    for size in (1, 4, 16, rng.randint(2, 40)):
        tokens = [0, 1, size - 1, size, size + 1, 7 * size, 7 * size + 1, rng.randint(1, 10**6), 2**53 + 1]
        for n, got in zip(tokens, ask("pages_for", {"page_size": size, "tokens": tokens}), strict=True):
            want = n // size + (n % size > 0)
            if type(got) is not int or got != want:
                names = {n // size: "begun-page-not-counted", n // size + 1: "full-page-counted-twice"}
                named = names.get(got, "wrong-page-count") if type(got) is int else "no-number"
                return Result.failed(named, f"pages_for({n}) with pages of {size} is {got!r}; expected {want}")
    return Result.ok()


def judge_pages(num_pages: int, steps: list[list[Any]], seen: list[dict[str, Any]]) -> Result:
    """Takes and gives beside a book of who holds what."""
    held: dict[int, list[int]] = {}
    for step, ((what, n), now) in enumerate(zip(steps, seen, strict=True)):
        out = sum(map(len, held.values()))
        who = (
            f"step {step}: {what}({n if what == 'take' else held[n]}) with {num_pages - out} of {num_pages} pages free"
        )
        if what == "give":
            del held[n]
        elif n > num_pages - out:
            result = judge_refusal(who, now)
            if result.verdict != "ok":
                return result
        else:
            result = judge_taken(who, n, num_pages, now, held)
            if result.verdict != "ok":
                return result
            held[step] = now["pages"]
        result = judge_books(who, num_pages, now["free"], held, refused=bool(now["raised"]))
        if result.verdict == "ok" and now["raised"]:
            result = judge_message(who, n, num_pages - out, now["message"])
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(steps)} steps")


def judge_refusal(who: str, now: dict[str, Any]) -> Result:
    """More is wanted than there is."""
    if not now["raised"]:
        return Result.failed("no-error", f"{who} returned {now['pages']}; expected OutOfPages")
    if now["raised"] != "OutOfPages":
        return Result.failed("wrong-error", f"{who} raised {now['raised']}: {now['message']}; expected OutOfPages")
    return Result.ok()


def judge_message(who: str, wanted: int, free: int, message: str) -> Result:
    """Both numbers are in the message of a refusal."""
    if not {wanted, free} <= {int(number) for number in re.findall(r"\d+", message)}:
        return Result.failed("numbers-not-named", f"{who}: the message {message!r} lacks {wanted} or {free}")
    return Result.ok()


def judge_taken(who: str, wanted: int, num_pages: int, now: dict[str, Any], held: dict[int, list[int]]) -> Result:
    """Pages that were handed out: as many as wanted, page numbers, nobody else's."""
    pages = now["pages"]
    if now["raised"]:
        return Result.failed("refused-though-free", f"{who} raised {now['raised']}: {now['message']}")
    if type(pages) is not list:
        return Result.failed("no-list", f"{who} returned {pages}; expected a list of page numbers")
    if wanted == 0 and pages:
        return Result.failed("zero-takes-all", f"{who} returned {len(pages)} pages; expected none")
    others = [page for mine in held.values() for page in mine]
    if any(type(page) is not int or not 0 <= page < num_pages for page in pages):
        return Result.failed("not-a-page", f"{who} returned {pages}; pages are 0 .. {num_pages - 1}")
    if len(set(pages)) < len(pages) or set(pages) & set(others):
        return Result.failed("page-handed-out-twice", f"{who} returned {pages} while {sorted(others)} are held")
    if len(pages) != wanted:
        return Result.failed("wrong-number-of-pages", f"{who} returned {len(pages)} pages")
    return Result.ok()


def judge_books(who: str, num_pages: int, free: list[Any], held: dict[int, list[int]], refused: bool) -> Result:
    """Each page is free or held, once."""
    other = next((page for page in free if type(page) is not int), None)
    if other is not None:
        message = f"after {who}: among the free pages is a {other}; give must put each page there, not what holds them"
        return Result.failed("gives-back-the-iterable", message)
    taken = [page for pages in held.values() for page in pages]
    if sorted(free + taken) == list(range(num_pages)):
        return Result.ok()
    if refused:
        lost = num_pages - len(taken) - len(free)
        message = f"{who} was refused, yet {len(free)} pages are free after it: {lost} are lost"
        return Result.failed("refusal-took-pages", f"{message}. Ask whether all fit before you take the first")
    both, lost = sorted(set(free) & set(taken)), sorted(set(range(num_pages)) - set(free) - set(taken))
    if both:
        return Result.failed("taken-but-still-free", f"after {who}: pages {both} are held and free")
    if lost:
        return Result.failed("page-lost", f"after {who}: pages {lost} are neither held nor free")
    return Result.failed("free-list-broken", f"after {who}: the free list is {sorted(free)}")


def check_all_or_nothing(ask: Ask, rng: Random) -> Result:
    """A request for too many pages changes nothing."""
    steps: list[list[Any]] = [["take", 3], ["take", 3], ["take", 2], ["take", 1], ["give", 0], ["take", 4], ["take", 3]]
    return judge_pages(5, steps, ask("pages", {"num_pages": 5, "steps": steps}))


def check_take_nothing(ask: Ask, rng: Random) -> Result:
    """take(0), from a full pool and from an empty one."""
    steps: list[list[Any]] = [["take", 0], ["take", 4], ["take", 0], ["give", 1], ["take", 4]]
    return judge_pages(4, steps, ask("pages", {"num_pages": 4, "steps": steps}))


def check_every_page_once(ask: Ask, rng: Random) -> Result:
    """Random takes and gives: each page is free or held by one."""
    for _ in range(8):
        num_pages, held, out = rng.randint(3, 20), dict[int, int](), 0
        steps: list[list[Any]] = []
        for step in range(60):
            if held and rng.random() < 0.45:
                index = rng.choice(list(held))
                out -= held.pop(index)
                steps.append(["give", index])
                continue
            n = rng.randint(0, 6)
            if n <= num_pages - out:
                held[step], out = n, out + n
            steps.append(["take", n])
        result = judge_pages(num_pages, steps, ask("pages", {"num_pages": num_pages, "steps": steps}))
        if result.verdict != "ok":
            return result
    return Result.ok("8 random sequences")
