"""wrong: last-round-not-settled

Settles a round only when there is another to launch.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        launched = None if before and isinstance(before.output, Crashed) else self._launch_behind(before)
        if launched is None and before is not None and not isinstance(before.output, Crashed):
            return self.settle(None)
        self._flight = launched
        return self.settle(before)
