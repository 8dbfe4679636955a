"""right: by the ends of the names, and with a loop over the kinds"""


class Cut:
    def read(self, file: Any, name: str) -> torch.Tensor:
        whole = file.get_slice(name)
        sizes = list(whole.get_shape())
        if self.axis >= len(sizes) or sizes[self.axis] != self.total:
            raise CheckpointError(f"{name}: {sizes}, but axis {self.axis} should be {self.total}")
        stop = min(self.start + self.length, self.total)
        start = min(self.start, stop)
        there = whole[start:stop] if self.axis == 0 else whole[:, start:stop]
        sizes[self.axis] = self.length
        out = there.new_zeros(sizes)
        out.narrow(self.axis, 0, stop - start).copy_(there)
        return out


def cut_of(name: str, config: ModelConfig, rank: int, size: int) -> Cut | None:
    def share(axis: int, whole: int) -> Cut:
        return Cut(axis, rank * (whole // size), whole // size, whole)

    dim = config.head_dim
    if name.endswith(("q_proj.weight", "q_proj.bias")):
        return share(0, config.num_heads * dim)
    if "k_proj" in name or "v_proj" in name:
        if config.num_kv_heads >= size:
            return share(0, config.num_kv_heads * dim)
        first_query = rank * config.num_heads // size
        group = config.num_heads // config.num_kv_heads
        return Cut(0, first_query // group * dim, dim, config.num_kv_heads * dim)
    if "gate_proj" in name or "up_proj" in name:
        return share(0, config.intermediate_size)
    if name.endswith("o_proj.weight"):
        return share(1, config.num_heads * dim)
    if name.endswith("down_proj.weight"):
        return share(1, config.intermediate_size)
    if name.endswith(("embed_tokens.weight", "lm_head.weight")):
        rows = (config.vocab_size + size - 1) // size
        return Cut(0, rank * rows, rows, config.vocab_size)
    return None
