"""wrong: wrong-sizes

One size is missing: there is no graph of 2.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({1, 4, *range(8, most + 1, 8), most} & set(range(1, most + 1)))


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    at = bisect_left(sizes, entries)
    return sizes[at] if at < len(sizes) else None
