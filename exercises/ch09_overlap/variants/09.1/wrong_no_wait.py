"""wrong: does-not-wait

The host commits at once, whether the tokens are there or not.
"""


class TwoClockEngine:
    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        wait = (self.clock, self.clock)
        self.clock = wait[1] + self.host.settle
        self.lanes.append(
            Lane(batch.index, batch.phase, tuple(batch.uids), launch, device, wait, (wait[1], self.clock))
        )
