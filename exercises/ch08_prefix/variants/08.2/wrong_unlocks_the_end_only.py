"""wrong: lock-left-behind

The beginnings stay locked for ever.
"""


class RadixTree:
    def unlock(self, node: Node) -> None:
        require(not node.parent or node.locks > 0, "unlocked more often than locked")
        if node.parent is not None:
            node.locks -= 1
            if not node.locks:
                self.evictable += len(node.pages)
        self._offer(node)
