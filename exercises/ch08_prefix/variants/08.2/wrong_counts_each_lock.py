"""wrong: evictable-miscounted

A second lock takes nothing away: the pages were protected before.
"""


class RadixTree:
    def lock(self, node: Node) -> None:
        while node.parent is not None:
            self.evictable -= len(node.pages)
            node.locks += 1
            node = node.parent
