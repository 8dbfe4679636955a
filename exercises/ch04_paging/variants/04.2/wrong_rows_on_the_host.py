"""wrong: tensor-left-on-the-host

Passes the batch's own list of rows, which the attention cannot index with.
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
            rows=batch.rows,
            page_table=self.page_table,
            kv_lens=starts + 1,
            starts=batch.starts,
            lens=batch.lens,
            last=None,
            emit_rows=rows,
            emit_cols=starts + 1,
        )
