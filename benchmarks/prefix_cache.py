"""What the prefix cache and admission cost on the host.

    python benchmarks/prefix_cache.py

1. Match and insert of a 100,000-token prompt, half of which is cached, in a radix tree of 1,000,000 cached tokens,
   beside a dictionary of chained page hashes, as vLLM keeps: hash of (hash of the pages before, tokens of the page) ->
   page. Interleaved repeats in one process. The dictionary keeps no ages, which flatters it a little.
2. Admission from a queue of n requests, per request: the whole queue is served on the virtual engine.
3. A decode round while a long prompt waits at the head of the queue for pages: with a cached beginning it must not be
   searched for in every round.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import time
from array import array
from collections.abc import Callable

from common import machine

from minisgl_lite.assembly import Schedule, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.radix import RadixTree

VOCAB = 150_000
CLOCK = time.process_time if time.get_clock_info("process_time").resolution < 1e-6 else time.perf_counter
"""Processor time where it is fine enough: what else runs on the machine does not count."""
TEXT = 2_000
"""Tokens of each of the texts that fill the cache."""


def text(rnd: random.Random, n: int) -> list[int]:
    return [rnd.randrange(VOCAB) for _ in range(n)]


def fresh(ids: list[int]) -> list[int]:
    """The same numbers as new objects: comparing a list with itself would be too easy."""
    return array("q", ids).tolist()


def milliseconds(work: Callable[[], None]) -> float:
    gc.collect()
    gc.disable()
    start = CLOCK()
    work()
    took = (CLOCK() - start) * 1e3
    gc.enable()
    return took


class Tree:
    """The radix tree, full of texts."""

    def __init__(self, texts: list[list[int]], page_size: int) -> None:
        self.size, self.tree = page_size, RadixTree(page_size)
        for ids in texts:
            self.match_and_insert(ids)

    def match_and_insert(self, ids: list[int]) -> None:
        whole = len(ids) // self.size
        node, there = self.tree.match(ids)
        self.tree.insert(node, ids[len(there) * self.size : whole * self.size], list(range(len(there), whole)))

    def cached(self, ids: list[int]) -> int:
        return len(self.tree.match(ids)[1]) * self.size

    def forget(self, ids: list[int], keep: int) -> None:
        """Take out what was inserted of `ids` behind its first `keep` tokens, and nothing else."""
        node, pages = self.tree.match(ids[:keep])
        beyond, more = self.tree.match(ids)
        assert beyond.parent is node
        beyond.used = -1  # the oldest: next to go
        self.tree.evict(len(more) - len(pages))


class Hashes:
    """Page hashes in a chain: the key of a page is the hash of everything up to its end."""

    def __init__(self, texts: list[list[int]], page_size: int) -> None:
        self.size = page_size
        self.pages: dict[int, int] = {}
        for ids in texts:
            self.match_and_insert(ids)

    def keys(self, ids: list[int]) -> list[int]:
        keys, key, size = [], 0, self.size
        for end in range(size, len(ids) + 1, size):
            key = hash((key, tuple(ids[end - size : end])))
            keys.append(key)
        return keys

    def found(self, keys: list[int]) -> list[int]:
        pages = []
        for key in keys:
            page = self.pages.get(key)
            if page is None:
                break
            pages.append(page)
        return pages

    def match_and_insert(self, ids: list[int]) -> None:
        keys = self.keys(ids)
        for n, key in enumerate(keys[len(self.found(keys)) :]):
            self.pages[key] = n

    def cached(self, ids: list[int]) -> int:
        return len(self.found(self.keys(ids))) * self.size

    def forget(self, ids: list[int], keep: int) -> None:
        for key in self.keys(ids)[keep // self.size :]:
            del self.pages[key]


def compare(page_size: int, cached: int, prompt: int, repeats: int) -> None:
    """One table row for each structure."""
    rnd = random.Random(page_size)
    half = text(rnd, prompt // 2)
    texts = [half] + [text(rnd, TEXT) for _ in range((cached - len(half)) // TEXT)]
    structures = [Tree(texts, page_size), Hashes(texts, page_size)]
    times: list[list[float]] = [[], []]
    for _ in range(repeats):
        ids = half + text(rnd, prompt - len(half))
        for structure, out in zip(structures, times, strict=True):
            assert structure.cached(ids) == len(half)
            mine = fresh(ids)
            out.append(milliseconds(lambda s=structure, m=mine: s.match_and_insert(m)))  # type: ignore[misc]
            assert structure.cached(ids) == prompt
            structure.forget(ids, len(half))
    slow = statistics.median(times[1])
    for name, out in zip(("radix tree", "page hashes"), times, strict=True):
        median, best, worst = statistics.median(out), min(out), max(out)
        cells = [page_size, name, f"{median:.2f}", f"{best:.2f} to {worst:.2f}", f"{slow / median:.1f}"]
        print("|", " | ".join(map(str, cells)), "|", flush=True)


def schedule(pages: int, **options: object) -> Schedule:
    config = EngineConfig(**{"cache_type": "radix", "overlap": False, **options})  # type: ignore[arg-type]
    return assemble_scheduler(config, pages, lambda _: VirtualEngine(lambda uid, position: 5))


def serve(waiting: int, rnd: random.Random) -> float:
    """Microseconds a request: admit, prefill, finish, with two decode rounds between."""
    s = schedule(20_000, page_size=16, max_running_req=256)
    beginning = text(rnd, 32)
    for uid in range(waiting):
        s.scheduler.submit(Req(uid, beginning + text(rnd, 32), SamplingParams(max_tokens=3, ignore_eos=True)))

    def drain() -> None:
        while s.loop.has_work:
            s.loop.step()

    return milliseconds(drain) * 1e3 / waiting


def blocked(head: int, rnd: random.Random, rounds: int) -> float:
    """Microseconds of a decode round of one request while a prompt of `head` cached tokens waits for pages."""
    prompt = text(rnd, head)
    s = schedule(head + 4_096, max_extend_tokens=head)
    s.scheduler.submit(Req(0, prompt, SamplingParams(max_tokens=1, ignore_eos=True)))
    s.loop.step()
    s.scheduler.submit(Req(1, text(rnd, 16), SamplingParams(max_tokens=4_000, ignore_eos=True)))
    s.loop.step()
    s.scheduler.submit(Req(2, prompt, SamplingParams(max_tokens=2_000, ignore_eos=True)))
    took = [milliseconds(lambda: s.loop.step() and None) * 1e3 for _ in range(rounds)]
    assert all(r.phase == "decode" and r.waiting == 1 for r in list(s.recorder.rounds)[-rounds:])
    return statistics.median(took)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cached", type=int, default=1_000_000, help="tokens in the cache")
    parser.add_argument("--prompt", type=int, default=100_000, help="tokens of the prompt; half of them are cached")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--waiting", type=int, nargs="*", default=[1_000, 10_000, 100_000])
    args = parser.parse_args()
    print(machine())
    print(f"\nmatch + insert of {args.prompt:,} tokens, {args.cached:,} cached, {args.repeats} repeats\n")
    print("| page size | structure | median ms | min to max | page hashes ÷ it |")
    print("|--:|---|--:|--:|--:|")
    for page_size in (1, 16):
        compare(page_size, args.cached, args.prompt, args.repeats)
    print("\n| waiting requests | µs a request, all served |\n|--:|--:|")
    for waiting in args.waiting:
        print(f"| {waiting:,} | {serve(waiting, random.Random(waiting)):.0f} |", flush=True)
    print("\n| cached tokens of the head that waits | µs of a decode round, median |\n|--:|--:|")
    for head in (16, args.prompt):
        print(f"| {head:,} | {blocked(head, random.Random(head), 200):.0f} |", flush=True)


if __name__ == "__main__":
    main()
