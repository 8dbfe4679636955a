"""right: finds the places in the flattened table"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    total = sum(counts)
    (number,) = upload(inputs.rows.device, counts)
    # where an entry's row begins in the flat table, less where its part begins in the list
    offset = inputs.rows * inputs.page_table.shape[1] - (number.cumsum(0) - number)
    places = torch.arange(total, device=number.device) + offset.repeat_interleave(number, output_size=total)
    return inputs.page_table.flatten().index_select(0, places).to(torch.int32)
