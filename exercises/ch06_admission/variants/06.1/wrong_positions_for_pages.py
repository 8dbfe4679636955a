"""wrong: tokens-for-pages

Subtracts pages from positions: right as long as a page holds one.
"""


class AdmittingAdder:
    def need(self, req: Req) -> int:
        return req.limit - len(req.pages)
