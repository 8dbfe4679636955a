"""wrong: returns-the-nodes-own-list

Begins with the list of the root, and so appends to it.
"""


def common_prefix(a: list[int], b: list[int]) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1
        size, node, at = self.page_size, self.root, 0
        pages = self.root.pages
        while (child := node.children.get(tuple(ids[at : at + size]))) is not None:
            n = common_prefix(child.key, ids[at : at + len(child.key)]) // size
            if n < len(child.pages):
                child = self._split(child, n)
            child.used = self.clock
            pages += child.pages
            node, at = child, at + n * size
        return node, pages
