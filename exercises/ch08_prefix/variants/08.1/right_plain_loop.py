"""right: a loop over the tokens, a loop over the pages"""


def common_prefix(a: list[int], b: list[int]) -> int:
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return n


class RadixTree:
    def match(self, ids: list[int]) -> tuple[Node, list[int]]:
        self.clock = self.clock + 1
        node, found = self.root, []
        whole = len(ids) // self.page_size
        while len(found) < whole:
            rest = ids[len(found) * self.page_size : whole * self.page_size]
            child = node.children.get(tuple(rest[: self.page_size]))
            if child is None:
                break
            same = common_prefix(child.key, rest) // self.page_size
            node = child if same == len(child.pages) else self._split(child, same)
            node.used = self.clock
            found.extend(node.pages)
        return node, found
