"""wrong: last-page-forgotten

Counts full pages only.
"""


def page_layout(starts: Sequence[int], lens: Sequence[int], page_size: int) -> PageLayout:
    totals = [start + n for start, n in zip(starts, lens, strict=True)]
    counts = [total // page_size for total in totals]
    last = [(total - 1) % page_size + 1 for total in totals]
    return PageLayout(counts, [0, *accumulate(counts)], last)
