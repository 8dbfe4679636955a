"""wrong: new-positions-forgotten

Forgets that a position attends to itself.
"""


def page_layout(starts: Sequence[int], lens: Sequence[int], page_size: int) -> PageLayout:
    totals = list(starts)
    counts = [-(-total // page_size) for total in totals]
    last = [(total - 1) % page_size + 1 for total in totals]
    return PageLayout(counts, [0, *accumulate(counts)], last)
