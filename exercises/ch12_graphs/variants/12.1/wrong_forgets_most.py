"""wrong: most-is-missing

Ends at the last multiple of 8: the batches above it have no graph.
"""


def bucket_sizes(most: int) -> list[int]:
    return [size for size in (1, 2, 4, *range(8, most + 1, 8)) if size <= most]


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    at = bisect_left(sizes, entries)
    return sizes[at] if at < len(sizes) else None
