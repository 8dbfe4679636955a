"""wrong: not-cut-at-the-count

Puts whole rows one after the other and takes the first so many.
"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    table = inputs.page_table.index_select(0, inputs.rows)
    return table.flatten()[: sum(counts)].to(torch.int32)
