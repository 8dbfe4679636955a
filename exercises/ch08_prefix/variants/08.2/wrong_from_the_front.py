"""wrong: evicts-from-the-front

Takes the pages of a leaf from its beginning.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            used, _, node = heappop(self._queue)
            node.queued = False
            if used == node.used and node.evictable:
                most = min(n - len(out), len(node.pages))
                node.pages = node.pages[most:] + node.pages[:most]
                out += self._cut(node, most)
            self._offer(node)
        self.size -= n
        self.evictable -= n
        return out
