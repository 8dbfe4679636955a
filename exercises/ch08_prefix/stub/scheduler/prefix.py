"""PrefixCacheManager: what finished requests computed is kept for others that begin alike. Chapter 08."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from ..core import Req, require
from ..kvcache.pages import PageAllocator
from ..kvcache.radix import Node, RadixTree
from .cache import CacheManager


@dataclass(slots=True)
class Hold:
    """What an account has of the tree: its first `shared` pages, protected by one lock on `node`, where they end."""

    node: Node
    shared: int


class Match(NamedTuple):
    """What was found for a request when the tree had taken `inserted` pages. The list becomes the request's own."""

    req: Req
    inserted: int
    node: Node
    pages: list[int]

    def stands(self, tree: RadixTree) -> bool:
        """Whether the tree would still say the same: nothing was added, and what was found was not cut from its end."""
        cut = self.node is not tree.root and (self.node.parent is None or self.node.pages[-1] != self.pages[-1])
        return self.inserted == tree.inserted and not cut


class PrefixCacheManager(CacheManager):
    """A radix tree keeps the pages that requests leave behind; those that nobody reads are given up when room is short.

    The pages of an account, in position order:

        0 ........................ shared ............................ len(pages)
        the tree's, locked              | its own
        open: as much of the prompt     | grow adds here
        as is cached                    |

        publish (the prompt is computed): the whole pages of the prompt join the tree, `shared` moves up to their end
        close   (nobody reads any more):  all whole pages join the tree, what the tree has already and the rest is free

    A request's row never changes while it runs. Of two equal prompts that were computed at the same time the second
    keeps its own copy to the end: a lock on pages that it does not read would take room that was promised to others.
    """

    def __init__(self, allocator: PageAllocator) -> None:
        super().__init__(allocator)
        self.tree = RadixTree(allocator.page_size)
        self._unpublished: dict[int, Req] = {}
        self._last: Match | None = None

    @property
    def evictable_pages(self) -> int:
        """Cached pages that no account reads."""
        return self.tree.evictable

    def room(self) -> int:
        """Free pages, and those that eviction can free."""
        return self.allocator.free + self.tree.evictable

    def open(self, req: Req) -> None:
        """Open an account with the longest cached beginning of its prompt, locked. It leaves a token to compute."""
        self._publish()
        super().open(req)
        found = self._match(req)
        self.tree.lock(found.node)
        req.handle = Hold(found.node, len(found.pages))
        req.pages, req.cached_len = found.pages, len(found.pages) * self.allocator.page_size
        self._unpublished[req.uid] = req

    def _match(self, req: Req) -> Match:
        """The longest cached beginning of a prompt, in whole pages, that leaves its last token to be computed.

        Without the logits of the last token there is no first token of the answer.
        """
        # the head of the queue, when it does not fit, is opened again every round: do not search for it every time
        if self._last is None or self._last.req is not req or not self._last.stands(self.tree):
            node, pages = self.tree.match(req.input_ids[: req.prompt_len - 1])
            self._last = Match(req, self.tree.inserted, node, pages)
        return self._last

    def _take(self, n: int) -> list[int]:
        """Pages for `grow`: free ones, and evicted ones where these do not suffice."""
        short = n - self.allocator.free
        if 0 < short <= self.tree.evictable:
            evicted = self.tree.evict(short)
            self.allocator.give(evicted)
            self.moves.append((evicted, "free"))
        return super()._take(n)

    def _publish(self) -> None:
        """Put the prompts whose first token is known into the tree, so that others share them while they still run."""
        raise NotImplementedError("exercise 08.3: write the body of PrefixCacheManager._publish")

    def close(self, req: Req) -> None:
        """Keep what a request computed, in whole pages, and take back the rest. No launched batch names it any more.

        Only positions whose token is known can be found again; what was sampled after an abort is known to nobody.
        """
        raise NotImplementedError("exercise 08.3: write the body of PrefixCacheManager.close")

    def _ids(self, req: Req, first: int, end: int) -> list[int]:
        """The tokens of pages first .. end - 1 of a request."""
        size = self.allocator.page_size
        return req.input_ids[first * size : end * size]

    @staticmethod
    def _hold(req: Req) -> Hold:
        assert isinstance(req.handle, Hold)
        return req.handle

    def private_pages(self, req: Req) -> list[int]:
        """Those behind the shared ones."""
        return req.pages[self._hold(req).shared :]

    def cached_pages(self) -> list[int]:
        """The pages of the tree."""
        return [page for node in self.tree.walk() for page in node.pages]

    def check(self) -> None:
        """See CacheManager; and the tree is sound, and its locks are those of the accounts."""
        self.tree.check()
        super().check()
        locks: Counter[int] = Counter()
        for req in self.accounts.values():
            node, path = self._hold(req).node, []
            while node.parent is not None:
                locks[node.serial] += 1
                path.append(node.pages)
                node = node.parent
            shared = [page for pages in reversed(path) for page in pages]
            mine = req.pages[: self._hold(req).shared]
            require(shared == mine, f"request {req.uid} shares pages {mine}, the tree has {shared}")
        for node in self.tree.walk():
            require(node.locks == locks[node.serial], f"a node has {node.locks} locks, not {locks[node.serial]}")
