"""wrong: failure-not-told-in-line

Settles a failed launch in the step that launched it, in front of the batch before.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        before = self._flight
        self._flight = self._launch_behind(before)
        if self._flight and isinstance(self._flight.output, Crashed):
            crashed, self._flight = self._flight, None
            events = self.settle(before)
            self.scheduler._notes = [*events, *self.scheduler._notes]
            return self.settle(crashed)
        return self.settle(before)
