"""right: the last page holds what the pages before it do not"""


def page_layout(starts: Sequence[int], lens: Sequence[int], page_size: int) -> PageLayout:
    totals = list(map(int.__add__, starts, lens))
    counts = [(total + page_size - 1) // page_size for total in totals]
    last = [total - (count - 1) * page_size for total, count in zip(totals, counts, strict=True)]
    return PageLayout(counts, list(accumulate(counts, initial=0)), last)
