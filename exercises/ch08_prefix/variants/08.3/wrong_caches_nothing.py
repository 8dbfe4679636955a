"""wrong: nothing-kept

Gives everything back, as without a cache.
"""


class PrefixCacheManager(CacheManager):
    def close(self, req: Req) -> None:
        del self.accounts[req.uid]
        self._unpublished.pop(req.uid, None)
        hold = self._hold(req)
        spare = req.pages[hold.shared :]
        self.allocator.give(spare)
        self.moves.append((spare, "free"))
        self.tree.unlock(hold.node)
        req.pages, req.handle = [], None
