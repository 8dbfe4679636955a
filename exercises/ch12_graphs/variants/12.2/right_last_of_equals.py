"""right: appends one by one, and takes the last of equally short ones"""


def pad(batch: Batch, size: int) -> Padded:
    rows, starts, pages = list(batch.rows), list(batch.starts), [req.pages[-1] for req in batch.reqs]
    best = max(i for i, start in enumerate(starts) if start == min(starts))
    while len(rows) < size:
        rows.append(rows[best])
        starts.append(starts[best])
        pages.append(pages[best])
    return Padded(rows, starts, pages)
