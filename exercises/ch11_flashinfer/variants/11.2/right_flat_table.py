"""right: finds the places in the flattened table; entries and columns are counted on the host"""


def page_indices(inputs: StepInputs, counts: Sequence[int]) -> torch.Tensor:
    entry = [i for i, n in enumerate(counts) for _ in range(n)]
    column = [j for n in counts for j in range(n)]
    which, at = upload(inputs.rows.device, entry, column)
    places = inputs.rows.index_select(0, which) * inputs.page_table.shape[1] + at
    return inputs.page_table.flatten().index_select(0, places).to(torch.int32)
