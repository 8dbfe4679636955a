"""wrong: count-outlives-its-request

A request that starts leaves its count to the next one with its uid.
"""


class BypassPrefillManager:
    def placed(self, req: Req, n: int) -> None:
        super().placed(req, n)
