"""Schedules without weights: a scheduler on the shadow or the virtual engine, driven round by round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from minisgl_lite.assembly import Custom, Schedule, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Event, Req, SamplingParams
from minisgl_lite.engine.shadow import ShadowEngine, next_token
from minisgl_lite.engine.virtual import VirtualEngine

EOS = (3, 17, 21)
VOCAB = 50


def options(**changed: Any) -> EngineConfig:
    """The neutral options: every chapter from 05 on has them."""
    return EngineConfig(**{"cache_type": "naive", "overlap": False, "max_extend_tokens": 64, **changed})


def shadow(num_pages: int, *, late: bool = False, custom: Custom | None = None, **changed: Any) -> Schedule:
    """A scheduler on the shadow engine."""
    config = options(**changed)
    return assemble_scheduler(
        config, num_pages, lambda s: ShadowEngine(config.max_running_req, s.cache, VOCAB, late), custom
    )


def virtual(
    num_pages: int,
    script: Callable[[int, int], int] = lambda uid, position: 5,
    *,
    custom: Custom | None = None,
    **changed: Any,
) -> Schedule:
    """A scheduler on the virtual engine."""
    return assemble_scheduler(options(**changed), num_pages, lambda _: VirtualEngine(script), custom)


def request(uid: int, prompt: Iterable[int], max_tokens: int, ignore_eos: bool = True) -> Req:
    return Req(uid, prompt, SamplingParams(max_tokens=max_tokens, ignore_eos=ignore_eos), eos_ids=EOS)


def oracle(prompt: Sequence[int], max_tokens: int, ignore_eos: bool = True) -> tuple[list[int], str]:
    """The tokens and the finish reason that a request on the shadow engine must have, whatever runs beside it."""
    tokens, out = list(prompt), []
    while True:
        token = next_token(tokens, VOCAB)
        tokens.append(token)
        out.append(token)
        if token in EOS and not ignore_eos:
            return out, "stop"
        if len(out) == max_tokens:
            return out, "length"


def run(schedule: Schedule, arrivals: Iterable[tuple[int, Req]] = (), most: int = 10_000) -> list[Event]:
    """Submit each request before its round, step until nothing is left, check the invariants after every step."""
    waiting = sorted(arrivals, key=lambda pair: pair[0])
    events: list[Event] = []
    for round_ in range(most):
        while waiting and waiting[0][0] <= round_:
            schedule.scheduler.submit(waiting.pop(0)[1])
        if not waiting and not schedule.loop.has_work:
            return events
        events += schedule.loop.step()
        schedule.scheduler.check()
    raise AssertionError(f"not idle after {most} rounds")


def notation(schedule: Schedule, names: Callable[[int], str] = lambda uid: "ABCDEFGH"[uid]) -> str:
    """The rounds so far, as in P[A,B] D[A,B] P[C]."""
    return " ".join(
        f"{r.phase[0].upper()}[{','.join(names(uid) for uid, _, _ in r.entries)}]" for r in schedule.recorder.rounds
    )
