"""wrong: an-entry-of-nobody

The shortest row and its page, but position 0: that is a token of the prompt, written anew into the wrong place.
"""


def pad(batch: Batch, size: int) -> Padded:
    more = size - len(batch.rows)
    rows, starts, pages = list(batch.rows), list(batch.starts), [req.pages[-1] for req in batch.reqs]
    at = starts.index(min(starts))
    return Padded(rows + [rows[at]] * more, starts + [0] * more, pages + [pages[at]] * more)
