"""wrong: not-every-step-launches

Launches in one step, settles in the next.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before, self._flight = self._flight, None
        if before is None:
            self._flight = self._launch_behind(None)
            return self.settle(None)
        return self.settle(before)
