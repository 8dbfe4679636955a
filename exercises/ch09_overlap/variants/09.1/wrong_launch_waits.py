"""wrong: launch-waits-for-the-device

The host stands still until the device is done: there is nothing left to overlap.
"""


class TwoClockEngine:
    def forward_batch(self, batch: Batch) -> TwoClockOutput:
        launch = (self.clock, self.clock + self.host.launch)
        self.clock = launch[1]
        start = self.device.clock = max(self.device.clock, self.clock)
        output = self.device.forward_batch(batch)
        self.clock = self.device.clock
        return TwoClockOutput(self, batch, output, launch, (start, self.device.clock))
