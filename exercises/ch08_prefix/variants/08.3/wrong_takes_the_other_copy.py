"""wrong: row-changed

Changes the pages of a request whose row the device knows already.
"""


class PrefixCacheManager(CacheManager):
    def _publish(self) -> None:
        computed = [req for req in self._unpublished.values() if len(req.input_ids) > req.prompt_len]
        for req in computed:
            del self._unpublished[req.uid]
            whole = req.prompt_len // self.allocator.page_size
            node, there = self.tree.match(self._ids(req, 0, whole))
            mine = req.pages[self._hold(req).shared : len(there)]
            if there != req.pages[: len(there)]:
                self.allocator.give(mine)
                self.moves.append((mine, "free"))
                req.pages = there + req.pages[len(there) :]
            node = self.tree.insert(node, self._ids(req, len(there), whole), req.pages[len(there) : whole])
            self.moves.append((req.pages[len(there) : whole], "cache"))
            self.tree.lock(node)
            self.tree.unlock(self._hold(req).node)
            req.handle = Hold(node, whole)
