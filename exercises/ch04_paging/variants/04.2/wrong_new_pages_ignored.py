"""wrong: new-pages-not-written

The new page never reaches the page table.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        device = self.page_table.device
        rows, starts = upload(device, batch.rows, batch.starts)
        return StepInputs(
            ids=self.token_pool[rows, starts],
            positions=starts,
            out_loc=self.slots(rows, starts),
            rows=rows,
            page_table=self.page_table,
            kv_lens=starts + 1,
            starts=batch.starts,
            lens=batch.lens,
            last=None,
            emit_rows=rows,
            emit_cols=starts + 1,
        )
