"""wrong: not-the-table-itself

Picks the batch's rows of the table; attention picks them again.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        device = self.page_table.device
        new_rows, cols, pages, rows, starts = upload(device, *batch.new_pages, batch.rows, batch.starts)
        self.page_table[new_rows, cols] = pages
        return StepInputs(
            ids=self.token_pool[rows, starts],
            positions=starts,
            out_loc=self.slots(rows, starts),
            rows=rows,
            page_table=self.page_table[rows],
            kv_lens=starts + 1,
            starts=batch.starts,
            lens=batch.lens,
            last=None,
            emit_rows=rows,
            emit_cols=starts + 1,
        )
