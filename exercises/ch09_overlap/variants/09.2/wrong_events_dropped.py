"""wrong: events-not-returned

Settles, and returns the events that wait.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        self._flight = None if before and isinstance(before.output, Crashed) else self._launch_behind(before)
        self.settle(before)
        return self.settle(None)
