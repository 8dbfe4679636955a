"""wrong: common-prefix-wrong

The bisection ends one too far.
"""


def common_prefix(a: list[int], b: list[int]) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle + 1
        else:
            high = middle
    return low
