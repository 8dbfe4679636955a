"""The radix tree: which cached pages hold the K/V of which text. Plain integers, no tensors. Chapter 08."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush

from ..core import require


class Node:
    """A stretch of whole pages that every text through this node has in common.

    key       token ids, page_size for each page. The text up to this node is the keys from the root to here
    pages     the pages that hold their K/V
    children  first page of the child's key -> child
    locks     how many locks were taken on this node or below it
    used      the tree's clock when a match last came through. A parent's is never older than its child's
    parent    None once the node is evicted; the root has none either
    """

    __slots__ = ("children", "key", "locks", "pages", "parent", "queued", "serial", "used")

    def __init__(self, key: list[int], pages: list[int], parent: Node | None, serial: int, used: int) -> None:
        self.key, self.pages, self.parent, self.serial, self.used = key, pages, parent, serial, used
        self.children: dict[tuple[int, ...], Node] = {}
        self.locks = 0
        self.queued = False
        """Whether it stands in the eviction queue, with a `used` that may be out of date."""

    @property
    def evictable(self) -> bool:
        """Nobody reads it, and no cached text goes on behind it."""
        return not self.locks and not self.children and self.parent is not None


def common_prefix(a: list[int], b: list[int]) -> int:
    """How many items a and b have in common from the start: a bisection that compares slices, O(len) in C."""
    raise NotImplementedError("exercise 08.1: write the body of common_prefix")


class RadixTree:
    """Token ids -> pages, shared between texts that begin alike. Whole pages only.

    The tree owns the pages that are inserted until `evict` gives them up. A page is protected while a lock is held on
    its node or on one below: lock(node) walks up to the root, so locks never grow downwards, and what nobody locks can
    always be evicted from its leaves up.
    """

    def __init__(self, page_size: int) -> None:
        self.page_size = page_size
        self.root = Node([], [], None, 0, 0)
        self.size = 0
        """Pages in the tree."""
        self.evictable = 0
        """Pages of them that nobody locks."""
        self.inserted = 0
        """Pages that were ever inserted: a match can have become longer only if this has grown."""
        self.clock = 0
        """Matches so far. Ages are counted in matches, not in seconds: every rank of a parallel engine agrees."""
        self._serial = 0
        self._queue: list[tuple[int, int, Node]] = []

    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        """The longest cached beginning of `ids`, in whole pages: the node where it ends, and its pages.

        Marks the way there as used. A node that is matched in part is split in two, so that the match ends at a node
        and a lock on it covers what was matched and no more; what is cached does not change.
        """
        raise NotImplementedError("exercise 08.1: write the body of RadixTree.match")

    def insert(self, node: Node, ids: list[int], pages: list[int]) -> Node:
        """Take over `pages`, which hold `ids`, behind the node where a match of all that comes before has just ended.

        len(ids) = page_size * len(pages); with no pages nothing happens. Returns the node where the text ends now.
        """
        if not pages:
            return node
        leaf = self._new(ids, pages, node, self.clock)
        self.size += len(pages)
        self.inserted += len(pages)
        self.evictable += len(pages)
        self._offer(leaf)
        return leaf

    def lock(self, node: Node) -> None:
        """Protect every page up to and including this node's."""
        raise NotImplementedError("exercise 08.2: write the body of RadixTree.lock")

    def unlock(self, node: Node) -> None:
        """Give back one lock that was taken on this node."""
        raise NotImplementedError("exercise 08.2: write the body of RadixTree.unlock")

    def evict(self, n: int) -> list[int]:
        """Give up n pages, n <= evictable, and return them: the least recently used first, each text from its end.

        O(log nodes) for each node that it ends. An entry of the queue may be older than its node is, never younger:
        one that turns out to be out of date is put back with its true `used`.
        """
        raise NotImplementedError("exercise 08.2: write the body of RadixTree.evict")

    def _new(self, key: list[int], pages: list[int], parent: Node, used: int) -> Node:
        self._serial += 1
        node = Node(key, pages, parent, self._serial, used)
        parent.children[tuple(key[: self.page_size])] = node
        return node

    def _split(self, node: Node, n: int) -> Node:
        """Cut a node behind its first n pages. Returns the new upper part; whoever holds `node` holds the whole way."""
        assert node.parent is not None
        cut = n * self.page_size
        upper = self._new(node.key[:cut], node.pages[:n], node.parent, node.used)
        upper.locks = node.locks
        node.key, node.pages, node.parent = node.key[cut:], node.pages[n:], upper
        upper.children[tuple(node.key[: self.page_size])] = node
        return upper

    def _cut(self, node: Node, most: int) -> list[int]:
        """Take up to `most` pages from the end of an evictable node, and the node from the tree when none is left."""
        assert node.parent is not None
        if most < len(node.pages):
            gone = node.pages[-most:]
            del node.pages[-most:], node.key[-most * self.page_size :]
            return gone
        parent, node.parent = node.parent, None
        del parent.children[tuple(node.key[: self.page_size])]
        self._offer(parent)
        return node.pages

    def _offer(self, node: Node) -> None:
        """Queue a node for eviction, if it may be evicted and is not queued: at most one entry a node."""
        if node.evictable and not node.queued:
            node.queued = True
            heappush(self._queue, (node.used, node.serial, node))

    def walk(self) -> Iterator[Node]:
        """Every node but the root."""
        todo = list(self.root.children.values())
        while todo:
            node = todo.pop()
            todo += node.children.values()
            yield node

    def check(self) -> None:
        """Raise InvariantError unless every counter equals a walk over the tree."""
        nodes = list(self.walk())
        require(self.size == sum(len(node.pages) for node in nodes), "the radix tree miscounts its pages")
        unlocked = sum(len(node.pages) for node in nodes if not node.locks)
        require(self.evictable == unlocked, f"{self.evictable} pages count as evictable, {unlocked} are")
        for node in nodes:
            whole = len(node.key) == len(node.pages) * self.page_size > 0
            require(whole, f"a node of the radix tree holds {len(node.key)} tokens in {len(node.pages)} pages")
            parent, first = node.parent, tuple(node.key[: self.page_size])
            require(parent is not None and parent.children.get(first) is node, "a node is not where its parent looks")
            below = sum(child.locks for child in node.children.values())
            require(node.locks >= below, f"a node has {node.locks} locks, those below it {below}")
            young = all(child.used <= node.used for child in node.children.values())
            require(young, "a text was used later than its own beginning")
            require(node.queued or not node.evictable, "a leaf that nobody reads cannot be found for eviction")
