"""How the answers to exercise 05.2 are judged. Runs in the judge."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from minisgl_lite.engine.shadow import next_token
from workbook.judge.checklib import Ask, ProbeRaised, Result
from workbook.judge.drive import EOS, VOCAB, Traffic
from workbook.words import counted

from .common import check_end_to_end, plain, random_traffic


def expected_stream(prompt: list[int], most: int, ignore_eos: bool) -> tuple[list[int], str]:
    """The tokens and the reason of one request on the shadow engine."""
    tokens, out = list(prompt), []
    while True:
        token = next_token(tokens, VOCAB)
        tokens.append(token)
        out.append(token)
        if token in EOS and not ignore_eos:
            return out, "stop"
        if len(out) == most:
            return out, "length"


def judge_streams(traffic: Traffic, got: dict[str, Any]) -> Result:
    """Each request's events beside what they must be; the first difference is named."""
    aborted = {uid for _, uid, _ in traffic.aborts}
    for _, uid, prompt, most, ignore in traffic.arrivals:
        events = [event for event in got["events"] if event[0] == uid]
        tokens = [token for _, token, _ in events if token is not None]
        reasons = [reason for _, _, reason in events if reason is not None]
        want, why = expected_stream(prompt, most, ignore)
        who = f"request {uid} ({counted(len(prompt), 'prompt token')}, max_tokens {most})"
        if len(reasons) > 1 or (reasons and events[-1][2] is None):
            return Result.failed("token-after-the-end", f"{who}: an event follows its last one: {events[-3:]}")
        if uid in aborted:
            if not reasons:
                return Result.failed("abort-not-delivered", f"{who} was aborted, but no event says so")
            if reasons == ["abort"] and tokens == want[: len(tokens)]:
                continue
        result = name_stream(who, want, why, tokens, reasons[0] if reasons else None)
        if result.verdict != "ok":
            return result
        if (known := dict(got["ids"])[uid]) != prompt + want:
            missing = "also that of a stop" if why == "stop" and known == (prompt + want)[:-1] else "in order"
            message = f"{who}: input_ids ends with {known[-3:]}; every sampled token belongs there, {missing}"
            return Result.failed("token-not-appended", message)
    if got["broken"]:
        return Result.failed("books-do-not-add-up", f"after round {got['broken'][0]}: {got['broken'][1]}")
    return Result.ok(f"{len(traffic.arrivals)} requests")


def name_stream(who: str, want: list[int], why: str, tokens: list[int], reason: str | None) -> Result:
    """One request: right, or what is wrong with it."""
    if (tokens, reason) == (want, why):
        return Result.ok()
    if tokens[: len(want)] == want and len(tokens) > len(want):
        diagnosis = "stop-ignored" if why == "stop" else "one-token-too-many"
        return Result.failed(diagnosis, f"{who}: {counted(len(tokens), 'token')}; expected {len(want)}, then {why!r}")
    if tokens == want and reason is None:
        return Result.failed("request-never-ends", f"{who}: has its {len(want)} tokens, but never ends with {why!r}")
    if tokens == want:
        return Result.failed("stop-reported-as-length", f"{who}: ends with {reason!r}; expected {why!r}")
    if tokens == want[: len(tokens)]:
        return Result.failed(
            "one-token-too-few", f"{who}: {counted(len(tokens), 'token')}, then {reason!r}; expected {len(want)}"
        )
    step = next(i for i, (a, b) in enumerate(zip(tokens, want, strict=False)) if a != b)
    return Result.failed("token-to-the-wrong-request", f"{who}: token {step} is {tokens[step]}; expected {want[step]}")


def with_outcomes(rng: Random, wanted: list[str]) -> list[list[Any]]:
    """Arrivals whose outcomes are known: "length", "stop", or "both" in one step."""
    arrivals: list[list[Any]] = []
    for uid, outcome in enumerate(wanted):
        while True:
            prompt = [rng.randrange(VOCAB) for _ in range(rng.randint(1, 9))]
            tokens, why = expected_stream(prompt, 40, False)
            if why != "stop" or len(tokens) < 3:
                continue
            most = {"length": len(tokens) - 1, "both": len(tokens), "stop": len(tokens) + 3}[outcome]
            arrivals.append([0, uid, prompt, most, False])
            break
    return arrivals


def check_tokens_and_reasons(ask: Ask, rng: Random) -> Result:
    """Length, stop, both at once; one token only."""
    arrivals = [*with_outcomes(rng, ["length", "stop", "both"]), plain(3, 0, 4, 1), plain(4, 1, 2, 6)]
    traffic = Traffic(400, 1, 8, 64, arrivals)
    try:
        return judge_streams(traffic, ask("schedule", asdict(traffic)))
    except ProbeRaised as error:
        if error.type != "KeyError" or not any(" in _retire" in line for line in error.trace):
            raise
        message = f"_retire closes the account of whoever has ended, and finds that it is closed already ({error.text})"
        return Result.failed("account-closed-twice", f"{message}: commit closes none, it calls _finish")


def check_limit_of_the_request(ask: Ask, rng: Random) -> Result:
    """A request that may have fewer tokens than its params say."""
    got = ask("lowered", {"prompt": 2, "params": 9, "most": 3})
    if got == {"tokens": 3, "reason": "length"}:
        return Result.ok()
    then = f"ends with {got['reason']!r}" if got["reason"] else "does not end"
    message = f"Req(0, [5, 5], params with max_tokens 9, max_tokens=3) has {counted(got['tokens'], 'token')} and {then}"
    why = "expected 3, then 'length': no more fit here, and only req.limit knows"
    return Result.failed("limit-of-the-params", f"{message}; {why}")


def check_aborted_in_flight(ask: Ask, rng: Random) -> Result:
    """A request that is aborted while its batch is computed."""
    for round_ in range(4):
        arrivals = [plain(uid, 0, 3, 5) for uid in range(3)]
        traffic = Traffic(100, 2, 4, 64, arrivals, [[round_, 1, True]], late=True)
        got = ask("schedule", asdict(traffic))
        result = judge_streams(traffic, got)
        if result.verdict != "ok":
            return result
        when = next(step for event, step in zip(got["events"], got["steps"], strict=True) if event[2] == "abort")
        if when != round_:
            message = f"request 1 was aborted during step {round_}; its event came with step {when}, not with that one"
            return Result.failed("abort-not-delivered", message)
        told = [event[2] for event, step in zip(got["events"], got["steps"], strict=True) if step == round_]
        if told[0] != "abort":
            message = f"step {round_}: the abort is told as event {told.index('abort')}; what waited comes first"
            return Result.failed("events-out-of-order", message)
    return Result.ok()


def check_aborted_alone(ask: Ask, rng: Random) -> Result:
    """The only request of a batch is aborted while the batch is computed: nobody ends in the commit itself."""
    for scene, got in ask("alone", {"rows": 2, "pages": 8}).items():
        settled, live = got.pop("committed"), got.pop("live")
        if not settled:
            message = "batch 1 was committed, and `committed` is still 0: `_settled(batch)` was not called"
            return Result.failed("batch-not-settled", f"{message}. What a batch in flight names cannot be given back")
        if scene == "ended" and live:
            message = "one request, max_tokens 1: it has ended, but is still in `live`"
            return Result.failed("ended-without-finish", f"{message}; whoever ends goes through `_finish`")
        if got == {"rows": 2, "pages": 8, "has_work": False}:
            continue
        held = f"{got['rows']} of 2 rows and {got['pages']} of 8 pages are free, has_work is {got['has_work']}"
        if scene == "ended":
            message = f"one request, max_tokens 1: it has ended, but {held}"
            return Result.failed("resources-not-returned", message)
        message = f"launch; abort(0); settle: {held}. Whoever ended before this commit may be waiting for it"
        return Result.failed("retires-only-who-ends-now", f"{message}: _retire() is called in every commit")
    return Result.ok()


def check_one_batch_ahead(ask: Ask, rng: Random) -> Result:
    """Each batch is planned before the one before it is settled: who has got how many tokens, and who stops?"""
    requests, stops = [[3, 4], [2, 6], [4, 1], [2, 6]], [[3, 4]]
    events = ask("ahead", {"requests": requests, "stops": stops})
    for uid, (prompt, most) in enumerate(requests):
        got = [[token, reason] for owner, token, reason in events if owner == uid]
        stop = dict(stops).get(uid, prompt + most)
        want: list[list[Any]] = [[5, None]] * (stop - prompt)
        want = [*want, [7, "stop"]] if uid in dict(stops) else [*want[:-1], [5, "length"]]
        if got == want:
            continue
        who = f"request {uid} ({prompt} prompt tokens, max_tokens {most}), two batches in flight"
        if got and got[-1][1] == "length" and len(got) < len(want):
            message = f"{who}: ends with 'length' after {counted(len(got), 'token')}; expected {len(want)}"
            why = "cached_len counts what is planned; count the tokens that are there"
            return Result.failed("planned-taken-for-sampled", f"{message}. {why}")
        return Result.failed("wrong-one-batch-ahead", f"{who}: (token, reason) {got}; expected {want}")
    return Result.ok(f"{len(requests)} requests")


def check_settled_first(ask: Ask, rng: Random) -> Result:
    """A batch that is settled before an older one must be refused with nothing changed."""
    got = ask("out_of_order", {})
    if not got["refused"]:
        return Result.failed("order-not-checked", "batch 2 was committed before batch 1, and nobody minded")
    if got["changed"]:
        return Result.failed("settled-too-late", f"the commit was refused, but had changed {got['changed']} already")
    return Result.ok()


def check_pieces_have_no_token(ask: Ask, rng: Random) -> Result:
    """A prompt that is computed in two pieces, beside a whole one: the first piece samples nothing."""
    traffic = Traffic(100, 1, 4, 64, [plain(0, 0, 5, 3), plain(1, 0, 3, 3)])
    return judge_streams(traffic, ask("pieces", asdict(traffic)))


def check_resources_come_back(ask: Ask, rng: Random) -> Result:
    """Rows and pages are free again when all requests have ended."""
    traffic = Traffic(60, 2, 4, 64, [plain(uid, uid, 5, 4) for uid in range(4)], [[2, 1, False]])
    got = ask("schedule", asdict(traffic))
    if (got["rows"], got["pages"]) != (traffic.slots, traffic.pages):
        rows, pages = f"{got['rows']} of {traffic.slots} rows", f"{got['pages']} of {traffic.pages} pages"
        message = f"all requests have ended, but only {rows} and {pages} are free"
        return Result.failed("resources-not-returned", message)
    return judge_streams(traffic, got)


def check_random_streams(ask: Ask, rng: Random) -> Result:
    """Random traffic with aborts: every stream is what it is alone."""
    for _ in range(12):
        traffic = random_traffic(rng)
        uids = [arrival[1] for arrival in traffic.arrivals]
        aborts = [[rng.randint(0, 30), uid, rng.random() < 0.5] for uid in rng.sample(uids, 5)]
        traffic = Traffic(**{**asdict(traffic), "aborts": aborts})
        got = ask("schedule", asdict(traffic))
        result = judge_random(traffic, got)
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")


def judge_random(traffic: Traffic, got: dict[str, Any]) -> Result:
    """As judge_streams; an abort that came before its request or after its end does not count."""
    ended = {uid for uid, _, reason in got["events"] if reason == "abort"}
    aborts = [abort for abort in traffic.aborts if abort[1] in ended]
    return judge_streams(Traffic(**{**asdict(traffic), "aborts": aborts}), got)
