"""wrong: larger-than-most

Begins with 1, 2 and 4, however few there may be.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({1, 2, 4, *range(8, most + 1, 8), most})


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    at = bisect_left(sizes, entries)
    return sizes[at] if at < len(sizes) else None
