"""wrong: asked-for-too-much

Gives fewer pages than were asked for, and says nothing.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        n = min(n, self.evictable)
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
