"""How the answers to exercise 09.3 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any, NamedTuple

from workbook.judge.checklib import Ask, Result

from .common import asked, judge_answers, judge_run, random_traffic
from .situations import BY_HAND, FAILURES

ROWS = 4


class Standing(NamedTuple):
    """One request after one operation."""

    uid: int
    last_launch: int
    reason: str | None
    account: bool
    row: bool
    cached_len: int
    error: str


def judge_ops(ask: Ask, name: str, ops: list[list[Any]]) -> Result:
    """The rules, after each operation."""
    seen = ask("leave", {"ops": ops, "rows": ROWS})
    before: dict[str, Any] = {"launched": 0, "committed": 0, "reqs": [], "closed": [], "rows": ROWS}
    untold: set[int] = set()
    caps: dict[int, int] = {}
    for number, (op, now) in enumerate(zip(ops, seen, strict=True)):
        where = f"{name}: operation {number} ({' '.join(map(str, op))}), batches settled: {now['committed']}"
        slug, message = judge_failure(op, before, now, untold, caps) or judge_holdings(now) or ("", "")
        if slug:
            return Result.failed(slug, f"{where}: {message}")
        if now["broken"]:
            return Result.failed("books-do-not-add-up", f"{where}: {now['broken']}")
        if now["events"]:
            untold = set()
        was = {r[0]: r[2] for r in before["reqs"]}
        if op[0] == "abort":
            untold |= {r[0] for r in now["reqs"] if r[2] == "abort" and was.get(r[0]) is None}
        before = now
    return Result.ok()


def judge_holdings(now: dict[str, Any]) -> tuple[str, str] | None:
    """Who has ended holds a row and an account as long as a batch in flight names it, and no longer."""
    for r in (Standing(*values) for values in now["reqs"]):
        if r.reason is None or not r.last_launch:
            continue
        told = f"request {r.uid} has ended ({r.reason}); the last batch that names it is {r.last_launch}"
        if r.last_launch > now["committed"]:
            if not (r.account and r.row):
                return "given-back-too-early", f"{told} and in flight, but it holds no pages or no row any more"
        elif r.account and r.row:
            return "held-too-long", f"{told} and settled, but it still holds its row and its pages"
        elif r.account:
            return "account-left-open", f"{told} and settled, but its account is still open"
        elif r.row:
            return "row-not-cleared", f"{told} and settled, but it still has a table_idx"
    free = ROWS - sum(1 for values in now["reqs"] if Standing(*values).row)
    if now["rows"] != free:
        return "row-not-returned", f"{now['rows']} rows are free; expected {free}"
    return None


def judge_failure(
    op: list[Any], before: dict[str, Any], now: dict[str, Any], untold: set[int], caps: dict[int, int]
) -> tuple[str, str] | None:
    """A batch without tokens: settled, its requests aborted and told, nothing of it counted as computed.

    caps: uid -> the most positions that may count, as failures so far have it; this one is added.
    """
    if op[0] == "fail second":
        same = all(now[key] == before[key] for key in ("committed", "reqs", "closed", "rows"))
        if now["launched"] - before["committed"] > 1 and not (now["refused"] and same):
            return "settled-out-of-order", "it must be refused with an InvariantError, and nothing may have changed"
        return None
    if op[0] != "fail" or not now["batch"]:
        return None
    if now["committed"] != before["committed"] + 1:
        return "batch-not-settled", "a batch that failed is settled too, or those behind it can never be"
    starts = dict(now["batch"])
    lasting = {r[0]: Standing(*r) for r in before["reqs"]}
    for uid, start in starts.items():
        caps[uid] = min(start, caps.get(uid, start))
    for uid, cached_len in now["closed"][len(before["closed"]) :]:
        if cached_len > caps.get(uid, cached_len):
            what = f"request {uid} was closed with {cached_len} positions counted as computed; only {caps[uid]} are"
            return "counts-as-computed", what
    for r in (Standing(*values) for values in now["reqs"]):
        ended = lasting[r.uid].reason is None and r.reason is not None
        if r.uid not in starts:
            if ended or r.cached_len != lasting[r.uid].cached_len:
                return "hits-the-others", f"request {r.uid} is not in the batch, but it was changed"
        elif r.reason is None:
            return "lives-on", f"request {r.uid} was in the batch and still lives; nobody knows its next token"
        elif r.cached_len > caps[r.uid]:
            what = f"{r.cached_len} positions of request {r.uid} count as computed; only {caps[r.uid]} are"
            return "counts-as-computed", what
        elif bool(r.error) != (ended or bool(lasting[r.uid].error)):
            return "wrong-error", f"request {r.uid}: error is {r.error!r}; it is set on those whom the failure ended"
    aborted = sorted(uid for uid in starts if lasting[uid].reason is None)
    told = sorted(event[0] for event in now["events"] if event[2] == "abort")
    if told != sorted([*aborted, *untold]):
        return "abort-not-told-once", f"aborts delivered for {told}; expected {sorted([*aborted, *untold])}"
    return None


def check_by_hand(ask: Ask, rng: Random) -> Result:
    """Ends by stop, length and abort, with one and two batches in flight."""
    for name, ops in BY_HAND:
        result = judge_ops(ask, name, ops)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(BY_HAND)} situations")


def check_a_batch_that_fails(ask: Ask, rng: Random) -> Result:
    """Batches whose forward pass raised."""
    for name, ops in FAILURES:
        result = judge_ops(ask, name, ops)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(FAILURES)} situations")


def check_random_orders(ask: Ask, rng: Random) -> Result:
    """Anything in any order, up to three batches in flight."""
    for number in range(6):
        ops: list[list[Any]] = []
        flying = uid = 0
        for _ in range(60):
            kind = rng.choices(["submit", "plan", "settle", "abort", "fail second"], [3, 6, 5, 2, 1])[0]
            if kind == "submit":
                ops.append(["submit", uid, rng.randint(1, 5), rng.randint(1, 6)])
                uid += 1
            elif kind == "plan" and flying < 3:
                ops.append(["plan"])
                flying += 1
            elif kind == "settle" and flying:
                stops = [[rng.randrange(uid), 3]] if uid and rng.random() < 0.4 else []
                ops.append(["fail"] if rng.random() < 0.2 else ["commit", stops])
                flying -= 1
            elif kind == "abort" and uid:
                ops.append(["abort", rng.randrange(uid)])
            elif kind == "fail second" and flying > 1:
                ops.append(["fail second"])
        result = judge_ops(ask, f"random order {number}", ops)
        if result.verdict != "ok":
            return result
    return Result.ok("6 random orders")


def check_random_streams(ask: Ask, rng: Random) -> Result:
    """Random traffic on the shadow engine run late, with a prefix cache, aborts and launches that fail."""
    for number in range(12):
        traffic = random_traffic(rng)
        fails = tuple(rng.sample(range(1, 30), 3)) if number % 2 else ()
        result = judge_run(traffic, ask("schedule", asked(traffic, "radix", fails=fails)), bool(fails))
        if result.verdict != "ok":
            return result
    return Result.ok("12 random schedules")


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model with overlap and a prefix cache: Hugging Face's tokens, up to each stop."""
    return judge_answers(ask, rng, "radix", 4)
