"""wrong: entries-moved

Sorts the batch, shortest first: the tokens go to other requests.
"""


def pad(batch: Batch, size: int) -> Padded:
    entries = sorted(zip(batch.starts, batch.rows, [req.pages[-1] for req in batch.reqs], strict=True))
    entries += [entries[0]] * (size - len(entries))
    return Padded([e[1] for e in entries], [e[0] for e in entries], [e[2] for e in entries])
