"""wrong: flight-settled-twice

Notes the new flight after settling: when that raises, the old one stays and is settled again.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        flight = None if before and isinstance(before.output, Crashed) else self._launch_behind(before)
        events = self.settle(before)
        self._flight = flight
        return events

    def _launch_behind(self, before: Flight | None) -> Flight | None:
        try:
            return self.launch()
        except OutOfPages:
            if before is None:
                raise
            return None
