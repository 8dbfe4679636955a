"""How the answers to exercise 03.1 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random

from workbook.judge.checklib import Ask, Result
from workbook.judge.same import same

from .common import check_end_to_end

SMALL, LARGE = 3, 60


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
        if not same(parts, got["lists"]):
            return Result.failed("lists-mixed-up", f"upload of {parts} brought {got['lists']}")
        other = next((dtype for _, dtype in zip(parts, got["dtypes"], strict=True) if dtype != "torch.int64"), None)
        if other:
            return Result.failed("not-int64", f"upload of {parts}: a tensor is {other}; expected torch.int64")
    return Result.ok(f"{len(LISTS)} sets of lists")


def check_on_the_device(ask: Ask, rng: Random) -> Result:
    """Are the tensors where they were asked for, and those of ragged where lens is?"""
    here = ask("upload", {"parts": LISTS[0]})["devices"]
    if set(here) != {"meta"}:
        return Result.failed("device-ignored", f"upload to the device meta returned tensors on {', '.join(here)}")
    if "cpu" in ask("ragged_devices"):
        message = (
            "starts and lens are on the device meta, but ragged makes a tensor on the CPU: pass device=lens.device"
        )
        return Result.failed("device-ignored", message)
    return Result.ok()


def check_one_copy(ask: Ask, rng: Random) -> Result:
    """Does one copy carry all lists?"""
    got = ask("upload", {"parts": [[i, i + 1] for i in range(12)]})
    if got["memories"] > 1 or got["copies"] > 1:
        copies = max(got["memories"], got["copies"])
        return Result.failed("one-copy-a-list", f"12 lists took {copies} copies to the device; one can carry them all")
    few, many = (ask("upload", {"parts": [[7] * n] * 3})["operations"] for n in (2, 40))
    if few != many:
        message = f"3 lists of 2 numbers take {few} operations, of 40 numbers {many}: each number is sent by itself"
        return Result.failed("one-copy-a-number", message)
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
        if not same(want[field], got[field]):
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
