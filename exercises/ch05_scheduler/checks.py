"""How the answers are judged: chapter 05. Runs in the judge, on the package's own modules; no torch."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.engine.shadow import next_token
from minisgl_lite.scheduler.prefill import PrefillAdder, PrefillManager
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import EMPTY_BATCH, EOS, VOCAB, Traffic, drive

WHOLE_PROMPTS = Custom(adder=PrefillAdder, queue=PrefillManager)
ORACLE_TOKENS = 16
ORACLE_PROMPTS = 6


# ---- 05.1 ----


def answers(args: dict[str, Any]) -> list[tuple[int, str]]:
    """What the adder must say to each request, and what it would mean to say otherwise."""
    rows, budget, size = args["rows"], args["budget"], args["page_size"]
    free, reserved, tokens, out = args["pages"], 0, 0, []
    for uid, prompt in enumerate(args["prompts"]):
        warm = dict(args["warm"]).get(uid, 0)
        need, n = -(-prompt // size) - warm, prompt - warm * size
        if rows == 0:
            out.append((0, "row-ignored"))
        elif need > free - warm - reserved:
            out.append((0, "pages-promised-twice" if need <= free - warm else "pages-ignored"))
        elif tokens and tokens + n > budget:
            out.append((0, "budget-ignored"))
        else:
            rows, reserved, tokens, free = rows - 1, reserved + need, tokens + n, free - warm
            out.append((n, "fitting-request-refused"))
    return out


SITUATIONS: list[tuple[str, dict[str, Any]]] = [
    ("room for all", {"prompts": [3, 4, 2]}),
    ("two rows for three requests", {"prompts": [3, 4, 2], "rows": 2}),
    ("a budget of 8", {"prompts": [3, 4, 2], "budget": 8}),
    ("a prompt longer than the budget, alone", {"prompts": [20, 1], "budget": 8}),
    ("6 pages of 2 tokens for prompts of 8, 8 and 2", {"prompts": [8, 8, 2], "pages": 6, "page_size": 2}),
    ("8 pages for a prompt of 8 tokens: just enough", {"prompts": [8], "pages": 8}),
    ("a budget of 8 for prompts of 3 and 5 tokens: just enough", {"prompts": [3, 5], "budget": 8}),
    ("a prompt larger than the pool, then a small one", {"prompts": [9, 2], "pages": 4, "page_size": 2}),
    ("4 tokens of the prompt already computed", {"prompts": [7, 2], "page_size": 2, "warm": [[0, 2]]}),
    ("a cached part that makes the budget fit", {"prompts": [6, 6], "page_size": 2, "budget": 8, "warm": [[1, 2]]}),
]


def situation(**changed: Any) -> dict[str, Any]:
    """A situation for one adder: plenty of everything but for what is changed."""
    return {"rows": 4, "pages": 40, "page_size": 1, "budget": 64, "warm": [], **changed}


def check_one_request(ask: Ask, rng: Random) -> Result:
    """Is each request admitted, or refused, as it should be?"""
    for name, changed in SITUATIONS:
        args = situation(**changed)
        for uid, (seen, (want, otherwise)) in enumerate(zip(ask("adder", args), answers(args), strict=True)):
            got, prompt = seen["answer"], args["prompts"][uid]
            if got is True or got is False or type(got) is not int:
                return Result.failed("no-number", f"{name}: try_add returned {got!r}, not a number of tokens")
            if want and got == prompt != want:
                otherwise = "cached-part-recomputed"
            if got != want:
                return Result.failed(
                    otherwise, f"{name}: request {uid} ({prompt} tokens): try_add said {got}, expected {want}"
                )
            if want and not seen["row"]:
                return Result.failed("no-row", f"{name}: request {uid} was admitted, but has no table_idx")
    return Result.ok(f"{len(SITUATIONS)} situations")


def check_nothing_changed_when_refused(ask: Ask, rng: Random) -> Result:
    """Does a refusal leave rows, accounts, pages and the round's counts as they were?"""
    for name, changed in SITUATIONS:
        args = situation(**changed)
        before: dict[str, Any] = {
            "rows": args["rows"],
            "accounts": [],
            "pages": args["pages"],
            "reserved": 0,
            "tokens": 0,
        }
        for uid, seen in enumerate(ask("adder", args)):
            after = {key: seen[key] for key in before}
            if seen["answer"] == 0 and after != before:
                what = next(key for key in before if after[key] != before[key])
                message = f"{name}: request {uid} was refused, but {what} went from {before[what]} to {after[what]}"
                return Result.failed("refusal-left-something", message)
            before = after
    return Result.ok()


def compare_schedules(ask: Ask, traffic: Traffic) -> Result:
    """The rounds of a schedule beside those of the reference, with a name for the first difference."""
    got = ask("schedule", asdict(traffic))
    if got["broken"]:
        diagnosis = "empty-batch" if got["broken"][1] == EMPTY_BATCH else "books-do-not-add-up"
        return Result.failed(diagnosis, f"in round {got['broken'][0]}: {got['broken'][1]}")
    want = drive(traffic, WHOLE_PROMPTS)["rounds"]
    for number, (expected, have) in enumerate(zip(want, [*got["rounds"], None], strict=False)):
        if expected != have:
            return Result.failed(name_difference(expected, have, traffic.budget), told(number, expected, have))
    if len(got["rounds"]) > len(want):
        return Result.failed("wrong-schedule", f"{len(got['rounds'])} rounds, {len(want)} expected")
    return Result.ok(f"{len(want)} rounds")


def name_difference(want: list[Any], have: list[Any] | None, budget: int) -> str:
    """What the first different round says about the mistake."""
    if have is None:
        return "stops-too-early"
    if have[0] == want[0] == "prefill":
        wanted, got = [e[0] for e in want[1]], [e[0] for e in have[1]]
        if got == wanted[: len(got)]:
            return "one-request-a-round" if len(got) == 1 else "stops-too-early"
        if sum(e[2] for e in have[1]) > budget and len(got) > 1:
            return "budget-ignored"
        return "queue-jumping"
    return "queue-jumping" if have[0] == "prefill" else "stops-too-early"


def told(number: int, want: list[Any], have: list[Any] | None) -> str:
    """`round 3: prefill of requests 4, 5 - expected prefill of request 4`."""

    def words(round_: list[Any] | None) -> str:
        return "nothing" if round_ is None else f"{round_[0]} of requests {', '.join(str(e[0]) for e in round_[1])}"

    return f"round {number}: {words(have)}; expected {words(want)}"


def plain(uid: int, at: int, prompt: int, outputs: int) -> list[Any]:
    """An arrival of a request that ignores EOS."""
    return [at, uid, [(7 * uid + i) % VOCAB for i in range(prompt)], outputs, True]


def check_queue_order(ask: Ask, rng: Random) -> Result:
    """First come, first served, as many as fit, stopping at the first that does not."""
    small_behind_large = [plain(0, 0, 17, 4), plain(1, 1, 17, 2), plain(2, 1, 1, 2)]
    for traffic in (
        Traffic(40, 1, 4, 64, [plain(uid, 0, 3, 2) for uid in range(3)]),
        Traffic(8, 4, 4, 64, small_behind_large),
        Traffic(100, 1, 2, 64, [plain(0, 0, 3, 2), plain(1, 0, 3, 5), plain(2, 1, 3, 2)]),
    ):
        result = compare_schedules(ask, traffic)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_shared_budget(ask: Ask, rng: Random) -> Result:
    """All prompts of a round share its budget; a longer prompt runs alone."""
    alone = Traffic(200, 1, 8, 10, [plain(uid, 0, n, 1) for uid, n in enumerate((4, 6, 3, 25, 1))])
    line = [(0, 3, 4), (1, 2, 2), (2, 3, 3), (4, 4, 2), (6, 2, 4)]
    five = Traffic(100, 1, 2, 6, [plain(uid, *request) for uid, request in enumerate(line)])
    for traffic in (alone, five):
        result = compare_schedules(ask, traffic)
        if result.verdict != "ok":
            return result
    return Result.ok()


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


def check_random_queues(ask: Ask, rng: Random) -> Result:
    """Random traffic: the rounds of the reference."""
    for _ in range(12):
        result = compare_schedules(ask, random_traffic(rng))
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")


# ---- 05.2 ----


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
        who = f"request {uid} ({len(prompt)} prompt tokens, max_tokens {most})"
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
        return Result.failed(diagnosis, f"{who}: {len(tokens)} tokens; expected {len(want)}, then {why!r}")
    if tokens == want and reason is None:
        return Result.failed("request-never-ends", f"{who}: has its {len(want)} tokens, but never ends with {why!r}")
    if tokens == want:
        return Result.failed("stop-reported-as-length", f"{who}: ends with {reason!r}; expected {why!r}")
    if tokens == want[: len(tokens)]:
        return Result.failed("one-token-too-few", f"{who}: {len(tokens)} tokens, then {reason!r}; expected {len(want)}")
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
    return judge_streams(traffic, ask("schedule", asdict(traffic)))


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


# ---- 05.3 ----


def grow_args(size: int, reqs: list[list[Any]], batches: list[list[Any]], **changed: Any) -> dict[str, Any]:
    """For probe_grow. reqs: [uid, [row, prompt tokens, positions stored]]. batches: [phase, [[uid, tokens], ...]]."""
    return {"page_size": size, "pages": 64, "warm": [], "behind": 0, "reqs": reqs, "batches": batches, **changed}


def judge_growth(name: str, args: dict[str, Any], seen: list[dict[str, Any]]) -> Result:
    """Each batch of probe_grow's answer beside what it must be; the first difference is named."""
    size, rows = args["page_size"], {uid: row for uid, (row, _, _) in args["reqs"]}
    warm = dict(args["warm"])
    stored = {uid: there or size * warm.get(uid, 0) for uid, (_, _, there) in args["reqs"]}
    fresh = {uid for uid, (_, _, there) in args["reqs"] if not there}
    for number, (phase, entries) in enumerate(args["batches"]):
        before, after = seen[number], seen[number + 1]
        held, ends = dict(before["pages"]), {uid: stored[uid] + n for uid, n in entries}
        missing = {uid: -(-end // size) - len(held[uid]) for uid, end in ends.items()}
        where = f"{name}: {phase} batch {number}"
        if sum(missing.values()) > len(before["free"]):
            result = judge_refusal(where, before, after, missing)
        else:
            result = judge_counts(where, phase, before, after, args, ends, missing)
            if result.verdict == "ok":
                known = {uid: 0 if uid in fresh else len(held[uid]) for uid in ends}
                result = judge_notes(where, before, after, rows, known)
            stored |= ends
            fresh -= ends.keys()
        if result.verdict != "ok":
            return result
    return Result.ok()


def judge_refusal(where: str, before: dict[str, Any], after: dict[str, Any], missing: dict[int, int]) -> Result:
    """A batch for which there are too few pages."""
    left, first = len(before["free"]), -1
    for uid, n in missing.items():
        left -= n
        if left < 0:
            first = uid
            break
    for key, what in (("pages", "req.pages"), ("free", "the free pages"), ("moves", "the moves")):
        if sorted(after[key]) != (sorted(before[key]) if key != "moves" else []):
            then = "OutOfPages was raised" if after["refusal"] else "nothing was raised"
            message = (
                f"{where} wants {sum(missing.values())} pages of {len(before['free'])}: {then}, but {what} changed"
            )
            return Result.failed("not-all-or-nothing", message)
    if after["refusal"] is None:
        return Result.failed("shortage-not-told", f"{where}: too few pages, but OutOfPages was not raised")
    if f"request {first} " not in after["refusal"]:
        message = f"{where}: request {first} is the first that cannot go on; OutOfPages says {after['refusal']!r}"
        return Result.failed("refusal-names-nobody", message)
    return Result.ok()


def judge_counts(
    where: str,
    phase: str,
    before: dict[str, Any],
    after: dict[str, Any],
    args: dict[str, Any],
    ends: dict[int, int],
    missing: dict[int, int],
) -> Result:
    """How many pages each request has, and that each page has one owner."""
    if after["refusal"] is not None:
        message = (
            f"{where}: {sum(missing.values())} pages are missing and {len(before['free'])} free; {after['refusal']}"
        )
        return Result.failed("fitting-batch-refused", message)
    held, have = dict(before["pages"]), dict(after["pages"])
    too_many = {uid: len(have[uid]) - len(held[uid]) - missing.get(uid, 0) for uid in held}
    wrong = [uid for uid in held if too_many[uid]]
    if wrong:
        uid, size = wrong[0], args["page_size"]
        message = f"{where} (pages of {size}): request {uid} holds {len(have[uid])} pages"
        if uid in ends:
            message += f" for positions 0 .. {ends[uid] - 1}; expected {len(held[uid]) + missing[uid]}"
        return Result.failed(name_count(phase, uid, too_many, have, args), message)
    places = after["free"] + [page for pages in have.values() for page in pages]
    if sorted(places) != list(range(args["pages"])):
        return Result.failed("page-given-twice", f"{where}: a page has two owners, or none: {after['pages']}")
    for uid, pages in held.items():
        if have[uid][: len(pages)] != pages:
            message = f"{where}: request {uid} had pages {pages}, now {have[uid]}; new pages go to the end"
            return Result.failed("pages-out-of-order", message)
    return Result.ok()


def name_count(phase: str, uid: int, too_many: dict[int, int], have: dict[int, list[int]], args: dict[str, Any]) -> str:
    """What a wrong number of pages says about the mistake."""
    off = too_many.values()
    if min(off) < 0 < max(off):
        return "page-for-the-wrong-request"
    if phase == "decode":
        return "page-one-late" if too_many[uid] < 0 else "page-one-early"
    if too_many[uid] < 0:
        return "page-missing"
    prompt = dict(args["reqs"])[uid][1]
    return "pages-for-the-whole-prompt" if len(have[uid]) == -(-prompt // args["page_size"]) else "page-too-many"


def judge_notes(
    where: str, before: dict[str, Any], after: dict[str, Any], rows: dict[int, int], known: dict[int, int]
) -> Result:
    """What the page table and the trace are told. known: uid -> how many pages of it the table knows."""
    held, have = dict(before["pages"]), dict(after["pages"])
    want = [[rows[uid], c, have[uid][c]] for uid, first in known.items() for c in range(first, len(have[uid]))]
    if len({len(part) for part in after["told"]}) != 1 or len(after["told"]) != 3:
        message = f"{where}: new_pages must be three lists of equal length, it is {after['told']}"
        return Result.failed("page-table-not-told", message)
    told = [list(entry) for entry in zip(*after["told"], strict=True)]
    if told != want:
        found = [[rows[uid], c, have[uid][c]] for uid, first in known.items() for c in range(first, len(held[uid]))]
        message = f"{where}: new_pages tells (row, column, page) {told}; expected {want}"
        return Result.failed(name_told(told, want, found), message)
    moved = [[page, uid] for uid in known for page in have[uid][len(held[uid]) :]]
    if sorted(after["moves"], key=str) != sorted(moved, key=str):
        named = sorted(page for page, _ in after["moves"]) == sorted(page for page, _ in moved)
        diagnosis = "moves-name-the-wrong-owner" if named else "moves-not-noted"
        return Result.failed(diagnosis, f"{where}: moves tell (page, owner) {after['moves']}; expected {moved}")
    return Result.ok()


def name_told(told: list[list[int]], want: list[list[int]], found: list[list[int]]) -> str:
    """What wrong page-table entries say about the mistake."""
    if sorted(told) == sorted(want):
        return "entries-out-of-order"
    if sorted(entry[2] for entry in told) == sorted(entry[2] for entry in want):
        rows = {page: row for row, _, page in want}
        right_rows = all(rows[page] == row for row, _, page in told)
        return "page-in-the-wrong-column" if right_rows else "page-for-the-wrong-request"
    if found and all(entry in told or entry in found for entry in want):
        return "found-pages-not-told"
    return "page-told-again" if all(entry in told for entry in want) else "page-table-not-told"


def alone(size: int, prompt: int, steps: int, **changed: Any) -> tuple[str, dict[str, Any]]:
    """One request that decodes by itself, its prompt stored."""
    args = grow_args(size, [[4, [2, prompt, prompt]]], [["decode", [[4, 1]]]] * steps, **changed)
    return f"a prompt of {prompt}, {steps} decode steps, pages of {size}", args


ALONE = [(4, 3), (4, 4), (4, 5), (1, 3), (2, 6)]


def check_page_by_page(ask: Ask, rng: Random) -> Result:
    """One request decodes: a page exactly when the position to be stored opens one."""
    for size, prompt in ALONE:
        name, args = alone(size, prompt, 9)
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok("prompts of 3, 4 and 5, pages of 4, 2 and 1")


def check_without_the_tokens(ask: Ask, rng: Random) -> Result:
    """The same when the last sampled token has not arrived yet: planning must not need it."""
    for size, prompt in ALONE:
        name, args = alone(size, prompt, 9, behind=1)
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            message = f"right when every token is there, wrong when the last one is under way: {result.message}"
            return Result.failed("looks-at-the-tokens", message)
    return Result.ok()


def check_whose_page(ask: Ask, rng: Random) -> Result:
    """Some requests of a decode batch open a page, some do not: owner, row, column and trace of each."""
    for size in (4, 2, 1, 3):
        uids = sorted(rng.sample(range(10, 90), 6))
        rows = rng.sample(range(8), 6)
        stored = [size, size + 1, 2 * size, 1, 3 * size + 1, 3 * size]
        reqs = [[uid, [row, n, n]] for uid, row, n in zip(uids, rows, stored, strict=True)]
        args = grow_args(size, reqs, [["decode", [[uid, 1] for uid in uids]]] * 7)
        result = judge_growth(f"six requests, pages of {size}", args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok("six requests, four page sizes")


PROMPTS: list[tuple[str, dict[str, Any]]] = [
    (
        "whole prompts",
        grow_args(4, [[3, [1, 7, 0]], [5, [0, 4, 0]], [6, [2, 1, 0]]], [["prefill", [[3, 7], [5, 4], [6, 1]]]]),
    ),
    ("a prompt of 10 in pieces of 3", grow_args(4, [[3, [1, 10, 0]]], [["prefill", [[3, n]]] for n in (3, 3, 3, 1)])),
    (
        "the last piece of one prompt, the first of another",
        grow_args(4, [[3, [1, 10, 6]], [5, [0, 9, 0]]], [["prefill", [[3, 4], [5, 2]]], ["prefill", [[5, 7]]]]),
    ),
    (
        "two pages are there when the account opens",
        grow_args(
            2, [[3, [1, 9, 0]], [5, [0, 3, 0]]], [["prefill", [[3, 1], [5, 3]]], ["prefill", [[3, 4]]]], warm=[[3, 2]]
        ),
    ),
]


def check_prompts_and_pieces(ask: Ask, rng: Random) -> Result:
    """Whole prompts, pieces of prompts, and a prompt some of whose pages are there already."""
    for name, args in PROMPTS:
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(PROMPTS)} situations")


def check_all_or_none(ask: Ask, rng: Random) -> Result:
    """Too few pages for the whole batch: OutOfPages, the name of the first that cannot go on, nothing changed."""
    three = [[3, [1, 4, 4]], [5, [0, 5, 5]], [8, [2, 8, 8]]]
    decode = ["decode", [[3, 1], [5, 1], [8, 1]]]
    prompts = [[3, [1, 7, 0]], [5, [0, 4, 0]], [8, [2, 9, 0]]]
    for name, args in (
        ("one free page, two needed", grow_args(4, three, [decode, decode], pages=6)),
        ("no free page", grow_args(4, three, [decode], pages=5)),
        ("just enough", grow_args(4, three, [decode], pages=7)),
        ("4 pages for prompts of 7, 4 and 9", grow_args(4, prompts, [["prefill", [[3, 7], [5, 4], [8, 9]]]], pages=4)),
    ):
        result = judge_growth(name, args, ask("grow", args))
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_short_pools(ask: Ask, rng: Random) -> Result:
    """Random traffic on the shadow engine, the pool often short: what happens is what happens in the reference."""
    for _ in range(12):
        traffic = random_traffic(rng)
        fewest = max(-(-(len(prompt) + most - 1) // traffic.page_size) for _, _, prompt, most, _ in traffic.arrivals)
        pages = rng.randint(fewest, max(fewest, traffic.pages))
        traffic = Traffic(**{**asdict(traffic), "pages": pages, "late": rng.random() < 0.5})
        got, want = ask("schedule", asdict(traffic)), drive(traffic, WHOLE_PROMPTS)
        if got["broken"]:
            return Result.failed("books-do-not-add-up", f"in round {got['broken'][0]}: {got['broken'][1]}")
        for number, (expected, have) in enumerate(zip(want["rounds"], got["rounds"], strict=False)):
            if expected != have:
                return Result.failed("wrong-schedule", told(number, expected, have))
        if got["events"] != [list(event) for event in want["events"]]:
            return Result.failed("wrong-schedule", "the rounds are right, but not what they sample or how they end")
    return Result.ok("12 random schedules")


def check_pages_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, pages of 4 and of 1, more prompts than rows: Hugging Face's greedy tokens."""
    for size in (4, 1):
        prompts = rng.sample(list(ask.oracle()), ORACLE_PROMPTS)
        args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "slots": 3, "page_size": size}
        got = ask("generate", args, seconds=40.0)
        if [len(ids) for ids in got] != [ORACLE_TOKENS] * ORACLE_PROMPTS:
            return Result.failed("wrong-tokens", f"pages of {size}: not every request has its {ORACLE_TOKENS} tokens")
        result = compare_streams(prompts, got, bound=TIE_GAP, note=f"The page size is {size}.")
        if result.verdict != "ok":
            return result
    return result


# ---- 05.1 and 05.2 ----


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model through the whole engine, more prompts than rows: Hugging Face's greedy tokens."""
    prompts = rng.sample(list(ask.oracle()), ORACLE_PROMPTS)
    args = {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS, "slots": 3}
    got = ask("generate", args, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"request {number}: {len(ids)} tokens, expected {ORACLE_TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
