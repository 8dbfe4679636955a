"""wrong: later-stop-counts

Looks for the last place of a stop string in the text, not for the first.
"""


class StopStrings:
    def push(self, text: str) -> str:
        if self.found:
            return ""
        text = self._held + text
        ends = [(at + len(stop), at) for stop in self.stops if (at := text.rfind(stop)) >= 0]
        self.found = bool(ends)
        let_through = min(ends)[1] if ends else len(text) - self._beginning(text)
        self._held = "" if ends else text[let_through:]
        return text[:let_through]

    def _beginning(self, text: str) -> int:
        lengths = (n for stop in self.stops for n in range(1, len(stop)) if text.endswith(stop[:n]))
        return max(lengths, default=0)
