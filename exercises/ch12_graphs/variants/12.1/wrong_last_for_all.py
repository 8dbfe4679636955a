"""wrong: fits-where-nothing-does

What is too large gets the largest graph.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({1, 2, 4, *range(8, most + 1, 8), most} & set(range(1, most + 1)))


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    at = bisect_left(sizes, entries)
    return sizes[min(at, len(sizes) - 1)] if sizes else None
