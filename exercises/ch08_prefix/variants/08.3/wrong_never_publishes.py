"""wrong: prompt-not-published

Others profit only when the request has ended.
"""


class PrefixCacheManager(CacheManager):
    def _publish(self) -> None:
        self._unpublished.clear()
