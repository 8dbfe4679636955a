"""wrong: flight-settled-twice

Notes the flight in time for a launch that raised, but not for tokens that raise when they are waited for.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        if before is not None and isinstance(before.output, Crashed):
            self._flight = None
        else:
            flight = self._launch_behind(before)
            events = self.settle(before)
            self._flight = flight
            return events
        return self.settle(before)

    def _launch_behind(self, before: Flight | None) -> Flight | None:
        try:
            return self.launch()
        except OutOfPages:
            if before is None:
                raise
            return None
