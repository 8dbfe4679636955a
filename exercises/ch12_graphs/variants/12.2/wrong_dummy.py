"""wrong: an-entry-of-nobody

Row 0, position 0, page 0: they belong to somebody.
"""


def pad(batch: Batch, size: int) -> Padded:
    more = size - len(batch.rows)
    pages = [req.pages[-1] for req in batch.reqs]
    return Padded(batch.rows + [0] * more, batch.starts + [0] * more, pages + [0] * more)
