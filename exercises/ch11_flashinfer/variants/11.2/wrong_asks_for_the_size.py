"""wrong: waits-for-the-device

Does not say how long the result of repeat_interleave is, though the host knows.
"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    total = sum(counts)
    (number,) = upload(inputs.rows.device, counts)
    entry = torch.repeat_interleave(number)
    first = (torch.cumsum(number, 0) - number)[entry]
    column = torch.arange(total, device=entry.device) - first
    return inputs.page_table[inputs.rows[entry], column].to(torch.int32)
