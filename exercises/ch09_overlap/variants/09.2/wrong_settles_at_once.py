"""wrong: settles-at-once

The loop of chapter 05.
"""


class OverlapLoop:
    def step(self) -> list[Event]:
        return self.settle(self._launch_behind(None))
