"""right: adds up the gaps; the clocks with comparisons instead of max"""


class TwoClockEngine:
    def forward_batch(self, batch: Batch) -> TwoClockOutput:
        begin = self.clock
        self.clock += self.host.launch
        if self.device.clock < self.clock:
            self.device.clock = self.clock
        start = self.device.now()
        output = self.device.forward_batch(batch)
        return TwoClockOutput(self, batch, output, (begin, self.clock), (start, self.device.now()))

    def settle(self, batch: Batch, launch: Span, device: Span) -> None:
        asked = ready = self.now()
        if device[1] > asked:
            ready = device[1]
        done = ready + self.host.settle
        self.lanes += [
            Lane(
                index=batch.index,
                phase=batch.phase,
                uids=tuple(req.uid for req in batch.reqs),
                launch=launch,
                device=device,
                wait=(asked, ready),
                settle=(ready, done),
            )
        ]
        self.clock = done


def idle_share(lanes: Sequence[Lane]) -> float:
    idle = 0.0
    for i in range(1, len(lanes)):
        idle += lanes[i].device[0] - lanes[i - 1].device[1]
    return idle / (lanes[-1].device[1] - lanes[0].device[0]) if lanes else 0.0
