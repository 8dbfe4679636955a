"""right: asks each integer whether it is a size"""


def bucket_sizes(most: int) -> list[int]:
    return [n for n in range(1, most + 1) if n in (1, 2, 4, most) or n % 8 == 0]


def bucket_for(sizes: Sequence[int], entries: int) -> int | None:
    fitting = [size for size in sizes if size >= entries]
    return min(fitting) if fitting else None
