"""right: counts, and where each entry begins, in one upload"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    total, begin = sum(counts), [sum(counts[:i]) for i in range(len(counts))]
    number, begins = upload(inputs.rows.device, counts, begin)
    entry = torch.repeat_interleave(number, output_size=total)
    column = torch.arange(total, device=number.device) - begins[entry]
    return inputs.page_table[inputs.rows[entry], column].to(torch.int32)
