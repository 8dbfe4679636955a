"""wrong: hides-other-errors

Takes any exception of planning for a want of pages.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        self._flight = None if before and isinstance(before.output, Crashed) else self._launch_behind(before)
        return self.settle(before)

    def _launch_behind(self, before: Flight | None) -> Flight | None:
        try:
            return self.launch()
        except Exception:
            if before is None:
                raise
            return None
