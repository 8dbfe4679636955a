"""The tree against a dictionary: text -> page, a time for each page, and the set of locked texts."""

from __future__ import annotations

from itertools import count

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from minisgl_lite.kvcache.radix import Node, RadixTree
from tests.helpers.machines import examples

Text = tuple[int, ...]


class RadixMachine(RuleBasedStateMachine):
    @initialize(size=st.sampled_from([1, 3, 16]))
    def build(self, size: int) -> None:
        self.size, self.tree = size, RadixTree(size)
        self.pages: dict[Text, int] = {}
        self.used: dict[Text, int] = {}
        self.locked: list[tuple[Node, Text]] = []
        self.time, self.fresh = 0, count()

    def beginnings(self, ids: list[int]) -> list[Text]:
        return [tuple(ids[:end]) for end in range(self.size, len(ids) + 1, self.size)]

    def touch(self, ids: list[int]) -> list[Text]:
        """The cached beginnings of a text, shortest first; they are used now."""
        self.time += 1
        found = [text for text in self.beginnings(ids) if text in self.pages]
        self.used.update(dict.fromkeys(found, self.time))
        return found

    # letters as long as a page make texts that share pages at every size
    words = st.lists(st.sampled_from("aabc"), max_size=8)
    odd = st.integers(0, 15)

    def ids(self, words: list[str], odd: int) -> list[int]:
        return [ord(word) for word in words for _ in range(self.size)] + [0] * (odd % self.size)

    @rule(words=words, odd=odd, lock=st.booleans())
    def match(self, words: list[str], odd: int, lock: bool) -> None:
        ids = self.ids(words, odd)
        node, pages = self.tree.match(ids)
        found = self.touch(ids)
        assert pages == [self.pages[text] for text in found]
        if lock:
            self.tree.lock(node)
            self.locked.append((node, found[-1] if found else ()))

    @rule(words=words)
    def insert(self, words: list[str]) -> None:
        ids = self.ids(words, 0)
        node, there = self.tree.match(ids)
        found = self.touch(ids)
        new = [text for text in self.beginnings(ids) if text not in self.pages]
        assert len(there) == len(found)
        self.pages.update(zip(new, self.fresh, strict=False))
        self.used.update(dict.fromkeys(new, self.time))
        end = self.tree.insert(node, ids[len(there) * self.size :], [self.pages[text] for text in new])
        self.tree.lock(end)
        self.tree.unlock(end)

    @precondition(lambda self: self.locked)
    @rule(i=st.integers(0, 9))
    def unlock(self, i: int) -> None:
        node, _ = self.locked.pop(i % len(self.locked))
        self.tree.unlock(node)

    def free_texts(self) -> set[Text]:
        return {t for t in self.pages if not any(lock[: len(t)] == t for _, lock in self.locked)}

    @rule(n=st.integers(0, 12))
    def evict(self, n: int) -> None:
        want = []
        for _ in range(min(n, len(self.free_texts()))):
            free = self.free_texts()
            ends = [t for t in free if not any(len(o) > len(t) and o[: len(t)] == t for o in self.pages)]
            oldest = min(ends, key=self.used.__getitem__)
            want.append(self.pages.pop(oldest))
            del self.used[oldest]
        assert sorted(self.tree.evict(len(want))) == sorted(want), "not the least recently used"

    @invariant()
    def sound(self) -> None:
        self.tree.check()
        assert self.tree.size == len(self.pages)
        assert self.tree.evictable == len(self.free_texts())


TestRadix = RadixMachine.TestCase
TestRadix.settings = examples(100)
