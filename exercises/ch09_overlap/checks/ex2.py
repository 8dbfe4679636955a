"""How the answers to exercise 09.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, ProbeRaised, Result
from workbook.judge.drive import VOCAB, Traffic
from workbook.words import counted

from .common import asked, judge_answers, judge_run, random_traffic

Steps = list[dict[str, Any]]


def ahead(ask: Ask, requests: list[list[int]], fails: int = 0, late: int = 0, stumbles: int = 0) -> Steps:
    """What the loop did, step by step. fails, late: the batch whose launch, or whose tokens, raise; 0: none."""
    limits = {"fails": [fails], "late": [late], "stumbles": stumbles, "rows": 4, "pages": 200}
    steps: Steps = ask("ahead", {"requests": requests, **limits})
    return steps


def words(log: list[list[Any]]) -> str:
    """`launch 2, wait for 1`"""
    return ", ".join(f"launch {n}" if kind == "launch" else f"wait for {n}" for kind, n in log) or "nothing"


def check_one_ahead(ask: Ask, rng: Random) -> Result:
    """One request alone: each step launches one batch and settles the one before it."""
    for most in (1, 2, 6):
        steps = ahead(ask, [[3, most]])
        for number in range(most + 1):
            want: list[list[Any]] = [["launch", number + 1]] if number < most else []
            want += [["wait", number]] if number else []
            have = steps[number]["log"] if number < len(steps) else []
            told = f"one request of {counted(most, 'token')}, step {number + 1}: {words(have)}; expected {words(want)}"
            if have != want:
                return Result.failed(name_log(number, want, have, steps), told)
            events = [[0, 40, "length" if number == most else None]] if number else []
            if steps[number]["events"] != events:
                message = f"{told}. Its events are {steps[number]['events']}; expected {events}"
                return Result.failed("events-not-returned", message)
        if len(steps) > most + 1:
            message = (
                f"one request of {counted(most, 'token')}: has_work after {len(steps)} steps; done after {most + 1}"
            )
            return Result.failed("never-done", message)
    return Result.ok()


def name_log(number: int, want: list[list[Any]], have: list[list[Any]], steps: Steps) -> str:
    """What a step that did something else says about the mistake."""
    if number and not have:
        later = any(["wait", number] in step["log"] for step in steps[number:])
        return "too-far-ahead" if later else "last-round-not-settled"
    if sorted(have) == sorted(want):
        return "waits-before-it-launches"
    if ["wait", number + 1] in have:
        return "settles-at-once"
    if len([1 for kind, _ in have if kind == "launch"]) > 1 or (number and ["wait", number] not in have):
        return "too-far-ahead"
    return "not-every-step-launches" if ["launch", number + 1] not in have else "wrong-order"


def notation(rounds: list[list[Any]]) -> str:
    """`P[A,B] D[A]`"""
    return " ".join(f"{phase[0].upper()}[{','.join('ABCDE'[e[0]] for e in entries)}]" for phase, entries in rounds)


def check_golden_schedules(ask: Ask, rng: Random) -> Result:
    """The two schedules of the chapter, moved by overlap as it must be."""

    def plain(uid: int, at: int, prompt: int, outputs: int) -> list[Any]:
        return [at, uid, [(7 * uid + i) % VOCAB for i in range(prompt)], outputs, True]

    three = [plain(0, 0, 3, 2), plain(1, 0, 3, 5), plain(2, 1, 3, 2)]
    line = [(0, 3, 4), (1, 2, 2), (2, 3, 3), (4, 4, 2), (6, 2, 4)]
    five = [plain(uid, *request) for uid, request in enumerate(line)]
    for arrivals, budget, want in (
        (three, 64, "P[A,B] D[A,B] D[B] P[C] D[B,C] D[B]"),
        (five, 6, "P[A] P[B] D[A,B] D[A] P[C] D[A,C] D[C] P[D] P[E] D[D,E] D[E] D[E]"),
    ):
        traffic = Traffic(100, 1, 2, budget, arrivals, late=True)
        got = ask("schedule", asked(traffic, whole=True))
        have = notation(got["rounds"])
        if have != want:
            return Result.failed("wrong-schedule", f"two places: {have}; expected {want}")
        result = judge_run(traffic, got)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_short_pools(ask: Ask, rng: Random) -> Result:
    """A pool that runs out: while a batch is in flight that is no verdict yet, afterwards it is."""
    soon = [[0, 0, [1, 2], 2, True], [0, 1, [3, 4], 5, True]]
    traffic = Traffic(6, 1, 2, 64, soon, late=True)
    result = judge_run(traffic, ask("schedule", asked(traffic, whole=True)))
    if result.verdict != "ok":
        slug = "gives-up-too-early" if result.diagnosis == "never-ends" else result.diagnosis
        note = "Request 0 is done and gives three pages back when its last batch is settled."
        return Result(result.verdict, slug, f"two prompts of 2 tokens, six pages: {result.message}. {note}")
    never = [[0, 0, [1, 2], 9, True], [0, 1, [3, 4], 3, True]]
    got = ask("schedule", asked(Traffic(5, 1, 2, 64, never, late=True), whole=True))
    if [reason for uid, _, reason in got["events"] if reason is not None] != ["abort", "length"]:
        message = (
            "two prompts of 2 tokens, five pages, nobody ends: with no batch in flight, step must raise OutOfPages"
        )
        return Result.failed("hides-the-refusal", message)
    return Result.ok()


def check_a_launch_that_fails(ask: Ask, rng: Random) -> Result:
    """A launch raises: what is before it is delivered, nothing is launched behind it, then it is told, once."""
    for at in (1, 2, 4):
        what = f"one request, the launch of batch {at} raises"
        try:
            steps = ahead(ask, [[2, 9]], fails=at)
        except ProbeRaised as error:
            if error.type != "InvariantError":
                raise
            message = f"{what}: {error}. A step that raises must have noted what it launched: set _flight, then settle"
            return Result.failed("flight-settled-twice", message)
        launched = [n for step in steps for kind, n in step["log"] if kind == "launch"]
        if launched != list(range(1, at + 1)):
            message = f"{what}: batches {launched} were launched; nothing may be launched behind a launch that raised"
            return Result.failed("launches-behind-a-failure", message)
        raised = [number for number, step in enumerate(steps) if step["raised"]]
        if raised != [at]:
            message = f"{what}: told in steps {[n + 1 for n in raised]}; expected in step {at + 1}, once"
            return Result.failed("failure-not-told-in-line", message)
        events = [event for step in steps for event in step["events"]]
        if events != [[0, 40, None]] * (at - 1) + [[0, None, "abort"]]:
            message = f"{what}: events {events}; expected {at - 1} tokens, then an abort"
            return Result.failed("events-lost", message)
    return judge_late_errors(ask)


def judge_late_errors(ask: Ask) -> Result:
    """Tokens raise when they are waited for, with the next batch in flight: told once, and the loop goes on."""
    for at in (1, 2, 4):
        what = f"one request, waiting for the tokens of batch {at} raises, as an error does that the device tells late"
        try:
            steps = ahead(ask, [[2, 9]], late=at)
        except ProbeRaised as error:
            if error.type != "InvariantError":
                raise
            message = f"{what}: {error}. A step that raises must have noted what it launched: set _flight, then settle"
            return Result.failed("flight-settled-twice", message)
        raised = [number + 1 for number, step in enumerate(steps) if step["raised"]]
        if raised != [at + 1]:
            message = f"{what}: told in steps {raised}; expected in step {at + 1}, once"
            return Result.failed("failure-not-told-in-line", message)
        waited = [n for step in steps for kind, n in step["log"] if kind == "wait"]
        if waited != list(range(1, at + 2)):
            message = f"{what}: batches {waited} were waited for; expected also {at + 1}, in flight then"
            return Result.failed("flight-lost", message)
    return Result.ok()


def check_a_plan_that_fails(ask: Ask, rng: Random) -> Result:
    """Planning raises something else than OutOfPages while a batch is in flight: that is no matter of pages."""
    for at in (2, 3):
        steps = ahead(ask, [[2, 9]], stumbles=at)
        raised = [number + 1 for number, step in enumerate(steps) if step["raised"]]
        if raised != [at]:
            message = f"one request, planning round {at} raises an error that is not OutOfPages: it was told in steps"
            return Result.failed("hides-other-errors", f"{message} {raised}; expected in step {at}")
    return Result.ok()


def check_random_streams(ask: Ask, rng: Random) -> Result:
    """Random traffic on the shadow engine, mostly late, with aborts and launches that fail."""
    for number in range(12):
        traffic = random_traffic(rng)
        fails = tuple(rng.sample(range(1, 30), 2)) if number % 3 == 2 else ()
        got = ask("schedule", asked(traffic, "radix" if number % 2 else "naive", fails=fails))
        result = judge_run(traffic, got, bool(fails))
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model with overlap: Hugging Face's tokens, up to each stop and not one further."""
    return judge_answers(ask, rng, "naive", 1)
