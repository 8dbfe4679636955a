"""wrong: fails-on-another-device

A loop over the rows, with the modes switched off that would count it.
"""

from torch.utils._python_dispatch import _disable_current_modes


class Tables:
    def _decode(self, batch: Batch) -> StepInputs:
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            return self._loop(batch)

    def _loop(self, batch: Batch) -> StepInputs:
        table = self.page_table
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
