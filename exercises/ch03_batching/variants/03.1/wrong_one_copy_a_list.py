"""wrong: one-copy-a-list

Sends every list on its own.
"""


def upload(device: torch.device, *parts: Sequence[int]) -> tuple[torch.Tensor, ...]:
    return tuple(torch.tensor(list(part), dtype=torch.int64).to(device) for part in parts)
