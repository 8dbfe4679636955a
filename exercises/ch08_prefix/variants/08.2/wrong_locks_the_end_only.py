"""wrong: beginning-not-locked

The text before the end can be evicted while somebody reads it.
"""


class RadixTree:
    def lock(self, node: Node) -> None:
        if node.parent is not None:
            if not node.locks:
                self.evictable -= len(node.pages)
            node.locks += 1

    def unlock(self, node: Node) -> None:
        if node.parent is not None:
            require(node.locks > 0, "unlocked more often than locked")
            node.locks -= 1
            if not node.locks:
                self.evictable += len(node.pages)
            self._offer(node)
