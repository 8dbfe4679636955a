"""wrong: asked-for-too-much

Requires that so many pages are cached, whether they are locked or not.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.size, f"{n} pages are to be evicted, {self.size} can be")
        out: list[int] = []
        while len(out) < n:
            used, _, node = heappop(self._queue)
            node.queued = False
            if used == node.used and node.evictable:
                out += self._cut(node, n - len(out))
            self._offer(node)
        self.size -= n
        self.evictable -= n
        return out
