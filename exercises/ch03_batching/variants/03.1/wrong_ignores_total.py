"""wrong: waits-for-the-device

Leaves out output_size: the device must be asked how long the result is.
"""


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    ends = torch.cumsum(lens, 0)
    entry = torch.repeat_interleave(lens)
    first = (ends - lens - starts)[entry]
    return Ragged(torch.arange(total, device=lens.device) - first, entry, ends)
