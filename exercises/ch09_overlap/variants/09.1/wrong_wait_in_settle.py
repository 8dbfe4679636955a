"""wrong: wrong-span

The span of the settling begins when the host begins to wait.
"""


class TwoClockEngine:
    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        wait = (self.clock, max(self.clock, device[1]))
        self.clock = wait[1] + self.host.settle
        spans = (launch, device, wait, (wait[0], self.clock))
        self.lanes.append(Lane(batch.index, batch.phase, tuple(batch.uids), *spans))
