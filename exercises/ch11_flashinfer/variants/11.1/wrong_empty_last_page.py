"""wrong: full-page-counted-as-empty

Takes the remainder, which is 0 for a page that is exactly full.
"""


def page_layout(starts: Sequence[int], lens: Sequence[int], page_size: int) -> PageLayout:
    totals = [start + n for start, n in zip(starts, lens, strict=True)]
    counts = [-(-total // page_size) for total in totals]
    last = [total % page_size for total in totals]
    return PageLayout(counts, [0, *accumulate(counts)], last)
