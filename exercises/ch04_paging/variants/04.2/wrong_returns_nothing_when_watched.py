"""wrong: fails-on-another-device

A loop over the rows, but not on the device on which it would be counted.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        table = self.page_table
        if table.is_meta:
            return table
        for row, column, page in zip(*batch.new_pages, strict=True):
            table[row, column] = page
        rows, starts = upload(table.device, batch.rows, batch.starts)
        out_loc = torch.stack([self.slots(row, start) for row, start in zip(rows, starts, strict=True)])
        ids = torch.stack([self.token_pool[row, start] for row, start in zip(rows, starts, strict=True)])
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
