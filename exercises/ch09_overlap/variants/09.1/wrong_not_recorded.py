"""wrong: round-not-recorded

Keeps the last round only.
"""


class TwoClockEngine:
    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        wait = (self.clock, max(self.clock, device[1]))
        self.clock = wait[1] + self.host.settle
        self.lanes = [Lane(batch.index, batch.phase, tuple(batch.uids), launch, device, wait, (wait[1], self.clock))]
