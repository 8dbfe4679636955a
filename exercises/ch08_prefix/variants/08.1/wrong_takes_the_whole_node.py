"""wrong: another-text-matched

The first page decides; the rest of the node is believed.
"""


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1
        size, node, at = self.page_size, self.root, 0
        pages: list[int] = []
        while (child := node.children.get(tuple(ids[at : at + size]))) is not None:
            n = len(child.pages)
            child.used = self.clock
            pages += child.pages
            node, at = child, at + n * size
        return node, pages
