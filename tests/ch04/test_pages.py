from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from minisgl_lite.kvcache.pages import OutOfPages, PageAllocator


@pytest.mark.parametrize("sizes", [(0, 1), (1, 0), (-1, 4)])
def test_sizes_must_make_sense(sizes):
    with pytest.raises(ValueError, match=str(sizes[0])):
        PageAllocator(*sizes)


@pytest.mark.parametrize(("tokens", "pages"), [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_pages_for(tokens, pages):
    assert PageAllocator(10, 4).pages_for(tokens) == pages


def test_all_or_nothing():
    allocator = PageAllocator(5, 1)
    allocator.take(3)
    with pytest.raises(OutOfPages, match="3 pages wanted, 2 of 5 free"):
        allocator.take(3)
    assert allocator.free == 2
    assert len(allocator.take(2)) == 2
    assert allocator.take(0) == []


class Pages(RuleBasedStateMachine):
    """The allocator against a set of free page numbers."""

    def __init__(self):
        super().__init__()
        self.allocator = PageAllocator(12, 3)
        self.held: list[list[int]] = []

    @rule(n=st.integers(0, 6))
    def take(self, n):
        if n > 12 - sum(map(len, self.held)):
            with pytest.raises(OutOfPages):
                self.allocator.take(n)
        else:
            self.held.append(self.allocator.take(n))
            assert len(self.held[-1]) == n

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def give(self, data):
        self.allocator.give(self.held.pop(data.draw(st.integers(0, len(self.held) - 1))))

    @invariant()
    def every_page_is_in_one_place(self):
        assert sorted(self.allocator.snapshot() + [page for pages in self.held for page in pages]) == list(range(12))
        assert self.allocator.free == len(self.allocator.snapshot())


Pages.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestPages = Pages.TestCase
