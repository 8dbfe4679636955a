"""wrong: starts-before-it-is-told

The device starts when the launch begins.
"""


class TwoClockEngine:
    def forward_batch(self, batch: Batch) -> TwoClockOutput:
        launch = (self.clock, self.clock + self.host.launch)
        start = self.device.clock = max(self.device.clock, self.clock)
        self.clock = launch[1]
        output = self.device.forward_batch(batch)
        return TwoClockOutput(self, batch, output, launch, (start, self.device.clock))
