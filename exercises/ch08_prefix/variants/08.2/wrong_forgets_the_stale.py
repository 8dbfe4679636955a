"""wrong: queue-runs-empty

An entry that is out of date must go back into the queue, at its true age.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            age, _, node = heappop(self._queue)
            node.queued = False
            if age == node.used and node.evictable:
                out += self._cut(node, n - len(out))
                self._offer(node)
        self.size -= n
        self.evictable -= n
        return out
