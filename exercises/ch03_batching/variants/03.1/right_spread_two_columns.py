"""right: repeats the numbers of each entry instead of its index, cuts views with slices"""

from itertools import chain


def upload(device: torch.device, *parts: Sequence[int]) -> tuple[torch.Tensor, ...]:
    whole = torch.as_tensor(list(chain(*parts)), dtype=torch.int64).to(device)
    views, at = [], 0
    for part in parts:
        views.append(whole[at : at + len(part)])
        at += len(part)
    return tuple(views)


def ragged(starts: torch.Tensor, lens: torch.Tensor, total: int) -> Ragged:
    index = torch.arange(lens.shape[0], device=lens.device)
    ends = torch.cumsum(lens, dim=0)
    table = torch.stack((index, starts - (ends - lens)), 1).repeat_interleave(lens, 0, output_size=total)
    return Ragged(table[:, 1] + torch.arange(total, device=lens.device), table[:, 0], ends)
