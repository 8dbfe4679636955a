"""right: entries as tuples, the shortest by min"""


def pad(batch: Batch, size: int) -> Padded:
    entries = [
        (row, start, req.pages[-1]) for row, start, req in zip(batch.rows, batch.starts, batch.reqs, strict=True)
    ]
    entries += [min(entries, key=lambda entry: entry[1])] * (size - len(entries))
    rows, starts, pages = map(list, zip(*entries, strict=True))
    return Padded(rows, starts, pages)
