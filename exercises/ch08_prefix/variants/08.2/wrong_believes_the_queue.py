"""wrong: not-the-oldest-first

`used` in the queue is out of date when the text was used again.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            _, _, node = heappop(self._queue)
            node.queued = False
            if node.evictable:
                out += self._cut(node, n - len(out))
            self._offer(node)
        self.size -= n
        self.evictable -= n
        return out
