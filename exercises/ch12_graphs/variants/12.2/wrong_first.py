"""wrong: not-the-shortest

Repeats the first entry, be it the longest.
"""


def pad(batch: Batch, size: int) -> Padded:
    more = size - len(batch.rows)
    rows, starts, pages = list(batch.rows), list(batch.starts), [req.pages[-1] for req in batch.reqs]
    return Padded(rows + rows[:1] * more, starts + starts[:1] * more, pages + pages[:1] * more)
