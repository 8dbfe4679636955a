"""wrong: not-the-device-span

Measures from the host's first launch to its last settling.
"""


def idle_share(lanes: Sequence[Lane]) -> float:
    if not lanes:
        return 0.0
    busy = sum(end - start for start, end in (lane.device for lane in lanes))
    return 1.0 - busy / (lanes[-1].settle[1] - lanes[0].launch[0])
