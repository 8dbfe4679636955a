"""How the answers to exercise 07.3 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.judge.drive import Traffic
from workbook.words import counted

from .common import end_to_end, judge, plain, random_schedules

Situation = list[Any]
"""[whether the queue has a batch to offer, uids that are decoding]"""


def phases(prefills: int, rounds: list[Situation]) -> list[str | None]:
    """What each round must be."""
    waited, out = 0, []
    for offered, running in rounds:
        phase = "prefill" if offered and not (running and waited >= prefills) else "decode" if running else None
        waited = waited + 1 if phase == "prefill" and running else 0
        out.append(phase)
    return out


def judge_choices(ask: Ask, prefills: int, rounds: list[Situation]) -> Result:
    """One policy in a row of situations."""
    seen = ask("choices", {"prefills": prefills, "rounds": rounds})
    want = phases(prefills, rounds)
    for number, ((phase, asked), expected, (offered, running)) in enumerate(zip(seen, want, rounds, strict=True)):
        told = f"prefills {prefills}, round {number} after {shown(want[:number])}"
        state = f"the queue has {'a batch' if offered else 'nothing'}, {len(running)} decode"
        if phase != expected:
            slug = name_choice(phase, expected, rounds[: number + 1], want[:number])
            message = f"{told}: {state}; chosen {phase or 'nothing'}, expected {expected or 'nothing'}"
            if running and "prefill" in (phase, expected):
                n = waited(rounds, want[:number])
                message += f". They have waited for {n} of {counted(prefills, 'prefill round')}"
            return Result.failed(slug, message)
        if asked and offered and phase != "prefill":
            message = f"{told}: the queue was asked, it admitted a request, and its batch was not used"
            return Result.failed("batch-thrown-away", message)
    return Result.ok()


def waited(rounds: list[Situation], before: list[str | None]) -> int:
    """The prefill rounds since the last decode round during which somebody could have decoded."""
    n = 0
    for (_, running), phase in zip(rounds, before, strict=False):
        n = n + 1 if phase == "prefill" and running else 0
    return n


def shown(rounds: list[str | None]) -> str:
    """`P P D`"""
    return " ".join((phase or "-")[0].upper() for phase in rounds) or "nothing"


def name_choice(got: str | None, want: str | None, rounds: list[Situation], before: list[str | None]) -> str:
    """What a wrong choice says about the mistake."""
    if got is None:
        return "idle-with-work"
    if got == "prefill":
        return "decode-waits-too-long"
    if want is None:
        return "empty-batch"
    if "prefill" not in before:
        return "prompts-starve"
    # decode although no prefill round is over that somebody waited for, or after too few of them
    since = before[len(before) - before[::-1].index("decode") :] if "decode" in before else before
    if since and not any(running for _, running in rounds[len(before) - len(since) : -1]):
        return "nobody-waited"
    return "prompts-starve" if not since else "decode-too-soon"


def all_rows(ask: Ask, rows: list[tuple[int, list[Situation]]]) -> Result:
    """The first row of situations in which a choice is wrong."""
    for prefills, rounds in rows:
        result = judge_choices(ask, prefills, rounds)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(rows)} rows of rounds")


BOTH: Situation = [True, [3, 8]]
QUEUE: Situation = [True, []]
DECODE: Situation = [False, [3, 8]]
NOBODY: Situation = [False, []]


def check_due_in_time(ask: Ask, rng: Random) -> Result:
    """The queue always has a batch, somebody always decodes: one decode round after so many prefill rounds."""
    return all_rows(ask, [(1, [BOTH] * 7), (2, [BOTH] * 8), (3, [BOTH] * 9), (5, [BOTH] * 13)])


def check_prompts_go_on(ask: Ask, rng: Random) -> Result:
    """A decode round starts the count anew, due or not."""
    return all_rows(
        ask,
        [
            (1, [DECODE, BOTH, BOTH, BOTH, BOTH]),
            (2, [BOTH, DECODE, BOTH, BOTH, BOTH, BOTH]),
            (3, [BOTH, BOTH, DECODE, DECODE, BOTH, BOTH, BOTH, BOTH]),
        ],
    )


def check_nobody_waits(ask: Ask, rng: Random) -> Result:
    """Prefill rounds during which nobody decodes are not counted; without work there is no batch."""
    return all_rows(
        ask,
        [
            (1, [QUEUE, QUEUE, QUEUE, BOTH, BOTH]),
            (2, [QUEUE, QUEUE, BOTH, BOTH, BOTH, BOTH]),
            (1, [NOBODY, QUEUE, DECODE, NOBODY]),
            # whoever waited has gone: nobody decodes, nothing is due
            (1, [BOTH, QUEUE]),
            (2, [BOTH, BOTH, QUEUE, QUEUE]),
        ],
    )


def check_nothing_lost(ask: Ask, rng: Random) -> Result:
    """Whole schedules: a long prompt beside others that decode, and prompts that keep coming."""
    beside = [plain(1, 0, 2, 6), plain(2, 1, 25, 2)]
    stream = [plain(0, 0, 2, 8), *(plain(9 + at, at, 8, 2) for at in range(1, 16))]
    for prefills in (1, 2, 4):
        for arrivals in (beside, stream):
            result = judge(ask, "schedule", Traffic(400, 1, 6, 10, arrivals), prefills)
            if result.verdict != "ok":
                return result
    return Result.ok()


def check_random_orders(ask: Ask, rng: Random) -> Result:
    """Random traffic: the rounds of a brute force, the books after every step, every token."""
    return random_schedules(ask, rng, "schedule", 1, 2, 4)


def check_orders_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, pieces and decode rounds in turn: Hugging Face's greedy tokens."""
    return end_to_end(ask, rng, prefills=1)
