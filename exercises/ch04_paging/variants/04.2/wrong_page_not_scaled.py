"""wrong: page-not-scaled

Adds the offset to the page number instead of to the page's first slot.
"""


class Tables:
    def slots(self, rows: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return self.page_table[rows, positions // self.page_size] + positions % self.page_size
