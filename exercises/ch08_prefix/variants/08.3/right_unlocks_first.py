"""right: locks in another order, pages sorted into three"""


class PrefixCacheManager(CacheManager):
    def close(self, req: Req) -> None:
        hold = self._hold(req)
        self._unpublished.pop(req.uid, None)
        del self.accounts[req.uid]
        self.tree.unlock(hold.node)
        own, req.handle = req.pages, None
        req.pages = []
        if len(own) == hold.shared:
            return
        known = req.input_ids[: req.cached_len]
        whole = len(known) // self.allocator.page_size
        node, there = self.tree.match(known[: whole * self.allocator.page_size])
        copies = own[hold.shared : len(there)]
        new, rest = own[max(hold.shared, len(there)) : whole], own[max(whole, hold.shared) :]
        self.tree.insert(node, self._ids(req, len(there), whole), new)
        for pages, owner in ((new, "cache"), (copies + rest, "free")):
            if pages:
                self.moves.append((pages, owner))
        self.allocator.give(copies + rest)
