"""wrong: changes-the-batch

Extends the lists of the batch.
"""


def pad(batch: Batch, size: int) -> Padded:
    more, pages = size - len(batch.rows), [req.pages[-1] for req in batch.reqs]
    rows, starts = batch.rows, batch.starts
    at = starts.index(min(starts))
    for part in (rows, starts, pages):
        part += [part[at]] * more
    return Padded(rows, starts, pages)
