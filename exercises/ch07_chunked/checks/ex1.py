"""How the answers to exercise 07.1 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import end_to_end, random_schedules, up

Request = list[Any]
"""[uid, prompt tokens, max_tokens, positions stored (None: it has not begun), pages that `open` finds]"""


def scene(requests: list[Request], **changed: Any) -> dict[str, Any]:
    """One adder and those that it is asked about in turn: plenty of everything but for what is changed."""
    return {"rows": 8, "pages": 5000, "page_size": 1, "budget": 1024, "requests": requests, **changed}


@dataclass
class Books:
    """What is left, counted by hand."""

    size: int
    budget: int
    rows: int
    free: int
    left: int
    promised: int = 0

    def answer(self, request: Request) -> int:
        """What try_add must say; changes the books accordingly."""
        _, prompt, _, stored, warm = request
        if self.left == 0 or (stored is None and not self.fits(request)):
            return 0
        if stored is None:
            self.rows, self.free = self.rows - 1, self.free - warm
            self.promised += self.need(request)
        n = min(prompt - (warm * self.size if stored is None else stored), self.left)
        self.left -= n
        return n

    def need(self, request: Request) -> int:
        """Pages that a request may still ask for when it starts."""
        _, prompt, most, _, warm = request
        return up(prompt + most - 1, self.size) - warm

    def fits(self, request: Request) -> bool:
        """Whether there are a row and the pages for all of it."""
        return self.rows > 0 and self.need(request) <= self.free - request[4] - self.promised


def books_of(args: dict[str, Any]) -> Books:
    """The books before the first question: those that are half-way hold pages and a promise."""
    size = args["page_size"]
    half = [r for r in args["requests"] if r[3] is not None]
    held = sum(up(r[3], size) for r in half)
    promised = sum(up(r[1] + r[2] - 1, size) - up(r[3], size) for r in half)
    return Books(size, args["budget"], args["rows"] - len(half), args["pages"] - held, args["budget"], promised)


def judge_scene(name: str, args: dict[str, Any], seen: list[dict[str, Any]]) -> Result:
    """Each answer, and how things stand after it, beside the books."""
    books = books_of(args)
    before = seen[0]
    for request, after in zip(args["requests"], seen[1:], strict=True):
        uid, prompt, _, stored, warm = request
        kind = "starts" if stored is None else f"goes on after {stored}"
        where = f"{name}: request {uid} ({prompt} tokens) {kind}, {books.left} of the budget are left"
        got, left = after["answer"], books.left
        if type(got) is not int:
            return Result.failed("no-number", f"{where}: try_add returned {got!r}, not a number of tokens")
        if stored is not None and (slug := name_change(before, after)):
            what = f"rows {before['rows']} -> {after['rows']}, room {before['room']} -> {after['room']}"
            return Result.failed(slug, f"{where}. It has its row and its promise already, but: {what}")
        wrong = name_answer(request, got, books)
        want = books.answer(request)
        if got != want:
            return Result.failed(wrong, f"{where}: try_add said {got}; expected {want}")
        if want == 0 and (what := changed(before, after)):
            return Result.failed("refusal-left-something", f"{where}: the answer is 0, but {what} changed")
        if want and stored is None and (slug := name_admission(request, before, after, books, want)):
            taken = before["room"] - after["room"]
            return Result.failed(slug, f"{where}: room() went down by {taken}; expected {books.need(request) + warm}")
        if after["tokens"] != args["budget"] - books.left:
            count = f"tokens is {after['tokens']} after it; this round computes {args['budget'] - books.left}"
            return Result.failed("tokens-miscounted", f"{where}: {count} (budget left before: {left})")
        before = after
    return Result.ok()


def changed(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What an answer has changed, in words."""
    keys = ("rows", "accounts", "pages", "room", "tokens")
    return ", ".join(f"{key} ({before[key]} -> {after[key]})" for key in keys if before[key] != after[key])


def name_change(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What is wrong when a request that goes on changes more than the count of tokens."""
    if any(before[key] != after[key] for key in ("rows", "accounts", "pages")):
        return "admitted-twice"
    return "promised-twice" if before["room"] != after["room"] else ""


def name_admission(request: Request, before: dict[str, Any], after: dict[str, Any], books: Books, n: int) -> str:
    """What is wrong with the row and the promise of a request that has just started."""
    if not after["row"] or after["rows"] != before["rows"] - 1:
        return "no-row"
    taken = before["room"] - after["room"]
    if taken == books.need(request) + request[4]:
        return ""
    return "only-the-piece-promised" if taken <= up(n + request[4] * books.size, books.size) else "wrong-promise"


def name_answer(request: Request, got: int, books: Books) -> str:
    """What a wrong answer says about the mistake; the books are as they were before it."""
    _, prompt, _, stored, warm = request
    missing = prompt - (warm * books.size if stored is None else stored)
    if books.left == 0:
        return "budget-overrun"
    if stored is None and not books.fits(request):
        whole = books.need(request) > books.free - warm - books.promised
        return "only-the-piece-promised" if books.rows and whole else "row-ignored"
    if got == 0:
        return "half-way-refused" if stored is not None else "piece-refused" if missing > books.left else "refused"
    if got > books.left:
        return "budget-not-shared" if books.left < books.budget and got <= books.budget else "budget-overrun"
    return "computed-part-counted-again" if got == min(prompt, books.left) else "wrong-piece"


def all_scenes(ask: Ask, scenes: list[tuple[str, dict[str, Any]]]) -> Result:
    """The first scene in which something is wrong."""
    for name, args in scenes:
        result = judge_scene(name, args, ask("adder", args))
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(scenes)} situations")


def check_one_prompt(ask: Ask, rng: Random) -> Result:
    """The first piece of one prompt: longer than the budget, as long, shorter, and with a part that is there."""
    return all_scenes(
        ask,
        [
            ("2,500 tokens, a budget of 1,024", scene([[1, 2500, 10, None, 0]])),
            ("exactly the budget", scene([[1, 1024, 10, None, 0]])),
            ("one more than the budget", scene([[1, 1025, 10, None, 0]])),
            ("a short prompt", scene([[1, 9, 10, None, 0]])),
            ("a budget of one token", scene([[1, 9, 10, None, 0]], budget=1)),
            ("8 tokens of it are cached", scene([[1, 13, 4, None, 2]], page_size=4, budget=64)),
            ("8 tokens of it are cached, budget 3", scene([[1, 13, 4, None, 2]], page_size=4, budget=3)),
        ],
    )


def check_shared_out(ask: Ask, rng: Random) -> Result:
    """Several prompts in one round: what one leaves of the budget is for the next."""
    return all_scenes(
        ask,
        [
            ("800, then 1,000", scene([[1, 800, 10, None, 0], [2, 1000, 10, None, 0]])),
            ("both fit", scene([[1, 800, 10, None, 0], [2, 224, 10, None, 0], [3, 5, 5, None, 0]])),
            ("six prompts of 5, a budget of 16", scene([[u, 5, 3, None, 0] for u in range(6)], budget=16)),
            ("a long one first", scene([[1, 40, 3, None, 0], [2, 5, 3, None, 0]], budget=16)),
        ],
    )


def check_going_on(ask: Ask, rng: Random) -> Result:
    """A prompt that is half-way: the next piece, the last piece, and what is left for the others."""
    return all_scenes(
        ask,
        [
            ("the second of 2,500", scene([[1, 2500, 10, 1024, 0]])),
            ("the last of 2,500, then another", scene([[1, 2500, 10, 2048, 0], [2, 1000, 10, None, 0]])),
            ("no row is free", scene([[1, 30, 4, 8, 0], [2, 5, 3, None, 0]], rows=1, budget=32)),
            ("all pages are promised", scene([[1, 30, 3, 8, 0], [2, 5, 3, None, 0]], pages=8, page_size=4, budget=32)),
            ("a piece that ends inside a page", scene([[1, 30, 3, 7, 0]], pages=8, page_size=4, budget=6)),
        ],
    )


def check_whole_need(ask: Ask, rng: Random) -> Result:
    """With its first piece a request is promised all that it may ever store."""
    return all_scenes(
        ask,
        [
            ("24 + 4 - 1 positions in 7 pages of 4", scene([[1, 24, 4, None, 0]], pages=7, page_size=4, budget=8)),
            ("24 + 4 - 1 positions in 6 pages of 4", scene([[1, 24, 4, None, 0]], pages=6, page_size=4, budget=8)),
            ("two that fit one by one", scene([[1, 20, 4, None, 0], [2, 9, 9, None, 0]], pages=30, budget=25)),
            ("beside one that is half-way", scene([[1, 20, 4, 8, 0], [2, 5, 4, None, 0]], pages=30, budget=40)),
            ("too little beside one that is half-way", scene([[1, 20, 4, 8, 0], [2, 5, 4, None, 0]], pages=30)),
        ],
    )


def check_refused(ask: Ask, rng: Random) -> Result:
    """A 0 changes nothing: no account stays open, no row is taken, nothing is promised."""
    return all_scenes(
        ask,
        [
            ("the budget is used up", scene([[1, 16, 4, None, 0], [2, 5, 4, None, 0]], budget=16)),
            ("used up by one that goes on", scene([[1, 60, 4, 16, 0], [2, 5, 4, None, 0]], budget=16)),
            ("no row", scene([[1, 5, 4, None, 0], [2, 5, 4, None, 0]], rows=1, budget=16)),
            ("no pages", scene([[1, 9, 4, None, 0], [2, 5, 4, None, 0]], pages=13, budget=16)),
        ],
    )


def check_refused_and_asked_again(ask: Ask, rng: Random) -> Result:
    """Refused with a cached part: `open` has set its cached_len, but it has no row, so it does not go on."""
    warm: Request = [2, 13, 4, None, 2]
    for name, args in (
        ("no pages", scene([[1, 13, 4, None, 0], warm, warm], pages=6, page_size=4, budget=64)),
        ("no pages, a budget of 16", scene([[1, 13, 4, None, 0], warm, warm], pages=6, page_size=4, budget=16)),
    ):
        result = judge_scene(name, args, ask("adder", args))
        if result.verdict != "ok":
            note = "It was refused before, with a cached part of 8 tokens: only its row tells whether it has begun"
            return Result.failed("refused-taken-for-half-way", f"{result.message}. {note}")
    return Result.ok()


def check_random_adders(ask: Ask, rng: Random) -> Result:
    """Random budgets, rows and pools; one prompt half-way, several that start."""
    scenes = []
    for number in range(20):
        size = rng.choice([1, 2, 4])
        requests: list[Request] = []
        if rng.random() < 0.5:
            prompt = rng.randint(2, 30)
            requests.append([90, prompt, rng.randint(1, 6), rng.randint(1, prompt - 1), 0])
        for uid in range(rng.randint(1, 5)):
            prompt = rng.randint(1, 24)
            requests.append([uid, prompt, rng.randint(1, 6), None, rng.randint(0, (prompt - 1) // size)])
        all_of_it = sum(up(r[1] + r[2] - 1, size) for r in requests)
        first = up(requests[0][1] + requests[0][2] - 1, size)
        held = sum(up(r[3] or 0, size) + r[4] for r in requests)
        pages = max(held, rng.randint(first, all_of_it + 2))
        limits = {"pages": pages, "rows": rng.randint(1, 5), "budget": rng.randint(1, 30)}
        scenes.append((f"random situation {number}", scene(requests, page_size=size, **limits)))
    return all_scenes(ask, scenes)


def check_random_pieces(ask: Ask, rng: Random) -> Result:
    """Random traffic with aborts: the rounds of a brute force, the books after every step, every token."""
    return random_schedules(ask, rng, "schedule", None, 1)


def check_pieces_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, prompts in pieces: Hugging Face's greedy tokens."""
    return end_to_end(ask, rng)
