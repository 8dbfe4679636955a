"""right: lists the way up, then counts; a loop that goes on"""


class RadixTree:
    def _way(self, node: Node) -> list[Node]:
        way = []
        while node is not self.root:
            way.append(node)
            node = node.parent
        return way

    def lock(self, node: Node) -> None:
        for above in self._way(node):
            above.locks += 1
            if above.locks == 1:
                self.evictable -= len(above.pages)

    def unlock(self, node: Node) -> None:
        way = self._way(node)
        require(all(above.locks for above in way), "unlocked more often than locked")
        for above in way:
            above.locks -= 1
            self.evictable += 0 if above.locks else len(above.pages)
            self._offer(above)

    def evict(self, n: int) -> list[int]:
        if n > self.evictable:
            require(False, f"{n} pages wanted, {self.evictable} can be had")
        gone: list[int] = []
        while n > 0:
            used, _, leaf = heappop(self._queue)
            leaf.queued = False
            if used != leaf.used or not leaf.evictable:
                self._offer(leaf)
                continue
            some = self._cut(leaf, n)
            self._offer(leaf)
            n -= len(some)
            self.size, self.evictable = self.size - len(some), self.evictable - len(some)
            gone.extend(reversed(some))
        return gone
