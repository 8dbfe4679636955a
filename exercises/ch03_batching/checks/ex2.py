"""How the answers to exercise 03.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.judge.same import same
from workbook.words import counted

from .common import check_end_to_end

REQUEST = "What a request remembers"
"""The heading to re-read about can_decode; the other two bodies are about batches."""


def check_who_decodes(ask: Ask, rng: Random) -> Result:
    """can_decode at every cached_len of several requests."""
    for prompt_len, max_tokens in ((3, 4), (1, 1), (5, 1), (2, 2), (1, 6)):
        for late in (0, 1):
            args = {"prompt_len": prompt_len, "max_tokens": max_tokens, "late": late}
            result = judge_decode(prompt_len, max_tokens, late, ask("can_decode", args))
            if result.verdict != "ok":
                return result
    return Result.ok()


def judge_decode(prompt_len: int, max_tokens: int, late: int, got: list[Any]) -> Result:
    """can_decode at cached_len 0, 1, 2, ... of one request."""
    limit = prompt_len + max_tokens - 1
    for cached_len, answer in zip(range(limit + 3), got, strict=True):
        want, known = prompt_len <= cached_len < limit, max(prompt_len, cached_len + 1 - late)
        done = counted(cached_len, "position")
        who = f"prompt of {prompt_len}, max_tokens {max_tokens}, {done} computed, {counted(known, 'id')} known"
        if type(answer) is not bool:
            message = f"{who}: can_decode is {answer!r}; expected {want}"
            return Result.failed("no-truth-value", message, section=REQUEST)
        if answer is not want:
            message = f"{who}: can_decode is {answer!r}; expected {want} (limit is {limit})"
            if got == by_ids_known(prompt_len, limit, late, len(got)):
                message += "; input_ids grows with every sampled token, prompt_len stays"
                return Result.failed("counts-sampled-tokens", message, section=REQUEST)
            return Result.failed(name_decode(want, cached_len, prompt_len), message, section=REQUEST)
    return Result.ok()


def by_ids_known(prompt_len: int, limit: int, late: int, most: int) -> list[bool]:
    """can_decode with len(input_ids) in the place of prompt_len."""
    return [max(prompt_len, n + 1 - late) <= n < limit for n in range(most)]


def name_decode(want: bool, cached_len: int, prompt_len: int) -> str:
    """Which end of the interval is wrong."""
    if want:
        return "first-decode-missing" if cached_len == prompt_len else "stops-too-early"
    return "decodes-before-the-prompt-is-computed" if cached_len < prompt_len else "decodes-past-the-limit"


Entry = tuple[list[int], int, int]
"""prompt, cached_len, tokens of the entry"""


def expected_batch(entries: list[Entry]) -> dict[str, list[int]]:
    """What the batch must hold."""
    return {
        "reqs": list(range(len(entries))),
        "uids": list(range(len(entries))),
        "starts": [start for _, start, _ in entries],
        "lens": [n for _, _, n in entries],
        "rows": [uid + 10 for uid in range(len(entries))],
        "ids": [token for prompt, start, n in entries for token in prompt[start : start + n]],
        "cached": [start for _, start, _ in entries],
        "emitting": [uid for uid, (prompt, start, n) in enumerate(entries) if start + n == len(prompt)],
    }


WRONG_FIELD = {
    "uids": "uids-forgotten",
    "cached": "add-moves-the-request",
    "ids": "wrong-tokens-in-the-entry",
}


def judge_batch(ask: Ask, entries: list[Entry], *, move: bool = False) -> Result:
    """One batch beside what it must be; the first field that differs is named."""
    want = expected_batch(entries)
    got = ask("batch", {"entries": [list(entry) for entry in entries], "move": move})
    shown = ", ".join(f"{n} of {counted(len(prompt), 'token')} from {start} on" for prompt, start, n in entries)
    for field, value in want.items():
        if not same(value, got[field]):
            name = WRONG_FIELD.get(field, f"wrong-{field}")
            if field == "emitting":
                name = name_emits(entries, value, got[field])
                if not got[field] and pieces_only(ask):
                    name = "samples-the-wrong-way-round"
            if move and judge_batch(ask, entries).verdict == "ok":
                name = "not-a-copy"
            return Result.failed(name, f"entries ({shown}): {field} is {got[field]}; expected {value}")
    emits = got["emits"]
    if emits is not None and want["emitting"] == want["reqs"]:
        message = f"entries ({shown}): emits is {emits}, but all of them sample: expected None until one does not"
        return Result.failed("emits-not-none", message)
    if emits is not None and not same(want["emitting"], emits):
        return Result.failed("wrong-emits", f"entries ({shown}): emits is {emits}; expected {want['emitting']}")
    if emits is None and want["emitting"] != want["reqs"]:
        return Result.failed("pieces-sample", f"entries ({shown}): emits is None, as if all of them sampled")
    return Result.ok()


def pieces_only(ask: Ask) -> bool:
    """Whether a piece samples and the whole prompt beside it does not."""
    entries = make_entries((5, 0, 3), (2, 0, 2))
    got: list[int] = ask("batch", {"entries": [list(entry) for entry in entries], "move": False})["emitting"]
    return got == [0]


def name_emits(entries: list[Entry], want: list[int], got: list[int]) -> str:
    """Who samples wrongly, or does not."""
    if set(got) - set(want):
        return "pieces-sample"
    if any(entries[uid][1] > 0 for uid in set(want) - set(got)):
        return "last-pieces-silent"
    return "entries-before-a-piece-forgotten" if got == want[len(want) - len(got) :] else "whole-entries-silent"


def prompt_of(uid: int, length: int) -> list[int]:
    """Tokens that tell the request and the position."""
    return [100 * uid + i for i in range(1, length + 1)]


def make_entries(*shapes: tuple[int, int, int]) -> list[Entry]:
    """Entries from (prompt length, cached_len, tokens)."""
    return [(prompt_of(uid, length), start, n) for uid, (length, start, n) in enumerate(shapes)]


def check_entries(ask: Ask, rng: Random) -> Result:
    """Whole prompts, and A[4:7] + B[0:2]."""
    for entries in (make_entries((3, 0, 3), (2, 0, 2), (1, 0, 1)), make_entries((7, 4, 3), (2, 0, 2))):
        result = judge_batch(ask, entries)
        if result.verdict != "ok":
            return result
    return Result.ok()


SHAPES: list[tuple[tuple[int, int, int], ...]] = [
    ((5, 0, 3),),
    ((5, 0, 3), (2, 0, 2)),
    ((3, 0, 3), (2, 0, 2), (6, 0, 4)),
    ((6, 4, 2), (9, 3, 3), (1, 0, 1), (4, 0, 2), (4, 1, 3)),
    ((8, 2, 3), (8, 5, 3)),
]


def check_admitted_only(ask: Ask, rng: Random) -> Result:
    """A request that has no row yet must not get into a batch."""
    got = ask("no_row")
    if got["refused"] is True:
        return Result.ok()
    message = f"a request that was never admitted was added, with the row {got['rows']}: req.row would have refused it"
    return Result.failed("row-not-asked", message)


def check_who_samples(ask: Ask, rng: Random) -> Result:
    """Pieces first, last, in the middle, and a last piece that reaches the end."""
    for shapes in SHAPES:
        result = judge_batch(ask, make_entries(*shapes))
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(SHAPES)} batches with pieces")


def check_frozen_copies(ask: Ask, rng: Random) -> Result:
    """The requests move on after they were added: does the batch stay as it was?"""
    for shapes in (((3, 0, 3), (2, 0, 2)), *SHAPES):
        result = judge_batch(ask, make_entries(*shapes), move=True)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_random_batches(ask: Ask, rng: Random) -> Result:
    """Random entries, whole and in pieces."""
    for _ in range(40):
        shapes = []
        for _ in range(rng.randint(1, 8)):
            length = rng.randint(1, 9)
            start = rng.choice([0, rng.randrange(length)])
            shapes.append((length, start, rng.choice([length - start, rng.randint(1, length - start)])))
        result = judge_batch(ask, make_entries(*shapes), move=rng.random() < 0.5)
        if result.verdict != "ok":
            return result
    return Result.ok("40 batches")
