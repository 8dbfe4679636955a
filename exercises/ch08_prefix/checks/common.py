"""What the checks of chapter 08 share: a brute force of the tree, random traffic, prompts that share beginnings."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.engine.shadow import next_token
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.prefix import PrefixCacheManager
from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams
from workbook.judge.drive import EOS, VOCAB, Traffic, drive

Text = tuple[int, ...]
CACHED = Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, cache=PrefixCacheManager)


@dataclass
class Model:
    """The tree as a dictionary: text -> page; no nodes, no counters."""

    size: int
    pages: dict[Text, int] = field(default_factory=dict)
    used: dict[Text, int] = field(default_factory=dict)
    locked: dict[str, Text] = field(default_factory=dict)
    time: int = 0

    def beginnings(self, ids: list[int]) -> list[Text]:
        """The beginnings of a text in whole pages, shortest first."""
        return [tuple(ids[:end]) for end in range(self.size, len(ids) + 1, self.size)]

    def match(self, ids: list[int]) -> list[Text]:
        """The cached beginnings; they are used now."""
        self.time += 1
        found = [text for text in self.beginnings(ids) if text in self.pages]
        self.used.update(dict.fromkeys(found, self.time))
        return found

    def insert(self, ids: list[int], pages: list[int]) -> None:
        """What is not there yet takes its page."""
        for text, page in zip(self.beginnings(ids), pages, strict=True):
            if self.pages.setdefault(text, page) == page:
                self.used[text] = self.time

    def apply(self, op: list[Any]) -> list[Text]:
        """One operation of `probe_tree` other than evict; the cached beginnings that it finds."""
        if op[0] == "unlock":
            del self.locked[op[1]]
            return []
        found = self.match(op[1])
        if op[0] in ("insert", "keep"):
            self.insert(op[1], op[2])
        if op[0] == "keep":
            self.locked[op[3]] = tuple(op[1])
        elif op[0] == "lock":
            self.locked[op[2]] = found[-1] if found else ()
        return found

    def locks(self, text: Text) -> int:
        """How many locks protect the page that ends this text."""
        return sum(end[: len(text)] == text for end in self.locked.values())

    def ends(self) -> list[Text]:
        """Texts without a lock behind which nothing is cached."""
        return [
            text
            for text in self.pages
            if not self.locks(text) and not any(len(o) > len(text) and o[: len(text)] == text for o in self.pages)
        ]

    def evict(self, n: int) -> list[int]:
        """The least recently used page that nobody needs, n times over."""
        out = []
        for _ in range(n):
            oldest = min(self.ends(), key=self.used.__getitem__)
            out.append(self.pages.pop(oldest))
            del self.used[oldest]
        return out

    @property
    def evictable(self) -> int:
        """Pages without a lock."""
        return sum(not self.locks(text) for text in self.pages)


def random_ops(rng: Random, size: int, count: int, kinds: str) -> list[list[Any]]:
    """Texts over few letters, so that many begin alike; letters as long as a page, some with a part of a page behind.

    kinds: m(atch), i(nsert), k(eep), l(ock), u(nlock), e(vict), each as often as it is named.
    """
    model, ops, fresh = Model(size), [], 0
    for _ in range(count):
        words = [rng.choice("aabc") for _ in range(rng.randint(0, 7))]
        ids = [ord(word) for word in words for _ in range(size)]
        kind = rng.choice(kinds)
        if kind in "ik":
            pages = list(range(fresh, fresh + len(words)))
            fresh += len(words)
            ops.append(["keep", ids, pages, str(len(ops))] if kind == "k" else ["insert", ids, pages])
            model.apply(ops[-1])
        elif kind in "ml":
            ids += [rng.choice((ord("a"), 1))] * rng.randrange(size)
            ops.append(["lock", ids, str(len(ops))] if kind == "l" else ["match", ids])
            model.apply(ops[-1])
        elif kind == "u" and model.locked:
            ops.append(["unlock", rng.choice(list(model.locked))])
            model.apply(ops[-1])
        elif kind == "e":
            n = rng.randint(0, min(5, model.evictable))
            model.evict(n)
            ops.append(["evict", n])
    return ops


def show(op: list[Any]) -> str:
    """An operation in a message."""
    text = " ".join(str(part) for part in op)
    return text if len(text) < 90 else text[:89] + "…"


def random_traffic(rng: Random, pages: int = 0) -> Traffic:
    """Prompts that begin alike, equal ones among them, against few rows and a pool that is often short."""
    size, slots = rng.choice([1, 2, 4]), rng.randint(2, 4)
    stems = [[rng.randrange(VOCAB) for _ in range(12)] for _ in range(2)]
    arrivals = []
    for uid in rng.sample(range(100), 18):
        prompt = rng.choice(stems)[: rng.randint(1, 12)] + [rng.randrange(4) for _ in range(rng.randint(0, 4))]
        if arrivals and rng.random() < 0.3:
            prompt = list(rng.choice(arrivals)[2])
        arrivals.append([rng.randint(0, 25), uid, prompt, rng.randint(1, 6), rng.random() < 0.5])
    aborts = [[rng.randint(0, 30), arrival[1], rng.random() < 0.5] for arrival in rng.sample(arrivals, 4)]
    pool = pages or -(-21 // size) + rng.randint(0, 20)
    return Traffic(pool, size, slots, rng.randint(6, 24), arrivals, aborts, late=rng.random() < 0.5)


def judge_schedule(ask: Ask, traffic: Traffic) -> Result:
    """Every stream is what it is alone, the books add up, and nothing is computed that the reference does not."""
    got, want = ask("schedule", asdict(traffic)), drive(traffic, CACHED)
    if got["broken"]:
        return Result.failed("books-do-not-add-up", f"in round {got['broken'][0]}: {got['broken'][1]}")
    for _, uid, prompt, most, ignore in traffic.arrivals:
        tokens = [token for who, token, _ in got["events"] if who == uid and token is not None]
        alone = stream(prompt, most, ignore)
        if tokens != alone[: len(tokens)]:
            return Result.failed("reads-the-wrong-pages", f"request {uid}: tokens {tokens}; alone it has {alone}")
    computed, least = (sum(e[2] for r in run["rounds"] for e in r[1]) for run in (got, want))
    if computed > least:
        message = f"{computed} tokens were computed, {least} in the reference: something cached was not found"
        return Result.failed("computed-twice", message)
    if got["rounds"] != want["rounds"] or got["events"] != [list(event) for event in want["events"]]:
        return Result.failed("wrong-schedule", "the rounds or their events differ from the reference's")
    return Result.ok(f"{len(want['rounds'])} rounds")


def stream(prompt: list[int], most: int, ignore_eos: bool) -> list[int]:
    """The tokens of one request that is alone on the shadow engine."""
    tokens = list(prompt)
    while len(tokens) < len(prompt) + most:
        tokens.append(next_token(tokens, VOCAB))
        if tokens[-1] in EOS and not ignore_eos:
            break
    return tokens[len(prompt) :]


@dataclass(frozen=True)
class Turn:
    """A recorded run of Hugging Face, seen from a later turn: what was generated before is part of the prompt."""

    ids: list[int]
    output_ids: list[int]
    gaps: list[float]


def judge_turns(ask: Ask, rng: Random, size: int, pages: int, rows: int = 3) -> Result:
    """Two turns of a few conversations on the bundled model: Hugging Face's tokens; the second finds the first.

    The second prompt is the first with the first eight tokens of its answer; its last token is always computed.
    """
    runs = rng.sample([run for run in ask.oracle() if 8 <= len(run.ids) <= 60 and len(run.output_ids) >= 24], 5)
    first = [Turn(list(r.ids), list(r.output_ids), list(r.gaps)) for r in runs]
    second = [Turn([*t.ids, *t.output_ids[:8]], t.output_ids[8:], t.gaps[8:]) for t in first]
    turns = [[[t.ids for t in first], 12], [[t.ids for t in second], 12]]
    args = {"turns": turns, "pages": pages, "page_size": size, "rows": rows}
    got = ask("turns", args, seconds=60.0)
    for number, (expected, tokens) in enumerate(zip((first, second), got["tokens"], strict=True)):
        if [len(ids) for ids in tokens] != [12] * len(runs):
            return Result.failed("wrong-tokens", f"pages of {size}: not every request has its 12 tokens")
        note = f"Turn {number + 1}, pages of {size}, {pages} of them."
        result = compare_streams(expected, tokens, bound=TIE_GAP, note=note)
        if result.verdict != "ok":
            return result
    if pages * size >= 2048:  # nothing was evicted: what the first turn left must be found, to the last whole page
        want = [(len(t.ids) - 1) // size * size for t in second]
        if got["found"][1] != want:
            message = f"pages of {size}: the second turn found {got['found'][1]} tokens cached; expected {want}"
            return Result.failed("second-turn-not-found", message)
    return Result.ok(f"{len(runs)} conversations")
