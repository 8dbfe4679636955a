"""wrong: waits-before-it-launches

Settles the round before, then launches the next: the device is idle in between.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before, self._flight = self._flight, None
        events = self.settle(before)
        self._flight = self._launch_behind(None)
        return events
