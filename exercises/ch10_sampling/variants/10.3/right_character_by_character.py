"""right: adds one character at a time, and looks at the end of the text only"""


class StopStrings:
    def push(self, text: str) -> str:
        out = ""
        for character in text:
            if self.found:
                break
            self._held += character
            complete = [len(stop) for stop in self.stops if self._held.endswith(stop)]
            if complete:
                out += self._held[: len(self._held) - max(complete)]
                self.found, self._held = True, ""
                break
            while self._held and not any(stop.startswith(self._held) for stop in self.stops):
                # the first character cannot begin a stop string any more
                out, self._held = out + self._held[0], self._held[1:]
        return out
