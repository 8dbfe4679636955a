"""wrong: common-prefix-wrong

Counts every place in which the two agree, also those behind the first difference.
"""


def common_prefix(a: list[int], b: list[int]) -> int:
    return sum(x == y for x, y in zip(a, b, strict=False))
