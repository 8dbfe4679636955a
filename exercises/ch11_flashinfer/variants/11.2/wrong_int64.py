"""wrong: not-int32

Leaves the list as the table has it.
"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    total = sum(counts)
    (number,) = upload(inputs.rows.device, counts)
    entry = torch.repeat_interleave(number, output_size=total)
    first = (torch.cumsum(number, 0) - number)[entry]
    column = torch.arange(total, device=entry.device) - first
    return inputs.page_table[inputs.rows[entry], column]
