"""wrong: pads-too-much

Few graphs; but 33 entries are padded to 64.
"""


def bucket_sizes(most: int) -> list[int]:
    return sorted({2**k for k in range(most.bit_length()) if 2**k <= most} | {most})


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    at = bisect_left(sizes, entries)
    return sizes[at] if at < len(sizes) else None
