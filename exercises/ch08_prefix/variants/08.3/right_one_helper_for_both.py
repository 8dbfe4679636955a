"""right: one helper hands over pages for both"""


class PrefixCacheManager(CacheManager):
    def _publish(self) -> None:
        size = self.allocator.page_size
        for uid, req in list(self._unpublished.items()):
            if len(req.input_ids) == req.prompt_len:
                continue
            self._unpublished.pop(uid)
            pages = req.pages[: req.prompt_len // size]
            ids = req.input_ids[: len(pages) * size]
            node, there = self.tree.match(ids)
            if there == pages[: len(there)]:
                old, end = self._hold(req), self._hand_over(node, ids, pages, len(there))
                req.handle = Hold(end, len(pages))
                self.tree.lock(end)
                self.tree.unlock(old.node)

    def _hand_over(self, node: Node, ids: list[int], pages: list[int], first: int) -> Node:
        new = pages[first:]
        if new:
            self.moves.append((new, "cache"))
        return self.tree.insert(node, ids[first * self.allocator.page_size :], new)

    def close(self, req: Req) -> None:
        self.accounts.pop(req.uid)
        self._unpublished.pop(req.uid, 0)
        hold, size = self._hold(req), self.allocator.page_size
        whole = min(req.cached_len, len(req.input_ids)) // size
        if whole > hold.shared or len(req.pages) > whole:
            ids = req.input_ids[: whole * size]
            node, there = self.tree.match(ids)
            self._hand_over(node, ids, req.pages[:whole], len(there))
            for page in req.pages[hold.shared : len(there)] + req.pages[whole:]:
                self.allocator.give([page])
                self.moves.append(([page], "free"))
        self.tree.unlock(hold.node)
        req.handle = None
        req.pages = []
