"""wrong: clock-goes-back

A batch that was done long ago takes the host back to that time.
"""


class TwoClockEngine:
    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        wait = (self.clock, device[1])
        self.clock = wait[1] + self.host.settle
        self.lanes.append(
            Lane(batch.index, batch.phase, tuple(batch.uids), launch, device, wait, (wait[1], self.clock))
        )
