"""How the answers are judged: chapter 03. Runs in the judge; plain Python, no torch."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

TOKENS = 10
PROMPTS = 5
PIECE = 6
SMALL, LARGE = 3, 60


# ---- 03.1 ----

LISTS: list[list[list[int]]] = [
    [[1, 2], [3]],
    [[5], [], [7, 8, 9], [2**40, -1]],
    [[], [4]],
    [[], []],
    [[i] for i in range(20)],
]


def check_uploaded_lists(ask: Ask, rng: Random) -> Result:
    """Do the lists come back as they are?"""
    for parts in LISTS:
        got = ask("upload", {"parts": parts})
        if got["lists"] != parts:
            return Result.failed("lists-mixed-up", f"upload of {parts} brought {got['lists']}")
        other = next((dtype for dtype in got["dtypes"] if dtype != "torch.int64"), None)
        if other:
            return Result.failed("not-int64", f"upload of {parts}: a tensor is {other}; expected torch.int64")
    return Result.ok(f"{len(LISTS)} sets of lists")


def check_one_copy(ask: Ask, rng: Random) -> Result:
    """Does one copy carry all lists?"""
    got = ask("upload", {"parts": [[i, i + 1] for i in range(12)]})
    if got["memories"] > 1 or got["copies"] > 1:
        copies = max(got["memories"], got["copies"])
        return Result.failed("one-copy-a-list", f"12 lists took {copies} copies to the device; one can carry them all")
    return Result.ok("12 lists, one copy")


def expected_layout(starts: list[int], lens: list[int]) -> dict[str, list[int]]:
    """What ragged must say, by loops."""
    entries = list(zip(starts, lens, strict=True))
    return {
        "entry": [i for i, (_, n) in enumerate(entries) for _ in range(n)],
        "positions": [start + i for start, n in entries for i in range(n)],
        "ends": [sum(lens[: i + 1]) for i in range(len(lens))],
    }


def name_layout(field: str, got: list[int], starts: list[int], lens: list[int]) -> str:
    """What a wrong list looks like."""
    total, ends = sum(lens), expected_layout(starts, lens)["ends"]
    known = {
        "positions": {
            "batch-as-one-text": list(range(total)),
            "cached-part-forgotten": expected_layout([0] * len(lens), lens)["positions"],
        },
        "ends": {
            "ends-not-one-past": [end - 1 for end in ends],
            "ends-are-beginnings": [end - n for end, n in zip(ends, lens, strict=True)],
        },
        "entry": {},
    }
    for name, wrong in known[field].items():
        if got == wrong:
            return name
    return "token-to-the-wrong-entry" if field == "entry" else f"wrong-{field}"


def judge_layout(ask: Ask, starts: list[int], lens: list[int]) -> Result:
    """One layout beside what it must be."""
    got, want = ask("ragged", {"starts": starts, "lens": lens}), expected_layout(starts, lens)
    for field in ("entry", "ends", "positions"):
        if got[field] != want[field]:
            message = f"starts {starts}, lens {lens}: {field} is {got[field]}; expected {want[field]}"
            return Result.failed(name_layout(field, got[field], starts, lens), message)
    return Result.ok()


def check_layout(ask: Ask, rng: Random) -> Result:
    """Two requests, three fresh prompts, a decode batch, one entry, an entry of one token amid others."""
    cases = [([4, 0], [3, 2]), ([0, 0, 0], [3, 2, 1]), ([7, 2, 9], [1, 1, 1]), ([5], [4]), ([3, 6, 1], [4, 1, 2])]
    for starts, lens in cases:
        result = judge_layout(ask, starts, lens)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(cases)} batches")


def random_batch(rng: Random, entries: int) -> dict[str, list[int]]:
    """Starts and lengths of some entries."""
    starts = [rng.choice([0, rng.randint(1, 80)]) for _ in range(entries)]
    return {"starts": starts, "lens": [rng.randint(1, 9) for _ in range(entries)]}


def check_random_layouts(ask: Ask, rng: Random) -> Result:
    """Random batches of 1 to 12 entries."""
    for _ in range(30):
        result = judge_layout(ask, **random_batch(rng, rng.randint(1, 12)))
        if result.verdict != "ok":
            return result
    return Result.ok("30 batches")


def check_fixed_work(ask: Ask, rng: Random) -> Result:
    """Does a batch of 60 take as many operations as one of 3?"""
    few, many = (ask("ragged", random_batch(rng, entries))["operations"] for entries in (SMALL, LARGE))
    if many != few:
        message = f"{few} operations for {SMALL} entries, {many} for {LARGE}: there is a loop over entries or tokens"
        return Result.failed("work-grows-with-the-batch", message)
    return Result.ok(f"{few} operations, whatever the batch")


def check_nothing_waits(ask: Ask, rng: Random) -> Result:
    """Does the host go on without any value from the device?"""
    waits = ask("ragged", random_batch(rng, SMALL))["waits"]
    if waits:
        message = f"`{waits[0]}` needs values that are on the device: the host would wait there for the step before"
        if waits[0] == "repeat_interleave":
            message = "repeat_interleave without output_size must ask the device how long its result is"
        return Result.failed("waits-for-the-device", message)
    return Result.ok()


# ---- 03.2 ----


def check_who_decodes(ask: Ask, rng: Random) -> Result:
    """can_decode at every cached_len of several requests."""
    for prompt_len, max_tokens in ((3, 4), (1, 1), (5, 1), (2, 2), (1, 6)):
        got = ask("can_decode", {"prompt_len": prompt_len, "max_tokens": max_tokens})
        limit = prompt_len + max_tokens - 1
        for cached_len, answer in enumerate(got):
            want = prompt_len <= cached_len < limit
            who = f"prompt of {prompt_len}, max_tokens {max_tokens}, {cached_len} positions computed"
            if type(answer) is not bool:
                return Result.failed("no-truth-value", f"{who}: can_decode is {answer!r}; expected {want}")
            if answer is not want:
                message = f"{who}: can_decode is {answer!r}; expected {want} (limit is {limit})"
                return Result.failed(name_decode(want, cached_len, prompt_len), message)
    return Result.ok()


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
        "starts": [start for _, start, _ in entries],
        "lens": [n for _, _, n in entries],
        "rows": [uid + 10 for uid in range(len(entries))],
        "ids": [token for prompt, start, n in entries for token in prompt[start : start + n]],
        "cached": [start for _, start, _ in entries],
        "emitting": [uid for uid, (prompt, start, n) in enumerate(entries) if start + n == len(prompt)],
    }


WRONG_FIELD = {"cached": "add-moves-the-request", "ids": "wrong-tokens-in-the-entry"}


def judge_batch(ask: Ask, entries: list[Entry], *, move: bool = False) -> Result:
    """One batch beside what it must be; the first field that differs is named."""
    want = expected_batch(entries)
    got = ask("batch", {"entries": [list(entry) for entry in entries], "move": move})
    shown = ", ".join(f"{n} of {len(prompt)} tokens from {start} on" for prompt, start, n in entries)
    for field, value in want.items():
        if got[field] != value:
            name = WRONG_FIELD.get(field, f"wrong-{field}")
            if field == "emitting":
                name = name_emits(entries, value, got[field])
            if move and judge_batch(ask, entries).verdict == "ok":
                name = "not-a-copy"
            return Result.failed(name, f"entries ({shown}): {field} is {got[field]}; expected {value}")
    emits = got["emits"]
    if emits is not None and emits != want["emitting"]:
        return Result.failed(
            "wrong-emits", f"entries ({shown}): emits is {emits}; expected {want['emitting']}, or None for all"
        )
    if emits is None and want["emitting"] != want["reqs"]:
        return Result.failed("pieces-sample", f"entries ({shown}): emits is None, as if all of them sampled")
    return Result.ok()


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


# ---- both ----


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, prompts in pieces side by side, then decode: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], PROMPTS)
    args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": TOKENS, "piece": PIECE}
    got = ask("serve", args, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != TOKENS:
            return Result.failed("wrong-tokens", f"request {number}: {len(ids)} tokens, expected {TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
