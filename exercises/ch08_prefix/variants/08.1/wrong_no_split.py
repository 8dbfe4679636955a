"""wrong: match-ends-inside-a-node

Finds the right pages, but returns a node that goes on behind them.
"""


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1
        size, node, at = self.page_size, self.root, 0
        pages: list[int] = []
        while (child := node.children.get(tuple(ids[at : at + size]))) is not None:
            n = common_prefix(child.key, ids[at : at + len(child.key)]) // size
            child.used = self.clock
            pages += child.pages[:n]
            node, at = child, at + n * size
            if n < len(child.pages):
                break
        return node, pages
