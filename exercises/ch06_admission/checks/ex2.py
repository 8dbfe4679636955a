"""How the answers to exercise 06.2 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.words import counted


def room_for(limit: int, prompt: int, wanted: int) -> int | None:
    """How many tokens a request may have, found by storing one position after the other; None: refused."""
    if prompt > limit:
        return None
    stored, tokens = prompt, 1
    while tokens < wanted and stored < limit:
        stored, tokens = stored + 1, tokens + 1
    return tokens


def judge_door(door: list[Any], seen: list[Any]) -> Result:
    """One answer of probe_door beside what it must be. door: [pages, page size, context, prompt, wanted]."""
    pages, size, context, prompt, wanted = door
    limit = min(context, pages * size)
    where = f"context {context}, {pages} pages of {size}, a prompt of {prompt}, max_tokens {wanted}"
    want, (kind, what, *_) = room_for(limit, prompt, wanted), seen
    got = len(what) if kind == "tokens" else None
    if kind == "broken":
        slug = "impossible-let-in" if want is None else "pool-ignored" if limit < context else "context-ignored"
        return Result.failed(slug, f"{where}: it was let in, and then: {what}")
    if want == got and (kind == "refused" or seen[2] == "length"):
        return Result.ok()
    if want is None:
        return Result.failed("impossible-let-in", f"{where}: it was let in; the limit is {limit} positions")
    by_pages = size > 1 and got == room_for(min(context, pages), prompt, wanted)
    if got is None:
        slug = "fitting-prompt-refused" if prompt == limit else "refused-instead-of-cut"
        slug = "pages-for-positions" if by_pages else slug
        return Result.failed(slug, f"{where}: {counted(want, 'token')} fit, but it was refused: {what}")
    slug = "last-token-counted" if got == want - 1 else "cut-too-short" if got < want else "not-cut"
    slug = "pages-for-positions" if by_pages else slug
    said = f"{counted(got, 'token')}; expected {want}, which store {counted(prompt + want - 1, 'position')}"
    return Result.failed(slug, f"{where}: {said}")


def ask_doors(ask: Ask, doors: list[list[Any]]) -> Result:
    """Ask about several requests; the first that is treated wrongly."""
    for door, seen in zip(doors, ask("door", {"doors": doors}, seconds=40.0), strict=True):
        result = judge_door(door, seen)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(doors)} requests")


def check_let_in_or_refused(ask: Ask, rng: Random) -> Result:
    """Prompts just within and just beyond the context and the pool."""
    pool = [[16, 1, 64, 15, 4], [16, 1, 64, 16, 1], [16, 1, 64, 17, 1], [4, 4, 64, 16, 1], [4, 4, 64, 17, 3]]
    context = [[64, 1, 16, 14, 4], [64, 1, 16, 16, 1], [64, 1, 16, 17, 1], [16, 4, 18, 18, 1], [16, 4, 18, 19, 1]]
    return ask_doors(ask, pool + context)


def check_cut_to_fit(ask: Ask, rng: Random) -> Result:
    """max_tokens beyond what there is room for, just within it, and far below."""
    pool = [[16, 1, 64, 12, 50], [16, 1, 64, 12, 5], [16, 1, 64, 12, 6], [16, 1, 64, 16, 9], [4, 4, 64, 10, 50]]
    context = [[64, 1, 16, 12, 50], [64, 1, 16, 12, 5], [64, 1, 16, 16, 9], [64, 4, 21, 3, 50], [64, 1, 32, 4, 3]]
    return ask_doors(ask, pool + context)


def check_whole_pool(ask: Ask, rng: Random) -> Result:
    """While another request holds half of the pool: it comes to an end, so the whole pool counts."""
    doors = [[16, 1, 64, 12, 3], [16, 1, 64, 12, 50], [4, 4, 64, 16, 1]]
    for door, seen in zip(doors, ask("door", {"doors": doors, "beside": 8}, seconds=40.0), strict=True):
        result = judge_door(door, seen)
        if result.verdict != "ok":
            note = "Another request has a prompt of 8 and runs; its pages come back, so the whole pool is the limit"
            return Result.failed("free-pages-for-the-pool", f"{result.message}. {note}")
    return Result.ok(f"{len(doors)} requests beside one that runs")


def check_what_is_said(ask: Ask, rng: Random) -> Result:
    """The refusal names the length of the prompt, the limit, and which limit it is."""
    doors = [[16, 1, 64, 17, 1], [64, 1, 16, 23, 1], [5, 4, 64, 30, 2], [16, 1, 16, 40, 2]]
    for door, (kind, what, *_) in zip(doors, ask("door", {"doors": doors}), strict=True):
        pages, size, context, prompt, _ = door
        limit, name = min(context, pages * size), "context" if context <= pages * size else "KV pool"
        if kind != "refused":
            return Result.failed("impossible-let-in", f"a prompt of {prompt} was let in; the limit is {limit}")
        if str(prompt) not in what or str(limit) not in what:
            message = f"a prompt of {prompt}, a limit of {limit}: the message is {what!r}"
            return Result.failed("numbers-not-told", message)
        if name not in what or ("context" in what and name != "context"):
            return Result.failed("wrong-limit-named", f"the {name} holds {limit}; the message is {what!r}")
    return Result.ok()


def check_random_doors(ask: Ask, rng: Random) -> Result:
    """Random limits, prompts and wishes."""
    doors = []
    for _ in range(24):
        size, context = rng.choice([1, 2, 4]), rng.randint(4, 24)
        doors.append([rng.randint(1, 24 // size), size, context, rng.randint(1, 28), rng.choice([1, 2, 5, 40])])
    return ask_doors(ask, doors)


def check_door_end_to_end(ask: Ask, rng: Random) -> Result:
    """Answers that are cut: the beginning of Hugging Face's."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 60], 4)
    room = [1, 5, 9, 12]
    doors = [[len(p.ids) + n - 1, 1, 256, list(p.ids), 40] for p, n in zip(prompts, room, strict=True)]
    answers = ask("door", {"doors": doors}, seconds=40.0)
    got = [what if kind == "tokens" else [] for kind, what, *_ in answers]
    for ids, n, answer in zip(got, room, answers, strict=True):
        if len(ids) != n:
            return Result.failed("cut-too-short", f"room for {n} tokens, but the answer is {answer[:2]}")
    return compare_streams(prompts, got, bound=TIE_GAP)
