"""right: locks in another order, pages sorted into three"""


class PrefixCacheManager(CacheManager):
    def close(self, req: Req) -> None:
        hold = self._hold(req)
        known = req.input_ids[: req.cached_len]
        whole = len(known) // self.allocator.page_size
        node, there = self.tree.match(known[: whole * self.allocator.page_size])
        shared, copies = req.pages[: hold.shared], req.pages[hold.shared : len(there)]
        new, rest = req.pages[max(hold.shared, len(there)) : whole], req.pages[max(whole, hold.shared) :]
        self.tree.insert(node, self._ids(req, len(there), whole), new)
        self.tree.unlock(hold.node)
        for pages, owner in ((new, "cache"), (copies + rest, "free")):
            if pages:
                self.moves.append((pages, owner))
        self.allocator.give(copies + rest)
        self._unpublished.pop(req.uid, None)
        del self.accounts[req.uid], shared
        req.pages, req.handle = [], None
