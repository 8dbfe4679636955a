"""wrong: marks-more-than-it-matched

The part behind the match is marked as used, too.
"""


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1
        size, node, at = self.page_size, self.root, 0
        pages: list[int] = []
        while (child := node.children.get(tuple(ids[at : at + size]))) is not None:
            n = common_prefix(child.key, ids[at : at + len(child.key)]) // size
            child.used = self.clock
            if n < len(child.pages):
                child = self._split(child, n)
            pages += child.pages
            node, at = child, at + n * size
        return node, pages
