"""wrong: closed-and-still-unpublished

Forgets a closed request in one of the two dictionaries.
"""


class PrefixCacheManager(CacheManager):
    def close(self, req: Req) -> None:
        del self.accounts[req.uid]
        hold = self._hold(req)
        if len(req.pages) > hold.shared:
            whole = min(req.cached_len, len(req.input_ids)) // self.allocator.page_size
            node, there = self.tree.match(self._ids(req, 0, whole))
            self.tree.insert(node, self._ids(req, len(there), whole), req.pages[len(there) : whole])
            self.moves.append((req.pages[len(there) : whole], "cache"))
            spare = req.pages[hold.shared : len(there)] + req.pages[whole:]
            self.allocator.give(spare)
            self.moves.append((spare, "free"))
        self.tree.unlock(hold.node)
        req.pages, req.handle = [], None
