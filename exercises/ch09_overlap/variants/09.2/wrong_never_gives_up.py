"""wrong: hides-the-refusal

Never lets OutOfPages through: a loop that does nothing, for ever.
"""


class OverlapLoop:
    def _launch_behind(self, before: Flight | None) -> Flight | None:
        try:
            return self.launch()
        except OutOfPages:
            return None
