"""right: a queue of flights, at most one long between steps"""


class OverlapLoop:
    def step(self) -> list[Event]:
        flights = [] if self._flight is None else [self._flight]
        if not (flights and isinstance(flights[0].output, Crashed)):
            launched = self._launch_behind(flights[0] if flights else None)
            flights = [*flights[:1], launched] if flights else [None, launched]
        else:
            flights.append(None)
        self._flight = flights[1]
        return self.settle(flights[0])
