"""wrong: evicts-what-is-read

A leaf may have been locked since it was queued.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            used, _, node = heappop(self._queue)
            node.queued = False
            if used == node.used and node.parent is not None and not node.children:
                out += self._cut(node, n - len(out))
            self._offer(node)
        self.size -= n
        self.evictable -= n
        return out
