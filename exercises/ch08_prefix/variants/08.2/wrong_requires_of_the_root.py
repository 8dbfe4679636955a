"""wrong: unlock-refused

Asks the root for a lock, too.
"""


class RadixTree:
    def unlock(self, node: Node) -> None:
        end: Node = node
        way: Node | None = node
        while way is not None:
            require(way.locks > 0, "a node is unlocked more often than it was locked")
            way.locks -= 1
            if not way.locks:
                self.evictable += len(way.pages)
            way = way.parent
        self._offer(end)
