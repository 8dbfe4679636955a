"""wrong: too-far-ahead

Keeps two batches in the air.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before, self._flight = self._flight, getattr(self, "_second", None)
        self._second = self._launch_behind(before or self._flight)
        return self.settle(before)
