"""wrong: too-small

The largest size that the batch fills, instead of the smallest that holds it.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({1, 2, 4, *range(8, most + 1, 8), most} & set(range(1, most + 1)))


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    if not sizes or entries > sizes[-1]:
        return None
    return max((size for size in sizes if size <= entries), default=sizes[0])
