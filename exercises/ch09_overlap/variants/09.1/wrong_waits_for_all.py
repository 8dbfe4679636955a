"""wrong: waits-for-the-next-batch

Waits until the device has nothing left to do: with overlap, for the batch behind this one.
"""


class TwoClockEngine:
    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        wait = (self.clock, max(self.clock, self.device.clock))
        self.clock = wait[1] + self.host.settle
        self.lanes.append(
            Lane(batch.index, batch.phase, tuple(batch.uids), launch, device, wait, (wait[1], self.clock))
        )
