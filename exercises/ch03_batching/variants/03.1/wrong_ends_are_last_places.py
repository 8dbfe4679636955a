"""wrong: ends-not-one-past

Returns the place of each entry's last token instead of one past it.
"""


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    ends = torch.cumsum(lens, 0)
    entry = torch.repeat_interleave(lens, output_size=total)
    first = (ends - lens - starts)[entry]
    return Ragged(torch.arange(total, device=lens.device) - first, entry, ends - 1)
