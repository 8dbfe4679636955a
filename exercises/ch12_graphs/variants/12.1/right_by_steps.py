"""right: builds the list one size at a time, and looks through it"""


def bucket_sizes(most: int) -> list[int]:
    sizes: list[int] = []
    size = 1
    while size < most:
        sizes.append(size)
        size = size * 2 if size < 8 else size + 8
    return [*sizes, most]


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    return next((size for size in sizes if size >= entries), None)
