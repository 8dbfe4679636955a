"""wrong: gives-up-too-early

Lets OutOfPages through while pages are still in flight.
"""


class OverlapLoop:
    def _launch_behind(self, before: Flight | None) -> Flight | None:
        return self.launch()
