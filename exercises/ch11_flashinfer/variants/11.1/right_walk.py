"""right: goes through the entries and keeps all three lists as it goes"""


def page_layout(starts: Sequence[int], lens: Sequence[int], page_size: int) -> PageLayout:
    counts, ends, last = [], [0], []
    for start, n in zip(starts, lens, strict=True):
        full, rest = divmod(start + n, page_size)
        counts.append(full + (rest > 0))
        last.append(rest or page_size)
        ends.append(ends[-1] + counts[-1])
    return PageLayout(counts, ends, last)
