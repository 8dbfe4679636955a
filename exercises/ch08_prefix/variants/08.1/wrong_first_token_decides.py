"""wrong: part-of-a-page-matched

Looks for a child by the first token of its page.
"""


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1
        size, node, at = self.page_size, self.root, 0
        pages: list[int] = []
        while child := next((c for key, c in node.children.items() if list(key[:1]) == ids[at : at + 1]), None):
            n = max(1, common_prefix(child.key, ids[at : at + len(child.key)]) // size)
            if n < len(child.pages):
                child = self._split(child, n)
            child.used = self.clock
            pages += child.pages
            node, at = child, at + n * size
        return node, pages
