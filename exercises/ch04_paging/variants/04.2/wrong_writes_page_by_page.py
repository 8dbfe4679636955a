"""wrong: work-grows-with-the-batch

Writes the new entries of the page table one after the other.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        device = self.page_table.device
        rows, starts = upload(device, batch.rows, batch.starts)
        for row, column, page in zip(*batch.new_pages, strict=True):
            self.page_table[row, column] = page
        ends = starts + 1
        return StepInputs(
            ids=self.token_pool[rows, starts],
            positions=starts,
            out_loc=self.slots(rows, starts),
            rows=rows,
            page_table=self.page_table,
            kv_lens=ends,
            starts=batch.starts,
            lens=batch.lens,
            last=None,
            emit_rows=rows,
            emit_cols=ends,
        )
