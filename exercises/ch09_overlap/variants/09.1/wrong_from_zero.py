"""wrong: counts-from-zero

Counts the time before the device's first start as idle.
"""


def idle_share(lanes: Sequence[Lane]) -> float:
    if not lanes:
        return 0.0
    busy = sum(end - start for start, end in (lane.device for lane in lanes))
    return 1.0 - busy / lanes[-1].device[1]
