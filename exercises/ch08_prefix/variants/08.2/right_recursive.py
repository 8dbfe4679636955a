"""right: locks by calling itself"""


class RadixTree:
    def lock(self, node: Node) -> None:
        if node.parent is None:
            return
        node.locks += 1
        self.evictable -= len(node.pages) if node.locks == 1 else 0
        self.lock(node.parent)

    def unlock(self, node: Node) -> None:
        if node.parent is None:
            return
        require(node.locks >= 1, "not locked")
        node.locks -= 1
        self.evictable += len(node.pages) if node.locks == 0 else 0
        self.unlock(node.parent)
        self._offer(node)
