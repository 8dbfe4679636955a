"""right: asks for each place which end it has not passed"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    (number,) = upload(inputs.rows.device, counts)
    ends = torch.cumsum(number, 0)
    places = torch.arange(sum(counts), device=inputs.rows.device)
    entry = torch.searchsorted(ends, places, right=True)
    column = places - (ends - number).index_select(0, entry)
    return inputs.page_table[inputs.rows.index_select(0, entry), column].int()
