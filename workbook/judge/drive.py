"""Drive a whole schedule on the shadow engine and tell, as plain values, all that happened.

The graded process runs it on the student's modules, the judge on the package's own: what differs is the finding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from minisgl_lite.assembly import Custom, Schedule, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import InvariantError, Req, SamplingParams
from minisgl_lite.engine.shadow import ShadowEngine
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.trace import Round

VOCAB = 50
EOS = (3, 17, 21)
EMPTY_BATCH = "a batch without requests was launched; no batch is None"
IDLE_ROUNDS = 3
"""Steps without a batch and without an event after which a schedule counts as stuck."""


@dataclass(frozen=True)
class Traffic:
    """What a schedule is given. All of it is plain, so that it can be sent to another process.

    arrivals: [round, uid, prompt, max_tokens, ignore_eos]. aborts: [round, uid, in_flight]; in_flight: while the
    round's batch is computed, otherwise before it is planned.
    """

    pages: int
    page_size: int
    slots: int
    budget: int
    arrivals: list[list[Any]]
    aborts: list[list[Any]] = field(default_factory=list)
    late: bool = False

    def requests(self) -> dict[int, Req]:
        """uid -> a fresh request."""
        return {
            uid: Req(uid, prompt, SamplingParams(max_tokens=most, ignore_eos=ignore), eos_ids=EOS)
            for _, uid, prompt, most, ignore in self.arrivals
        }


Step = Callable[[Schedule, Traffic, dict[int, Req], int, list[list[Any]]], bool]
"""One step with what arrives and is aborted in it: (schedule, traffic, requests, now, events it adds to) -> moved."""


def drive(traffic: Traffic, custom: Custom, step: Step | None = None) -> dict[str, Any]:
    """Run until everything has ended, or nothing moves any more. `step` drives one step; left out: launch and settle.

    Returns rounds ([phase, [[uid, cached_len, tokens], ...]]), events ([uid, token, reason]) in order, steps (the step
    that delivered each event), ids ([uid, prompt and sampled tokens]), broken (None, or
    [round, what the invariants say]), what is free at the end (rows, pages), and after (what the viewer draws of each
    round beside its batch: fields of Round).
    """
    config = EngineConfig(
        page_size=traffic.page_size,
        max_running_req=traffic.slots,
        max_extend_tokens=traffic.budget,
        cache_type="naive",
        overlap=False,
    )
    schedule = assemble_scheduler(
        config, traffic.pages, lambda s: ShadowEngine(config.max_running_req, s.cache, VOCAB, traffic.late), custom
    )
    return run(schedule, traffic, step or launch_and_settle)


def run(schedule: Schedule, traffic: Traffic, step: Step) -> dict[str, Any]:
    """See drive."""
    events: list[list[Any]] = []
    steps: list[int] = []
    broken: list[Any] | None = None
    requests = traffic.requests()
    last = max([a[0] for a in traffic.arrivals] + [a[0] for a in traffic.aborts], default=0)
    now = idle = 0
    while (now <= last or schedule.loop.has_work) and idle < IDLE_ROUNDS:
        new: list[list[Any]] = []
        try:
            moved = step(schedule, traffic, requests, now, new)
            schedule.scheduler.check()
        except OutOfPages:
            moved = schedule.scheduler.abort(min(schedule.scheduler.cache.accounts))
        except InvariantError as error:
            broken = [now, str(error)]
            break
        finally:
            events += new
            steps += [now] * len(new)
        idle = 0 if moved or new or now < last else idle + 1
        now += 1
    return {
        "ids": [[uid, req.input_ids] for uid, req in requests.items()],
        "rounds": [[r.phase, [list(entry) for entry in r.entries]] for r in schedule.recorder.rounds],
        "events": events,
        "steps": steps,
        "broken": broken,
        "after": [after(r) for r in schedule.recorder.rounds],
        "rows": schedule.scheduler.table.available,
        "pages": schedule.scheduler.cache.allocator.free,
    }


def after(done: Round) -> dict[str, Any]:
    """How things stood after a round."""
    return {
        "waiting_uids": list(done.waiting_uids),
        "finished": [list(end) for end in done.finished],
        "free_slots": done.free_slots,
        "free_pages": done.free_pages,
    }


def launch_and_settle(
    schedule: Schedule, traffic: Traffic, requests: dict[int, Req], now: int, events: list[list[Any]]
) -> bool:
    """One round, the aborts in flight between its halves. False when there was nothing to launch."""
    arrive(schedule, traffic, requests, now)
    flight = schedule.loop.launch()
    abort(schedule, traffic, now, in_flight=True)
    if flight is not None and not flight.batch.reqs:
        raise InvariantError(EMPTY_BATCH)
    events += [list(event) for event in schedule.loop.settle(flight)]
    return flight is not None


def step_ahead(
    schedule: Schedule, traffic: Traffic, requests: dict[int, Req], now: int, events: list[list[Any]]
) -> bool:
    """One step of a loop that keeps a batch in flight between its steps, the aborts in flight after it."""
    arrive(schedule, traffic, requests, now)
    before = (schedule.scheduler.launched, schedule.scheduler.committed)
    events += [list(event) for event in schedule.loop.step()]
    abort(schedule, traffic, now, in_flight=True)
    return before != (schedule.scheduler.launched, schedule.scheduler.committed)


def arrive(schedule: Schedule, traffic: Traffic, requests: dict[int, Req], now: int) -> None:
    """Submit and abort what comes before this round is planned."""
    for at, uid, *_ in traffic.arrivals:
        if at == now:
            schedule.scheduler.submit(requests[uid])
    abort(schedule, traffic, now, in_flight=False)


def abort(schedule: Schedule, traffic: Traffic, now: int, in_flight: bool) -> None:
    """Abort what is to be aborted at this point."""
    for at, uid, flying in traffic.aborts:
        if (at, flying) == (now, in_flight):
            schedule.scheduler.abort(uid)
