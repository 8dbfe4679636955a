"""wrong: waits-for-the-device

Selects by a mask: how long the result is, only the device knows.
"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    (number,) = upload(inputs.rows.device, counts)
    table = inputs.page_table[:, : max(counts)].index_select(0, inputs.rows)
    return table[torch.arange(max(counts), device=number.device) < number[:, None]].to(torch.int32)
