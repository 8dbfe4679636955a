"""right: fields by name, flat index instead of two

Reads the tables through their flat views.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        device = self.page_table.device
        new_rows, cols, pages, rows, starts = upload(device, *batch.new_pages, batch.rows, batch.starts)
        self.page_table[new_rows, cols] = pages
        ends = starts.add(1)
        width = self.token_pool.shape[1]
        return StepInputs(
            ids=self.token_pool.view(-1)[rows * width + starts],
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
