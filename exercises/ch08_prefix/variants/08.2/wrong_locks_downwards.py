"""wrong: locks-too-much

Protects also the texts that go on behind the match.
"""


class RadixTree:
    def lock(self, node: Node) -> None:
        below = list(node.children.values())
        while node.parent is not None:
            if not node.locks:
                self.evictable -= len(node.pages)
            node.locks += 1
            node = node.parent
        for child in below:
            if not child.locks:
                self.evictable -= len(child.pages)
            child.locks += 1
