"""What the checks of chapter 09 share. Runs in the judge, on the package's own modules; no torch."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from random import Random
from typing import Any

from minisgl_lite.engine.shadow import next_token
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import EOS, VOCAB, Traffic
from workbook.words import counted

NEW = 12


def alone(prompt: list[int], most: int, ignore_eos: bool) -> tuple[list[int], str]:
    """The tokens and the reason of one request that is alone on the shadow engine."""
    tokens = list(prompt)
    while True:
        tokens.append(next_token(tokens, VOCAB))
        if tokens[-1] in EOS and not ignore_eos:
            return tokens[len(prompt) :], "stop"
        if len(tokens) == len(prompt) + most:
            return tokens[len(prompt) :], "length"


def random_traffic(rng: Random) -> Traffic:
    """Prompts that begin alike against few rows and a small budget, with stops and aborts in the middle."""
    size, slots = rng.choice([1, 2, 4]), rng.randint(2, 5)
    stem = [rng.randrange(VOCAB) for _ in range(12)]
    arrivals: list[list[Any]] = []
    for uid in rng.sample(range(100), 18):
        prompt = stem[: rng.randint(0, 12)] + [rng.randrange(VOCAB) for _ in range(rng.randint(1, 5))]
        arrivals.append([rng.randint(0, 25), uid, prompt, rng.randint(1, 7), rng.random() < 0.3])
    aborts = [[rng.randint(0, 30), arrival[1], rng.random() < 0.7] for arrival in rng.sample(arrivals, 4)]
    pages = -(-24 // size) + rng.randint(0, 20)
    return Traffic(pages, size, slots, rng.randint(5, 24), arrivals, aborts, late=rng.random() < 0.8)


def asked(traffic: Traffic, cache: str = "naive", whole: bool = False, fails: tuple[int, ...] = ()) -> dict[str, Any]:
    """The question of `probe_schedule`."""
    return {"traffic": asdict(traffic), "cache": cache, "whole": whole, "fails": list(fails)}


def judge_run(traffic: Traffic, got: dict[str, Any], failures: bool = False) -> Result:
    """Every stream is what it is alone, each request ends once, at most one round of it is wasted, all is back."""
    if got["broken"]:
        return Result.failed("books-do-not-add-up", f"in step {got['broken'][0]}: {got['broken'][1]}")
    aborted = {uid for _, uid, _ in traffic.aborts}
    for _, uid, prompt, most, ignore in traffic.arrivals:
        events = [event for event in got["events"] if event[0] == uid]
        result = judge_stream(uid, events, alone(prompt, most, ignore), failures or uid in aborted)
        if result.verdict != "ok":
            return result
    for uid, entries in got["wasted"]:
        if entries > 1:
            message = (
                f"request {uid}: {entries} rounds computed after its end; with one batch in flight it is one at most"
            )
            return Result.failed("more-than-one-round-wasted", message)
    if got["rows"] != traffic.slots:
        return Result.failed("resources-not-returned", f"{got['rows']} of {traffic.slots} rows are free at the end")
    return Result.ok(f"{len(got['rounds'])} rounds")


def judge_stream(uid: int, events: list[list[Any]], want: tuple[list[int], str], may_abort: bool) -> Result:
    """The events of one request beside what they must be."""
    tokens = [token for _, token, _ in events if token is not None]
    reasons = [reason for _, _, reason in events if reason is not None]
    if len(reasons) > 1 or (reasons and events[-1][2] is None):
        return Result.failed("token-after-the-end", f"request {uid}: an event follows its last one: {events[-3:]}")
    if not reasons:
        return Result.failed(
            "never-ends", f"request {uid}: {counted(len(tokens), 'token')}, then nothing; expected {want[1]!r}"
        )
    if reasons == ["abort"] and may_abort:
        if tokens == want[0][: len(tokens)]:
            return Result.ok()
    elif reasons == ["abort"]:
        return Result.failed(
            "gives-up-too-early", f"request {uid}: aborted after {counted(len(tokens), 'token')}; it could go on"
        )
    if (tokens, reasons) != (want[0], [want[1]]):
        message = f"request {uid}: {tokens}, {reasons[0]!r}; alone it has {want[0]}, {want[1]!r}"
        return Result.failed("wrong-tokens", message)
    return Result.ok()


@dataclass(frozen=True)
class Cut:
    """A recorded run of Hugging Face up to, and without, its first stop token."""

    ids: list[int]
    output_ids: list[int]
    gaps: list[float]


def judge_answers(ask: Ask, rng: Random, cache: str, page_size: int) -> Result:
    """The bundled model, more prompts than rows, some with a stop in the middle of their answer."""
    runs = rng.sample([run for run in ask.oracle() if len(run.output_ids) >= NEW], 8)
    stops: list[list[int]] = []
    cuts: list[Cut] = []
    for number, run in enumerate(runs):
        ids = list(run.output_ids)[:NEW]
        stop = [ids[rng.randint(2, NEW - 3)]] if number % 2 else []
        end = ids.index(stop[0]) if stop else NEW
        stops.append(stop)
        cuts.append(Cut(list(run.ids), ids[:end], list(run.gaps)[:NEW]))
    args = {"prompts": [c.ids for c in cuts], "max_tokens": NEW, "rows": 3, "stops": stops, "cache": cache,
            "page_size": page_size}  # fmt: skip
    got = ask("generate", args, seconds=60.0)
    for number, (cut, ids) in enumerate(zip(cuts, got["tokens"], strict=True)):
        if len(ids) != len(cut.output_ids) and ids[: len(cut.output_ids)] == cut.output_ids[: len(ids)]:
            many = "many" if len(ids) > len(cut.output_ids) else "few"
            message = f"request {number}: {len(ids)} tokens before its end; expected {len(cut.output_ids)}"
            return Result.failed(f"too-{many}-tokens", message)
    return compare_streams(cuts, got["tokens"], bound=TIE_GAP)
