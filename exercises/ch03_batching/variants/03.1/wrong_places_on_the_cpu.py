"""wrong: device-ignored

Makes the places wherever torch makes tensors.
"""


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    ends = torch.cumsum(lens, 0)
    entry = torch.repeat_interleave(lens, output_size=total)
    positions = torch.arange(total) - (ends - lens - starts)[entry]
    return Ragged(positions, entry, ends)
