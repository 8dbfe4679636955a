"""wrong: locks-a-copy-it-does-not-read

Believes that it shares pages that only hold the same text.
"""


class PrefixCacheManager(CacheManager):
    def _publish(self) -> None:
        computed = [req for req in self._unpublished.values() if len(req.input_ids) > req.prompt_len]
        for req in computed:
            del self._unpublished[req.uid]
            whole = req.prompt_len // self.allocator.page_size
            node, there = self.tree.match(self._ids(req, 0, whole))
            node = self.tree.insert(node, self._ids(req, len(there), whole), req.pages[len(there) : whole])
            self.moves.append((req.pages[len(there) : whole], "cache"))
            self.tree.lock(node)
            self.tree.unlock(self._hold(req).node)
            req.handle = Hold(node, whole)
