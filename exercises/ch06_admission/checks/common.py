"""What the checks of chapter 06 share. Runs in the judge, on the package's own modules; no torch."""

from __future__ import annotations

from random import Random
from typing import Any

from minisgl_lite.engine.shadow import next_token
from workbook.judge.drive import EOS, VOCAB, Traffic


def tokens_of(prompt: list[int], most: int, ignore_eos: bool) -> tuple[list[int], str]:
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


class Model:
    """A schedule by brute force: positions and lengths, no pages with numbers, no accounts, no adders.

    Whole prompts, prefill first, each request promised all that it may ever store. Nobody is overtaken more than
    `bound` times. Aborts only of requests that wait.
    """

    def __init__(self, traffic: Traffic, bound: int = 0) -> None:
        self.traffic, self.bound = traffic, bound
        self.length = {uid: len(tokens_of(p, most, ignore)[0]) for _, uid, p, most, ignore in traffic.arrivals}
        self.prompt = {uid: len(prompt) for _, uid, prompt, _, _ in traffic.arrivals}
        self.pages = {u: -(-(len(p) + most - 1) // traffic.page_size) for _, u, p, most, _ in traffic.arrivals}
        self.waiting: list[int] = []
        self.running: dict[int, int] = {}
        self.passed: dict[int, int] = {}

    def rounds(self) -> list[list[Any]]:
        """[phase, uids] of each round."""
        out: list[list[Any]] = []
        last, now = max([a[0] for a in (*self.traffic.arrivals, *self.traffic.aborts)]), 0
        while now <= last or self.waiting or self.running:
            for at, uid, *_ in self.traffic.arrivals:
                if at == now:
                    self.waiting.append(uid)
                    self.passed[uid] = 0
            for at, uid, _ in self.traffic.aborts:
                if at == now and uid in self.waiting:
                    self.waiting.remove(uid)
            if started := self._start():
                out.append(["prefill", started])
            elif self.running:
                out.append(["decode", sorted(self.running)])
                for uid in self.running:
                    self.running[uid] += 1
            self.running = {uid: n for uid, n in self.running.items() if n < self.length[uid]}
            now += 1
        return out

    def _start(self) -> list[int]:
        """Who starts in this round."""
        free, rows = self.traffic.pages - sum(self.pages[uid] for uid in self.running), self.traffic.slots
        started: list[int] = []
        refused: list[int] = []
        tokens = 0
        for uid in list(self.waiting):
            if rows == len(self.running) or len(refused) > self.bound:
                break
            if any(self.passed[other] >= self.bound for other in refused):
                break
            fits = tokens == 0 or tokens + self.prompt[uid] <= self.traffic.budget
            if self.pages[uid] > free or not fits:
                refused.append(uid)
                continue
            free, tokens = free - self.pages[uid], tokens + self.prompt[uid]
            self.running[uid] = 1
            self.waiting.remove(uid)
            started.append(uid)
            for other in refused:
                self.passed[other] += 1
        return started


def plain(uid: int, at: int, prompt: int, outputs: int) -> list[Any]:
    """An arrival of a request that ignores EOS."""
    return [at, uid, [(7 * uid + i) % VOCAB for i in range(prompt)], outputs, True]


def seen_rounds(got: dict[str, Any]) -> list[list[Any]]:
    """[phase, uids] of each round that a probe saw."""
    return [[phase, [entry[0] for entry in entries]] for phase, entries in got["rounds"]]


def told(number: int, want: list[Any] | None, have: list[Any] | None) -> str:
    """`round 3: prefill of requests 4, 5; expected prefill of request 4`."""

    def words(round_: list[Any] | None) -> str:
        return "nothing" if round_ is None else f"{round_[0]} of requests {', '.join(map(str, round_[1]))}"

    return f"round {number}: {words(have)}; expected {words(want)}"


def first_difference(want: list[Any], have: list[Any]) -> int | None:
    """The number of the first round that differs."""
    for number in range(max(len(want), len(have))):
        if want[number : number + 1] != have[number : number + 1]:
            return number
    return None


def tight_traffic(rng: Random) -> Traffic:
    """Requests that grow, in a pool that holds all of one and little more. Some end early."""
    size = rng.choice([1, 2, 3, 4])
    arrivals = []
    for uid in rng.sample(range(100), 14):
        prompt = [rng.randrange(VOCAB) for _ in range(rng.randint(1, 10))]
        arrivals.append([rng.randint(0, 12), uid, prompt, rng.randint(1, 16), rng.random() < 0.6])
    largest = max(up(len(p) + most - 1, size) for _, _, p, most, _ in arrivals)
    return Traffic(largest + rng.randint(0, largest), size, rng.randint(2, 6), 24, arrivals, late=rng.random() < 0.5)


def up(positions: int, size: int) -> int:
    """Pages for so many positions."""
    return -(-positions // size)
