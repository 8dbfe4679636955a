"""How the answers to exercise 05.1 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.judge.drive import EMPTY_BATCH, Traffic, drive
from workbook.judge.same import same

from .common import WHOLE_PROMPTS, check_end_to_end, plain, random_traffic, told


Answer = tuple[int, str, dict[str, int]]
"""What the adder must say, what it would mean to say otherwise, and its counts afterwards."""


def answers(args: dict[str, Any]) -> list[Answer]:
    """What the adder must say to each request."""
    rows, budget, size = args["rows"], args["budget"], args["page_size"]
    free, reserved, tokens = args["pages"], 0, 0
    out: list[Answer] = []
    for uid, prompt in enumerate(args["prompts"]):
        warm = dict(args["warm"]).get(uid, 0)
        need, n = -(-prompt // size) - warm, prompt - warm * size
        said, too_early = 0, warm and -(-prompt // size) > free - warm - reserved
        otherwise = "need-before-open" if too_early else "fitting-request-refused"
        if rows == 0:
            otherwise = "row-ignored"
        elif need > free - warm - reserved:
            otherwise = "pages-promised-twice" if need <= free - warm else "pages-ignored"
            if warm and need <= free - reserved:
                otherwise = "room-before-open"
        elif tokens and tokens + n > budget:
            otherwise = "budget-ignored"
        else:
            said, rows, reserved, tokens, free = n, rows - 1, reserved + need, tokens + n, free - warm
        out.append((said, otherwise, {"reserved": reserved, "tokens": tokens}))
    return out


HALF_WARM: dict[str, Any] = {"page_size": 2, "warm": [[0, 2]]}
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
    ("5 pages of 2, 2 of them hold the first half of a prompt of 8", {"prompts": [8], "pages": 5, **HALF_WARM}),
    ("3 pages of 2, 2 of them hold the first half of a prompt of 8", {"prompts": [8], "pages": 3, **HALF_WARM}),
    ("a cached part that makes the budget fit", {"prompts": [6, 6], "page_size": 2, "budget": 8, "warm": [[1, 2]]}),
]


def situation(**changed: Any) -> dict[str, Any]:
    """A situation for one adder: plenty of everything but for what is changed."""
    return {"rows": 4, "pages": 40, "page_size": 1, "budget": 64, "warm": [], **changed}


def check_one_request(ask: Ask, rng: Random) -> Result:
    """Is each request admitted, or refused, as it should be?"""
    for name, changed in SITUATIONS:
        args = situation(**changed)
        earlier: list[Result] = []
        before: dict[str, Any] = args
        for uid, (seen, (want, otherwise, _)) in enumerate(zip(ask("adder", args), answers(args), strict=True)):
            got, prompt = seen["answer"], args["prompts"][uid]
            if got is True or got is False or type(got) is not int:
                return Result.failed("no-number", f"{name}: try_add returned {got!r}, not a number of tokens")
            if want and got == prompt != want:
                otherwise = "cached-part-recomputed"
            cached = args["page_size"] * dict(args["warm"]).get(uid, 0)
            if want and not same(cached, seen["cached"]):
                message = f"{name}: try_add moved cached_len of request {uid} from {cached} to {seen['cached']}"
                return Result.failed("admission-moves-the-request", f"{message}; that is plan's business, afterwards")
            if got != want:
                message = f"{name}: request {uid} ({prompt} tokens): try_add said {got}, expected {want}"
                if otherwise == "room-before-open":
                    message += ": open may take room away (it locks what it finds), so room() is asked after open"
                because = next((result for result in earlier if result.verdict != "ok"), None)
                if because is not None and not got:
                    return Result.failed(because.diagnosis, f"{message}, because {because.message}")
                return Result.failed(otherwise, message)
            if want and not seen["row"]:
                return Result.failed("no-row", f"{name}: request {uid} was admitted, but has no table_idx")
            earlier.append(judge_taken(uid, want, before, seen, dict(args["warm"]).get(uid, 0)))
            before = seen
    return judge_counts(ask)


def judge_taken(uid: int, said: int, before: dict[str, Any], seen: dict[str, Any], warm: int) -> Result:
    """What one answer has taken: a row where the request was admitted, and no page but those that `open` found."""
    for what, taken in (("rows", 1), ("pages", warm)):
        want = before[what] - (taken if said else 0)
        if same(want, seen[what]):
            continue
        message = f"request {uid} was {'admitted' if said else 'refused'}, and of {before[what]} free {what}"
        message += f" {seen[what]} are left; expected {want}"
        if not said:
            return Result.failed("refusal-left-something", f"{message}: a refusal changes nothing")
        if what == "rows":
            return Result.failed("not-one-row", f"{message}: an admitted request takes one row, once")
        return Result.failed("pages-taken-early", f"{message}: try_add reserves pages, plan hands them out")
    return Result.ok()


def judge_counts(ask: Ask) -> Result:
    """What the adder counts after each answer."""
    for name, changed in SITUATIONS:
        args = situation(**changed)
        before: dict[str, Any] = args
        for uid, (seen, (said, _, counts)) in enumerate(zip(ask("adder", args), answers(args), strict=True)):
            for what in ("reserved", "tokens"):
                if same(want := counts[what], seen[what]):
                    continue
                message = f"{name}: after request {uid}, {what} is {seen[what]}; expected {want}"
                if what == "reserved" and dict(args["warm"]).get(uid):
                    message += ": need(req) counts the pages that open found, so it is asked after open"
                    return Result.failed("need-before-open", message)
                return Result.failed(f"{what}-not-counted", message)
            taken = judge_taken(uid, said, before, seen, dict(args["warm"]).get(uid, 0))
            if said and taken.verdict != "ok":
                return Result.failed(taken.diagnosis, f"{name}: {taken.message}")
            before = seen
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
        for uid, (_, seen) in enumerate(zip(args["prompts"], ask("adder", args), strict=True)):
            after = {key: seen[key] for key in before}
            if seen["answer"] == 0 and not same(before, after):
                what = next(key for key in before if not same(before[key], after[key]))
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
        if not same(expected, have):
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


def check_placed_is_told(ask: Ask, rng: Random) -> Result:
    """Is each request added and announced with what try_add said of it, and does `placed` take it out of the queue?"""
    for warm, most in (([], 0), ([[1, 4]], 0), ([], 2)):
        args = {"rows": 3, "budget": 9, "prompts": [3, 6, 2, 1], "warm": warm, "most": most}
        result = judge_placed(args, ask("placed", args))
        if result.verdict != "ok":
            return result
    return Result.ok()


def judge_placed(args: dict[str, Any], got: dict[str, Any]) -> Result:
    """One round's batch beside what the adder answered and what `placed` was told."""
    for uid, cached in got["moved"]:
        message = f"cached_len of request {uid} is {cached} when the batch is returned"
        return Result.failed("admission-moves-the-request", f"{message}; that is plan's business, afterwards")
    scene = ""
    if args["warm"]:
        scene = f"open finds {args['warm'][0][1]} positions of request {args['warm'][0][0]}: "
    if args["most"]:
        scene = f"an adder that gives a request at most {args['most']} tokens a round, as in chapter 07: "
    said = {uid: n for uid, n in got["said"] if n}
    for what, numbers in (("batch.add was given", got["entries"]), ("placed was told", got["told"])):
        for uid, n in numbers:
            if uid in said and n != said[uid]:
                message = f"{scene}try_add said {said[uid]} of request {uid}, {what} {n}"
                return Result.failed("not-what-try-add-said", message)
    if not same(got["entries"], got["told"]):
        message = f"the batch holds (uid, tokens) {got['entries']}, placed was told of {got['told']}"
        return Result.failed("placed-not-told", f"{message}; in chapter 07, placed may keep a request in the queue")
    if stayed := [uid for uid, _ in got["entries"] if uid in got["pending"]]:
        return Result.failed("queue-not-left", f"{scene}requests {stayed} were added, but are still queued")
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


def check_random_queues(ask: Ask, rng: Random) -> Result:
    """Random traffic: the rounds of the reference."""
    for _ in range(12):
        result = compare_schedules(ask, random_traffic(rng))
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")
