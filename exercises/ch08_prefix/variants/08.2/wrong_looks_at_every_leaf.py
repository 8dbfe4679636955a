"""wrong: looks-at-every-leaf

Right, but every page costs a walk over the whole tree.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            node = min((leaf for leaf in self.walk() if leaf.evictable), key=lambda leaf: leaf.used)
            out += self._cut(node, n - len(out))
        self.size -= n
        self.evictable -= n
        return out
