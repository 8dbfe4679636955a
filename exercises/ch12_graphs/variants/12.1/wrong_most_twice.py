"""wrong: a-size-twice

Puts the last size in once more where it is a multiple of 8.
"""


def bucket_sizes(most: int) -> list[int]:
    return [size for size in (1, 2, 4, *range(8, most + 1, 8)) if size <= most] + [most]


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    at = bisect_left(sizes, entries)
    return sizes[at] if at < len(sizes) else None
