"""wrong: table-not-read

As if every request lay at the start of the pool, in one piece.
"""


class Tables:
    def slots(self, rows: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return positions // self.page_size * self.page_size + positions % self.page_size
