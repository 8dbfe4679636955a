"""right: looks at every end of the joined text"""


class StopStrings:
    def push(self, text: str) -> str:
        if self.found:
            return ""
        text = self._held + text
        for end in range(1, len(text) + 1):
            starts = [end - len(stop) for stop in self.stops if text.startswith(stop, end - len(stop))]
            starts = [start for start in starts if start >= 0]
            if starts:
                self.found, self._held = True, ""
                return text[: min(starts)]
        keep = 0
        while keep < len(text) and not any(stop.startswith(text[keep:]) for stop in self.stops):
            keep += 1
        self._held = text[keep:]
        return text[:keep]
