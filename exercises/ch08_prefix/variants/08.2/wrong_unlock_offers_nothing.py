"""wrong: leaf-not-offered

A leaf that is free again is in no queue: nobody will find it.
"""


class RadixTree:
    def unlock(self, node: Node) -> None:
        while node.parent is not None:
            require(node.locks > 0, "a node of the radix tree is unlocked more often than it was locked")
            node.locks -= 1
            if not node.locks:
                self.evictable += len(node.pages)
            node = node.parent
