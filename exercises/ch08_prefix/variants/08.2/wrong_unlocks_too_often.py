"""wrong: unlock-not-checked

A lock that is given back twice takes away somebody else's.
"""


class RadixTree:
    def unlock(self, node: Node) -> None:
        end = node
        while node.parent is not None:
            node.locks -= 1
            if not node.locks:
                self.evictable += len(node.pages)
            node = node.parent
        self._offer(end)
