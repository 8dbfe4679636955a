"""What the checks of chapter 05 share. Runs in the judge, on the package's own modules; no torch."""

from __future__ import annotations

from random import Random
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.prefill import PrefillAdder, PrefillManager
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import VOCAB, Traffic

WHOLE_PROMPTS = Custom(adder=PrefillAdder, queue=PrefillManager)


ORACLE_TOKENS = 16
ORACLE_PROMPTS = 6


def told(number: int, want: list[Any], have: list[Any] | None) -> str:
    """`round 3: prefill of requests 4, 5 - expected prefill of request 4`."""

    def words(round_: list[Any] | None) -> str:
        return "nothing" if round_ is None else f"{round_[0]} of {requests([e[0] for e in round_[1]])}"

    def requests(uids: list[int]) -> str:
        return f"request{'s' * (len(uids) != 1)} {', '.join(map(str, uids))}"

    return f"round {number}: {words(have)}; expected {words(want)}"


def plain(uid: int, at: int, prompt: int, outputs: int) -> list[Any]:
    """An arrival of a request that ignores EOS."""
    return [at, uid, [(7 * uid + i) % VOCAB for i in range(prompt)], outputs, True]


def random_traffic(rng: Random) -> Traffic:
    """Requests of all sizes against few rows, a small budget and a pool that is often short."""
    size, slots = rng.choice([1, 2, 4]), rng.randint(2, 5)
    arrivals = [
        [
            rng.randint(0, 25),
            uid,
            [rng.randrange(VOCAB) for _ in range(rng.randint(1, 14))],
            rng.randint(1, 6),
            rng.random() < 0.5,
        ]
        for uid in rng.sample(range(100), 18)
    ]
    # room for every running request to the end: in this chapter a pool that runs out would end the schedule instead
    return Traffic(-(-20 // size) * slots, size, slots, rng.randint(6, 24), arrivals, late=rng.random() < 0.5)


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model through the whole engine, more prompts than rows: Hugging Face's greedy tokens."""
    prompts = rng.sample(list(ask.oracle()), ORACLE_PROMPTS)
    args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "slots": 3}
    got = ask("generate", args, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"request {number}: {len(ids)} tokens, expected {ORACLE_TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
