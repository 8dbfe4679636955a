"""wrong: wrong-length

Adds one entry too few.
"""


def pad(batch: Batch, size: int) -> Padded:
    more = max(0, size - len(batch.rows) - 1)
    rows, starts, pages = list(batch.rows), list(batch.starts), [req.pages[-1] for req in batch.reqs]
    at = starts.index(min(starts))
    return Padded(rows + [rows[at]] * more, starts + [starts[at]] * more, pages + [pages[at]] * more)
