"""wrong: page-taken-for-slot

Returns page numbers.
"""


class Tables:
    def slots(self, rows: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return self.page_table[rows, positions // self.page_size]
