"""wrong: waits-for-the-device

Fetches the numbers, loops over them in Python and sends the result back.
"""


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    entries = list(zip(starts.tolist(), lens.tolist(), strict=True))
    positions = [start + i for start, n in entries for i in range(n)]
    entry = [i for i, (_, n) in enumerate(entries) for _ in range(n)]
    return Ragged(torch.tensor(positions), torch.tensor(entry), torch.cumsum(lens, 0))
