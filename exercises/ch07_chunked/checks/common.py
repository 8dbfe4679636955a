"""What the checks of chapter 07 share: a schedule by brute force. Runs in the judge; no torch."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

from minisgl_lite.engine.shadow import next_token
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams, show_round
from workbook.judge.drive import EMPTY_BATCH, EOS, VOCAB, Traffic

ORACLE_TOKENS = 12
BUDGET = 7


def up(positions: int, size: int) -> int:
    """Pages for so many positions."""
    return -(-positions // size)


def tokens_of(prompt: list[int], most: int, ignore_eos: bool) -> list[int]:
    """The tokens of one request on the shadow engine."""
    tokens, out = list(prompt), []
    while len(out) < most and (ignore_eos or not out or out[-1] not in EOS):
        out.append(next_token(tokens, VOCAB))
        tokens.append(out[-1])
    return out


class Model:
    """A schedule by brute force: numbers of tokens and of pages, no adder, no accounts, no page has a number.

    Prompts in pieces, at most one half-way and that one first; each request is promised all that it may ever store
    when its first piece starts. prefills: how many prefill rounds a decode may wait for; None: as many as there are.
    keeps: a prefill round for which nobody waits leaves their count as it is.
    """

    def __init__(self, traffic: Traffic, prefills: int | None = None, keeps: bool = False) -> None:
        self.traffic, self.prefills, self.keeps = traffic, prefills, keeps
        self.prompt = {uid: len(prompt) for _, uid, prompt, *_ in traffic.arrivals}
        self.length = {uid: len(tokens_of(p, most, ignore)) for _, uid, p, most, ignore in traffic.arrivals}
        self.pages = {u: up(len(p) + most - 1, traffic.page_size) for _, u, p, most, _ in traffic.arrivals}
        self.waiting: list[int] = []
        self.computed: dict[int, int] = {}
        """uid -> prompt tokens computed, for each that has a row."""
        self.told: dict[int, int] = {}
        """uid -> tokens generated, for each in the decode set."""
        self.waited = 0

    def rounds(self) -> list[list[Any]]:
        """[phase, [[uid, cached_len, tokens], ...]] of each round."""
        out: list[list[Any]] = []
        last, now = max(a[0] for a in (*self.traffic.arrivals, *self.traffic.aborts)), 0
        while now <= last or self.waiting or self.computed:
            self.waiting += [a[1] for a in self.traffic.arrivals if a[0] == now]
            self._forget(uid for at, uid, flying in self.traffic.aborts if at == now and not flying)
            if round_ := self._round():
                out.append(round_)
            self._forget(uid for at, uid, flying in self.traffic.aborts if at == now and flying)
            self._forget([uid for uid, n in self.told.items() if n == self.length[uid]])
            now += 1
        return out

    def _forget(self, uids: Any) -> None:
        for uid in uids:
            self.waiting = [other for other in self.waiting if other != uid]
            self.computed.pop(uid, None)
            self.told.pop(uid, None)

    def _round(self) -> list[Any] | None:
        running = sorted(self.told)
        due = bool(running) and self.prefills is not None and self.waited >= self.prefills
        if not due and (entries := self._pieces()):
            self.waited = self.waited + 1 if running else self.waited * self.keeps
            return ["prefill", entries]
        self.waited = 0
        entries = [[uid, self.prompt[uid] + self.told[uid] - 1, 1] for uid in running]
        for uid in running:
            self.told[uid] += 1
        return ["decode", entries] if entries else None

    def _pieces(self) -> list[list[int]]:
        left, entries = self.traffic.budget, []
        half = [uid for uid, n in self.computed.items() if n < self.prompt[uid]]
        for uid in half + self.waiting:
            if left == 0 or (uid not in half and not self._fits(uid)):
                break
            start = self.computed.get(uid, 0)
            n = min(self.prompt[uid] - start, left)
            entries.append([uid, start, n])
            self.computed[uid], left = start + n, left - n
            if start + n == self.prompt[uid]:
                self.told[uid] = 1
        self.waiting = [uid for uid in self.waiting if uid not in self.computed]
        return entries

    def _fits(self, uid: int) -> bool:
        free = self.traffic.pages - sum(self.pages[other] for other in self.computed)
        return len(self.computed) < self.traffic.slots and self.pages[uid] <= free


def plain(uid: int, at: int, prompt: int, outputs: int) -> list[Any]:
    """An arrival of a request that ignores EOS."""
    return [at, uid, [(7 * uid + i) % VOCAB for i in range(prompt)], outputs, True]


def random_traffic(rng: Random, aborts: bool = True) -> Traffic:
    """Prompts longer and shorter than a small budget, few rows, a pool that is often short; uids out of order."""
    size, budget = rng.choice([1, 2, 4]), rng.randint(1, 12)
    arrivals = []
    for uid in rng.sample(range(100), 10):
        prompt = [rng.randrange(VOCAB) for _ in range(rng.randint(1, 30))]
        arrivals.append([rng.randint(0, 30), uid, prompt, rng.randint(1, 8), rng.random() < 0.6])
    largest = max(up(len(p) + most - 1, size) for _, _, p, most, _ in arrivals)
    pages, late = largest + rng.randint(0, 2 * largest), rng.random() < 0.5
    gone = [[rng.randint(0, 45), a[1], rng.random() < 0.5] for a in rng.sample(arrivals, 5)] if aborts else []
    born = {uid: at for at, uid, *_ in arrivals}
    gone = [[max(at, born[uid]), uid, flying] for at, uid, flying in gone]
    return Traffic(pages, size, rng.randint(1, 5), budget, arrivals, gone, late)


def name_difference(want: list[Any] | None, have: list[Any] | None, budget: int) -> str:
    """What the first round that differs says about the mistake."""
    if have is None:
        return "stops-too-early"
    if have[0] == "prefill" and sum(entry[2] for entry in have[1]) > budget:
        return "budget-overrun"
    if want is None or want[0] != have[0]:
        return "prefill-out-of-turn" if have[0] == "prefill" else "stops-too-early"
    wanted, got = [entry[0] for entry in want[1]], [entry[0] for entry in have[1]]
    if wanted[: len(got)] == got and len(got) < len(wanted):
        return "budget-left-over"
    if got[:1] != wanted[:1]:
        return "wrong-turn"
    return "wrong-piece" if got == wanted else "let-in-too-early"


def judge(ask: Ask, probe: str, traffic: Traffic, prefills: int | None = None) -> Result:
    """A whole schedule beside the brute force: first the books, then each round, then each token."""
    got = ask(probe, {"traffic": asdict(traffic), "prefills": prefills})
    if got["broken"]:
        slug = "empty-batch" if got["broken"][1] == EMPTY_BATCH else "books-do-not-add-up"
        return Result.failed(slug, f"in round {got['broken'][0]}: {got['broken'][1]}")
    want, have = Model(traffic, prefills).rounds(), got["rounds"]
    if have != want and have == (other := Model(traffic, prefills, keeps=True).rounds()):
        want = other
    for number in range(max(len(want), len(have))):
        expected, seen = [*want, None][min(number, len(want))], [*have, None][min(number, len(have))]
        if expected != seen:
            slug = name_difference(expected, seen, traffic.budget)
            shown = ["nothing" if r is None else show_round(r) for r in (seen, expected)]
            message = f"budget {traffic.budget}, round {number}: {shown[0]}; expected {shown[1]}"
            return Result.failed(slug, f"{message} (uid:start+tokens)")
    return judge_tokens(traffic, got)


def judge_tokens(traffic: Traffic, got: dict[str, Any]) -> Result:
    """Whether each request has the tokens that it has when it is alone."""
    gone = {abort[1] for abort in traffic.aborts}
    for _, uid, prompt, most, ignore in traffic.arrivals:
        tokens = [token for who, token, _ in got["events"] if who == uid and token is not None]
        want = tokens_of(prompt, most, ignore)
        if tokens != want[: len(tokens)] or (uid not in gone and tokens != want):
            return Result.failed("wrong-tokens", f"request {uid}: the rounds are right, its tokens {tokens} are not")
    if (got["rows"], got["pages"]) != (traffic.slots, traffic.pages):
        return Result.failed("resources-not-returned", f"idle with {got['rows']} rows and {got['pages']} pages free")
    return Result.ok(f"{len(got['rounds'])} rounds")


def random_schedules(ask: Ask, rng: Random, probe: str, *orders: int | None, aborts: bool = True) -> Result:
    """Eight random schedules; a failure tells what `judge` says of the first that is wrong."""
    for number in range(8):
        result = judge(ask, probe, random_traffic(rng, aborts), orders[number % len(orders)])
        if result.verdict != "ok":
            return result
    return Result.ok("8 random schedules")


def end_to_end(ask: Ask, rng: Random, prefills: int | None = None) -> Result:
    """The bundled model with prompts in pieces, beside others that decode: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 40], 4)
    args = {"prompts": [list(p.ids) for p in prompts], "budget": BUDGET, "page_size": 4, "prefills": prefills}
    got = ask("generate", {**args, "max_tokens": ORACLE_TOKENS}, seconds=60.0)
    if max(got["budgets"]) > BUDGET:
        return Result.failed("budget-overrun", f"a round computes {max(got['budgets'])} tokens of {BUDGET}")
    if [len(ids) for ids in got["ids"]] != [ORACLE_TOKENS] * len(prompts):
        return Result.failed("wrong-tokens", f"not every request has its {ORACLE_TOKENS} tokens")
    return compare_streams(prompts, got["ids"], bound=TIE_GAP, note=f"The budget is {BUDGET}.")
