"""wrong: evictable-miscounted

Counts nodes instead of pages.
"""


class RadixTree:
    def lock(self, node: Node) -> None:
        while node.parent is not None:
            if not node.locks:
                self.evictable -= 1
            node.locks += 1
            node = node.parent

    def unlock(self, node: Node) -> None:
        end = node
        while node.parent is not None:
            require(node.locks > 0, "a node of the radix tree is unlocked more often than it was locked")
            node.locks -= 1
            if not node.locks:
                self.evictable += 1
            node = node.parent
        self._offer(end)
