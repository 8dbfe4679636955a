"""wrong: published-before-it-is-computed

A batch in flight may still fail, and then nothing of it was computed.
"""


class PrefixCacheManager(CacheManager):
    def _publish(self) -> None:
        computed = [req for req in self._unpublished.values() if req.cached_len >= req.prompt_len]
        for req in computed:
            del self._unpublished[req.uid]
            whole = req.prompt_len // self.allocator.page_size
            node, there = self.tree.match(self._ids(req, 0, whole))
            if there != req.pages[: len(there)]:
                continue
            node = self.tree.insert(node, self._ids(req, len(there), whole), req.pages[len(there) : whole])
            self.moves.append((req.pages[len(there) : whole], "cache"))
            self.tree.lock(node)
            self.tree.unlock(self._hold(req).node)
            req.handle = Hold(node, whole)
