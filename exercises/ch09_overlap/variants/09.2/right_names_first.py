"""right: works out first whether anything may be launched"""


class OverlapLoop:
    def step(self) -> list[Event]:
        flying = self._flight
        broken = flying is not None and isinstance(flying.output, Crashed)
        self._flight = None
        if not broken:
            self._flight = self._launch_behind(flying)
        if flying is None:
            return self.settle(None)
        return self.settle(flying)

    def _launch_behind(self, before: Flight | None) -> Flight | None:
        new = None
        try:
            new = self.launch()
        except OutOfPages:
            if not before:
                raise
        return new
