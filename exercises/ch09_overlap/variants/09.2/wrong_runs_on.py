"""wrong: launches-behind-a-failure

Launches behind a batch that was never launched.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        self._flight = self._launch_behind(before)
        return self.settle(before)
