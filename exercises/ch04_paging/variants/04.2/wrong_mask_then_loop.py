"""wrong: waits-for-the-device

Indexes with a mask, which fails where tensors have no contents, and asks for each token behind it.
"""


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        table = self.page_table
        new_rows, cols, pages, rows, starts = upload(table.device, *batch.new_pages, batch.rows, batch.starts)
        real = pages >= 0
        table[new_rows[real], cols[real]] = pages[real]
        out_loc = self.slots(rows, starts)
        tokens = [self.token_pool[row, start].item() for row, start in zip(batch.rows, batch.starts, strict=True)]
        ids = torch.tensor(tokens, device=table.device)
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
