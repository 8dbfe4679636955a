"""wrong: busy-share

Says how busy the device was.
"""


def idle_share(lanes: Sequence[Lane]) -> float:
    if not lanes:
        return 0.0
    busy = sum(end - start for start, end in (lane.device for lane in lanes))
    return busy / (lanes[-1].device[1] - lanes[0].device[0])
