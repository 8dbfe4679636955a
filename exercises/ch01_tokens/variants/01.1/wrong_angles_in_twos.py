"""wrong: angles-in-twos"""


class Rope:
    def rows(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        cos, sin = self.cos[positions].to(dtype), self.sin[positions].to(dtype)
        sign = torch.ones(2 * sin.shape[-1])
        sign[: sin.shape[-1]] = -1
        return cos.repeat_interleave(2, -1).unsqueeze(1), (sign * sin.repeat_interleave(2, -1)).unsqueeze(1)
