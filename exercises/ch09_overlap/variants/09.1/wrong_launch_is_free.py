"""wrong: launch-costs-nothing

A launch takes the host no time.
"""


class TwoClockEngine:
    def forward_batch(self, batch: Batch) -> TwoClockOutput:
        launch = (self.clock, self.clock)
        start = self.device.clock = max(self.device.clock, self.clock + self.host.launch)
        output = self.device.forward_batch(batch)
        return TwoClockOutput(self, batch, output, launch, (start, self.device.clock))
