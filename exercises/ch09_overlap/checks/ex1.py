"""How the answers to exercise 09.1 are judged. Runs in the judge."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, ProbeRaised, Result

CLOSE = 1e-9
PARTS = ("launch", "device", "wait", "settle")
BY_HAND: list[tuple[str, list[float], list[list[Any]]]] = [
    ("one batch", [0.3, 0.2], [["launch", 1.0], ["wait", 0]]),
    ("two batches, one after the other", [0.3, 0.2], [["launch", 1.0], ["wait", 0], ["launch", 2.0], ["wait", 1]]),
    (
        "a second launch before the first wait",
        [0.3, 0.2],
        [["launch", 1.0], ["launch", 1.0], ["wait", 0], ["launch", 1.0], ["wait", 1], ["wait", 2]],
    ),
    (
        "a device that is faster than the host",
        [2.0, 1.0],
        [["launch", 0.5], ["launch", 0.5], ["wait", 0], ["launch", 0.5], ["wait", 1], ["wait", 2]],
    ),
    (
        "a host that is late to ask",
        [0.1, 0.1],
        [["launch", 1.0], ["work", 5.0], ["wait", 0], ["launch", 1.0], ["wait", 1]],
    ),
    ("three batches launched at once", [0.5, 0.25], [["launch", 4.0]] * 3 + [["wait", 0], ["wait", 1], ["wait", 2]]),
    ("a host that costs nothing", [0.0, 0.0], [["launch", 1.0], ["launch", 2.0], ["wait", 0], ["wait", 1]]),
]


def simulate(host: list[float], ops: list[list[Any]]) -> tuple[list[list[float]], list[list[list[float]]]]:
    """[host clock, device clock] after each operation, and [launch, device, wait, settle] of each settled batch."""
    now = free = 0.0
    clocks, lanes = [], []
    flights: list[tuple[list[float], list[float]]] = []
    for kind, value in ops:
        if kind == "launch":
            begin, now = now, now + host[0]
            start = free if free > now else now
            free = start + value
            flights.append(([begin, now], [start, free]))
        elif kind == "wait":
            launch, device = flights[value]
            begin, ready = now, now if now > device[1] else device[1]
            now = ready + host[1]
            lanes.append([launch, device, [begin, ready], [ready, now]])
        else:
            now += value
        clocks.append([now, free])
    return clocks, lanes


def name_clock(op: list[Any], host: list[float], before: list[float], want: list[float], have: list[float]) -> str:
    """What a wrong clock says about the mistake."""
    near = lambda a, b: abs(a - b) < CLOSE  # noqa: E731
    if op[0] == "launch":
        if not near(have[0], want[0]):
            return "launch-costs-nothing" if near(have[0], before[0]) else "launch-waits-for-the-device"
        return "two-batches-at-once" if have[1] - op[1] < before[1] - CLOSE else "starts-before-it-is-told"
    if have[0] < before[0] - CLOSE:
        return "clock-goes-back"
    if near(have[0], want[0] - host[1]):
        return "settling-costs-nothing"
    return "does-not-wait" if have[0] < want[0] else "waits-for-the-next-batch"


def judge_clocks(ask: Ask, name: str, host: list[float], ops: list[list[Any]]) -> Result:
    """Both clocks after each operation, then the lanes."""
    got = ask("clocks", {"host": host, "ops": ops})
    clocks, lanes = simulate(host, ops)
    before = [0.0, 0.0]
    for number, (op, want, have) in enumerate(zip(ops, clocks, got["clocks"], strict=True)):
        if any(abs(a - b) > CLOSE for a, b in zip(want, have, strict=True)):
            slug = name_clock(op, host, before, want, have)
            told = (
                f"{name}: after {op[0]} {op[1]} (operation {number}), from host {before[0]:.3g}, device {before[1]:.3g}"
            )
            message = f"{told}: host {have[0]:.3g}, device {have[1]:.3g}; expected {want[0]:.3g}, {want[1]:.3g}"
            return Result.failed(slug, message)
        before = want
    waits = [value for kind, value in ops if kind == "wait"]
    if got["tokens"] != [[40 + batch] for batch in waits]:
        return Result.failed("wrong-tokens", f"{name}: the tokens of a batch are those that the device computed")
    if [lane[0] for lane in got["lanes"]] != [batch + 1 for batch in waits]:
        message = f"{name}: lanes of batches {[lane[0] for lane in got['lanes']]}; expected {[b + 1 for b in waits]}"
        return Result.failed("round-not-recorded", message)
    if got["uids"] != ["tuple"]:
        message = (
            f"{name}: uids of a lane is a {got['uids'][0]}; expected a tuple: a record must not change with the batch"
        )
        return Result.failed("uids-not-kept", message)
    for batch, want_spans, lane in zip(waits, lanes, got["lanes"], strict=True):
        for part, span, seen in zip(PARTS, want_spans, lane[2:], strict=True):
            if any(abs(a - b) > CLOSE for a, b in zip(span, seen, strict=True)):
                return Result.failed("wrong-span", f"{name}: batch {batch + 1}: {part} is {seen}; expected {span}")
    return Result.ok()


def check_by_hand(ask: Ask, rng: Random) -> Result:
    """A few rounds that can be worked out on paper."""
    for name, host, ops in BY_HAND:
        result = judge_clocks(ask, name, host, ops)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(BY_HAND)} situations")


def check_random_orders(ask: Ask, rng: Random) -> Result:
    """Launches and waits in any order, batches and costs of any size."""
    for number in range(10):
        host = [rng.choice([0.0, 0.25, 0.5, 2.0]), rng.choice([0.25, 1.0])]
        ops: list[list[Any]] = []
        launched = waited = 0
        while waited < 12:
            if launched < 12 and (launched == waited or rng.random() < 0.5):
                ops.append(["launch", rng.choice([0.25, 1.0, 3.0])])
                launched += 1
            elif rng.random() < 0.15:
                ops.append(["work", rng.choice([0.5, 4.0])])
            else:
                ops.append(["wait", waited])
                waited += 1
        result = judge_clocks(ask, f"random order {number}", host, ops)
        if result.verdict != "ok":
            return result
    return Result.ok("10 random orders")


def check_idle(ask: Ask, rng: Random) -> Result:
    """The share of the time in which the device had nothing to do."""
    rounds: list[list[list[float]]] = [
        [],
        [[2.0, 5.0]],
        [[0.0, 1.0], [1.0, 3.0]],
        [[0.0, 1.0], [2.0, 3.0]],
        [[5.0, 6.0], [7.5, 9.0], [9.0, 10.0]],
    ]
    for _ in range(5):
        at, spans = rng.random() * 10, []
        for _ in range(rng.randint(2, 9)):
            at += rng.choice([0.0, rng.random()])
            spans.append([at, at + 0.1 + rng.random()])
            at = spans[-1][1]
        rounds.append(spans)
    try:
        answers = ask("idle", {"rounds": rounds})
    except ProbeRaised as error:
        if error.type != "ZeroDivisionError":
            raise
        message = f"{error}. In these lanes the device works and the host's spans have no length: idle_share is about"
        return Result.failed("not-the-device-span", f"{message} `lane.device` alone")
    for spans, have in zip(rounds, answers, strict=True):
        gaps = sum(b[0] - a[1] for a, b in pairwise(spans))
        want = gaps / (spans[-1][1] - spans[0][0]) if spans else 0.0
        told = f"device spans {[[round(x, 2) for x in s] for s in spans]}: idle_share is {have!r}; expected {want:.4g}"
        if type(have) not in (int, float):
            return Result.failed("no-number", told)
        if abs(have - want) > CLOSE:
            busy = abs(have - (1 - want)) < CLOSE
            early = bool(spans) and abs(have - (1 - (1 - want) * (spans[-1][1] - spans[0][0]) / spans[-1][1])) < CLOSE
            slug = "busy-share" if busy else "counts-from-zero" if early else "wrong-share"
            return Result.failed(slug, told)
    return Result.ok()
