"""The radix tree: what is matched, shared, split, protected and given up."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from minisgl_lite.core import InvariantError
from minisgl_lite.kvcache.radix import RadixTree, common_prefix


def put(tree: RadixTree, ids: list[int], pages: list[int]):
    """Insert a text that owns `pages`, as a request does at its end: the node, and the pages that it must give back."""
    node, there = tree.match(ids)
    node = tree.insert(node, ids[len(there) * tree.page_size :], pages[len(there) :])
    tree.check()
    return node, pages[: len(there)]


@pytest.mark.parametrize("common", [0, 1, 2, 3, 7, 8])
@pytest.mark.parametrize("length", [8, 9, 30])
def test_common_prefix(common, length):
    a = list(range(8))
    b = (a[:common] + [-1] * length)[:length]
    assert common_prefix(a, b) == common_prefix(b, a) == common
    assert common_prefix([], a) == 0


@pytest.mark.parametrize("size", [1, 3, 16])
def test_whole_pages_only(size):
    tree = RadixTree(size)
    text = list(range(4 * size))
    put(tree, text, [10, 11, 12, 13])
    for n in range(4 * size + 1):
        assert tree.match(text[:n])[1] == [10, 11, 12, 13][: n // size]
        tree.check()
    for wrong in range(4 * size):
        assert tree.match([*text[:wrong], -1, *text[wrong + 1 :]])[1] == [10, 11, 12, 13][: wrong // size]
        tree.check()
    assert tree.match([])[1] == []
    assert (tree.size, tree.evictable) == (4, 4)


def test_texts_that_begin_alike_share_their_beginning():
    tree = RadixTree(2)
    assert put(tree, [1, 2, 3, 4, 5, 6], [0, 1, 2])[1] == []
    assert put(tree, [1, 2, 3, 4, 7, 8], [3, 4, 5])[1] == [3, 4]
    assert put(tree, [1, 2, 3, 9], [6, 7])[1] == [6]
    assert put(tree, [1, 2, 3, 4], [8, 9])[1] == [8, 9]
    assert tree.match([1, 2, 3, 4, 7, 8])[1] == [0, 1, 5]
    assert tree.match([1, 2, 3, 9, 0])[1] == [0, 7]
    assert sorted(page for node in tree.walk() for page in node.pages) == [0, 1, 2, 5, 7]


def test_a_match_splits_and_changes_nothing_that_is_cached():
    tree = RadixTree(1)
    whole, _ = put(tree, [1, 2, 3, 4], [0, 1, 2, 3])
    tree.lock(whole)
    half, pages = tree.match([1, 2])
    assert (half.pages, whole.pages, half.locks, pages) == ([0, 1], [2, 3], 1, [0, 1])
    assert (tree.size, tree.evictable) == (4, 0)
    tree.unlock(whole)
    assert tree.evictable == 4
    tree.check()


def test_a_lock_protects_the_way_to_the_root_and_nothing_else():
    tree = RadixTree(1)
    put(tree, [1, 2, 3, 4], [0, 1, 2, 3])
    put(tree, [1, 2, 5], [9, 9, 4])
    node, _ = tree.match([1, 2, 3])
    tree.lock(node)
    assert tree.evictable == 2
    assert sorted(tree.evict(2)) == [3, 4]
    with pytest.raises(InvariantError, match="1 pages are to be evicted, 0 can be"):
        tree.evict(1)
    tree.unlock(node)
    with pytest.raises(InvariantError, match="unlocked more often"):
        tree.unlock(node)


@pytest.mark.parametrize("size", [1, 3])
def test_eviction_takes_the_least_recently_used_from_its_end(size):
    tree = RadixTree(size)
    a, b, c = ([letter] * 3 * size for letter in (1, 2, 3))
    for text, first in ((a, 0), (b, 3), (c, 6)):
        put(tree, text, [first, first + 1, first + 2])
    tree.match(a)
    assert tree.evict(1) == [5]
    assert tree.match(b[: 2 * size])[1] == [3, 4]
    assert tree.evict(4) == [6, 7, 8, 2]
    tree.check()
    assert tree.evict(4) == [0, 1, 3, 4]
    assert (tree.size, tree.evictable, list(tree.walk())) == (0, 0, [])


def test_a_beginning_outlives_its_ends():
    tree = RadixTree(1)
    put(tree, [1, 2, 3], [0, 1, 2])
    put(tree, [1, 2, 4], [7, 7, 3])
    assert tree.evict(2) == [2, 3]
    tree.check()
    assert tree.match([1, 2, 3])[1] == [0, 1]


def test_pages_are_evicted_not_tokens():
    """Two texts of two pages of four; four pages come back for a third, each once."""
    tree = RadixTree(4)
    put(tree, [1] * 8, [0, 1])
    put(tree, [2] * 8, [2, 3])
    assert tree.evict(2) == [0, 1]
    put(tree, [3] * 8, [0, 1])
    assert sorted(tree.evict(4)) == [0, 1, 2, 3]


def test_the_eviction_queue_holds_a_node_once():
    """Locked and unlocked a thousand times: one entry, so an eviction costs a logarithm and not a history."""
    tree = RadixTree(1)
    node, _ = put(tree, [1, 2, 3], [0, 1, 2])
    for _ in range(1000):
        tree.match([1, 2, 3])
        tree.lock(node)
        tree.unlock(node)
    assert len(tree._queue) == 1
    assert tree.evict(3) == [0, 1, 2]
    assert tree._queue == []


def test_a_long_chain_of_nodes():
    tree = RadixTree(1)
    node = tree.root
    text = [7] * 3_000
    for page in range(3_000):
        node = tree.insert(node, [7], [page])
    assert len(tree.match(text)[1]) == 3_000
    tree.lock(node)
    assert tree.evictable == 0
    tree.unlock(node)
    tree.check()
    assert len(tree.evict(3_000)) == 3_000


# ---- what it costs, in steps of Python -------------------------------------------------------------------------------


def steps_of(work: Callable[[], object]) -> int:
    """Lines and calls of Python while `work` runs; what a line does in C, such as comparing two slices, is one."""
    steps, before = 0, sys.gettrace()

    def note(frame, event, arg):
        nonlocal steps
        steps += 1
        return note

    sys.settrace(note)
    try:
        work()
    finally:
        sys.settrace(before)
    return steps


@pytest.mark.parametrize("size", [1, 16])
def test_no_loop_over_tokens(size):
    """A text of 16,000 tokens, half of it cached: a bisection, and not a comparison for each token or page."""
    tree, half = RadixTree(size), 8_000
    text = [7 * i % 1013 for i in range(2 * half)]
    pages = list(range(2 * half // size))
    tree.insert(tree.match(text)[0], [*text[:half], *[-1] * half], pages)
    steps = steps_of(lambda: tree.insert(tree.match(text)[0], text[half:], pages[half // size :]))
    assert tree.size == 3 * half // size
    assert steps < 200


def test_eviction_looks_at_the_oldest_and_not_at_all():
    """Fifty leaves go: as many steps among 4,000 as among 400."""

    def steps(leaves: int) -> int:
        tree = RadixTree(1)
        for i in range(leaves):
            tree.insert(tree.match([i])[0], [i], [i])
        return steps_of(lambda: tree.evict(50))

    assert steps(4_000) == steps(400) < 50 * 40
