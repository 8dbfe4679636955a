"""wrong: evicts-too-much

Gives up whole nodes, wanted or not.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            used, _, node = heappop(self._queue)
            node.queued = False
            if used == node.used and node.evictable:
                out += self._cut(node, len(node.pages))
            self._offer(node)
        self.size -= n
        self.evictable -= n
        return out
