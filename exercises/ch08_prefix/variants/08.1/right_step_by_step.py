"""right: counting, and a walk that calls itself"""


def common_prefix(a: list[int], b: list[int]) -> int:
    for i in range(min(len(a), len(b))):
        if a[i] != b[i]:
            return i
    return min(len(a), len(b))


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock += 1

        def follow(node: Node, rest: list[int]) -> tuple[Node, list[int]]:
            child = node.children.get(tuple(rest[: self.page_size]))
            if child is None:
                return node, []
            tokens = common_prefix(child.key, rest)
            if tokens < len(child.key):
                child = self._split(child, tokens // self.page_size)
            child.used = self.clock
            end, pages = follow(child, rest[len(child.key) :])
            return end, child.pages + pages

        return follow(self.root, ids)
