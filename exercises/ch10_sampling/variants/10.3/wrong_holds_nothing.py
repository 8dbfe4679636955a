"""wrong: beginning-shown

Finds the stop string later, but has shown its beginning already.
"""


class StopStrings:
    def push(self, text: str) -> str:
        if self.found:
            return ""
        seen, self._held = len(self._held), self._held + text
        ends = [(at + len(stop), at) for stop in self.stops if (at := self._held.find(stop)) >= 0]
        self.found = bool(ends)
        end = min(ends)[1] if ends else len(self._held)
        new = self._held[seen:end]
        if self.found:
            self._held = ""
        return new

    def flush(self) -> str:
        return ""

    def _beginning(self, text: str) -> int:
        lengths = (n for stop in self.stops for n in range(1, len(stop)) if text.endswith(stop[:n]))
        return max(lengths, default=0)
