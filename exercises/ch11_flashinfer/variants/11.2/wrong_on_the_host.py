"""wrong: device-ignored

Makes the places on the CPU.
"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    total = sum(counts)
    (number,) = upload(inputs.rows.device, counts)
    entry = torch.repeat_interleave(number, output_size=total)
    first = (torch.cumsum(number, 0) - number)[entry]
    column = torch.arange(total) - first.to("cpu")
    return inputs.page_table[inputs.rows[entry], column].to(torch.int32)
