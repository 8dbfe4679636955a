"""wrong: cached-part-forgotten

Every entry starts at position 0, also where a part of it is computed already: right for fresh prompts only.
"""


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    ends = torch.cumsum(lens, 0)
    entry = torch.repeat_interleave(lens, output_size=total)
    return Ragged(torch.arange(total, device=lens.device) - (ends - lens)[entry], entry, ends)
