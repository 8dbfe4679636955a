"""wrong: wrong-page

The first page of a request, where its prompt begins.
"""


def pad(batch: Batch, size: int) -> Padded:
    more = size - len(batch.rows)
    rows, starts, pages = list(batch.rows), list(batch.starts), [req.pages[0] for req in batch.reqs]
    at = starts.index(min(starts))
    return Padded(rows + [rows[at]] * more, starts + [starts[at]] * more, pages + [pages[at]] * more)
