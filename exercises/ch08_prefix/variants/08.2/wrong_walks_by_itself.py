"""wrong: looks-at-every-leaf

Right, but every page costs a walk over the whole tree, without a call that could be counted.
"""


class RadixTree:
    def evict(self, n: int) -> list[int]:
        require(n <= self.evictable, f"{n} pages are to be evicted, {self.evictable} can be")
        out: list[int] = []
        while len(out) < n:
            best, todo = None, [self.root]
            while todo:
                node = todo.pop()
                todo.extend(node.children.values())
                leaf = node.parent is not None and not node.children and not node.locks
                if leaf and (best is None or node.used < best.used):
                    best = node
            out += self._cut(best, n - len(out))
        self.size -= n
        self.evictable -= n
        return out
