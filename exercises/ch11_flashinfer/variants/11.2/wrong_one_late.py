"""wrong: starts-one-late

Counts the places of an entry from 1.
"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    total = sum(counts)
    (number,) = upload(inputs.rows.device, counts)
    entry = torch.repeat_interleave(number, output_size=total)
    first = (torch.cumsum(number, 0) - number)[entry]
    column = torch.arange(total, device=entry.device) - first + 1
    return inputs.page_table[inputs.rows[entry], column.clamp(max=inputs.page_table.shape[1] - 1)].to(torch.int32)
