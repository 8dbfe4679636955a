"""wrong: flight-lost

Has no flight while it settles: when that raises, what was launched is never settled.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before, self._flight = self._flight, None
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
