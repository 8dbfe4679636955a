"""wrong: way-not-marked-as-used

The beginning of a young text looks old.
"""


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1
        size, node, at = self.page_size, self.root, 0
        pages: list[int] = []
        while (child := node.children.get(tuple(ids[at : at + size]))) is not None:
            n = common_prefix(child.key, ids[at : at + len(child.key)]) // size
            if n < len(child.pages):
                child = self._split(child, n)
            pages += child.pages
            node, at = child, at + n * size
        node.used = self.clock
        return node, pages
