"""wrong: size-not-counted-down

The tree goes on counting what it gave away.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            used, _, node = heappop(self._queue)
            node.queued = False
            if used == node.used and node.evictable:
                out += self._cut(node, n - len(out))
            self._offer(node)
        self.evictable -= n
        return out
