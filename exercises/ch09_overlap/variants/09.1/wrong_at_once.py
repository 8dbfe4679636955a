"""wrong: two-batches-at-once

The device starts whatever it is given at once, also beside another batch.
"""


class TwoClockEngine:
    def forward_batch(self, batch: Batch) -> TwoClockOutput:
        launch = (self.clock, self.clock + self.host.launch)
        self.clock = launch[1]
        start = self.device.clock = self.clock
        output = self.device.forward_batch(batch)
        return TwoClockOutput(self, batch, output, launch, (start, self.device.clock))
