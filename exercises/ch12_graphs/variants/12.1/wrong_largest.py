"""wrong: not-the-smallest

Always the largest graph: a batch of one is padded to it.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({1, 2, 4, *range(8, most + 1, 8), most} & set(range(1, most + 1)))


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    return sizes[-1] if sizes and sizes[-1] >= entries else None
