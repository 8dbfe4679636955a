"""wrong: one-copy-a-list

Makes each tensor by itself, with new_tensor.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        table = self.page_table
        new_rows, cols, pages, rows, starts = (
            table.new_tensor(x) for x in (*batch.new_pages, batch.rows, batch.starts)
        )
        table[new_rows, cols] = pages
        ids, out_loc = self.token_pool[rows, starts], self.slots(rows, starts)
        return StepInputs(
            ids=ids,
            positions=starts,
            out_loc=out_loc,
            rows=rows,
            page_table=table,
            kv_lens=starts + 1,
            starts=batch.starts,
            lens=batch.lens,
            last=None,
            emit_rows=rows,
            emit_cols=starts + 1,
        )
