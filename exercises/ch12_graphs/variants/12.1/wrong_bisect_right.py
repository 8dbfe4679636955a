"""wrong: just-enough-is-refused

A batch of exactly 8 goes to the graph of 16.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({1, 2, 4, *range(8, most + 1, 8), most} & set(range(1, most + 1)))


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    return next((size for size in sizes if size > entries), None)
