"""wrong: uids-not-kept

Records the batch's own list.
"""


class TwoClockEngine:
    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        wait = (self.clock, max(self.clock, device[1]))
        self.clock = wait[1] + self.host.settle
        uids = batch.uids
        self.lanes.append(Lane(batch.index, batch.phase, uids, launch, device, wait, (wait[1], self.clock)))
