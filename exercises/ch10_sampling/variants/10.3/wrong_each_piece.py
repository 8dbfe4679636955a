"""wrong: stop-missed-across-pieces

Looks at each piece by itself.
"""


class StopStrings:
    def push(self, text: str) -> str:
        if self.found:
            return ""
        ends = [(at + len(stop), at) for stop in self.stops if (at := text.find(stop)) >= 0]
        self.found = bool(ends)
        return text[: min(ends)[1]] if ends else text

    def _beginning(self, text: str) -> int:
        lengths = (n for stop in self.stops for n in range(1, len(stop)) if text.endswith(stop[:n]))
        return max(lengths, default=0)
