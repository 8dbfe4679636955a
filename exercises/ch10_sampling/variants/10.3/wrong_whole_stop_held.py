"""wrong: held-without-need

Holds whatever shares a first letter with a stop string.
"""


class StopStrings:
    def push(self, text: str) -> str:
        if self.found:
            return ""
        text = self._held + text
        ends = [(at + len(stop), at) for stop in self.stops if (at := text.find(stop)) >= 0]
        self.found = bool(ends)
        let_through = (
            min(ends)[1]
            if ends
            else min((text.rfind(stop[0]) for stop in self.stops if stop[0] in text), default=len(text))
        )
        self._held = "" if ends else text[let_through:]
        return text[:let_through]

    def _beginning(self, text: str) -> int:
        lengths = (n for stop in self.stops for n in range(1, len(stop)) if text.endswith(stop[:n]))
        return max(lengths, default=0)
