"""wrong: too-many-positions

Does not end the beginning off: a part of nothing but padding gets a row too many.
"""


class Cut:
    def read(self, file: Any, name: str) -> torch.Tensor:
        stored = file.get_slice(name)
        shape = stored.get_shape()
        if len(shape) <= self.axis or shape[self.axis] != self.total:
            raise CheckpointError(f"{name} has the shape {shape}; by the config, axis {self.axis} has {self.total}")
        first, end = self.start, min(self.start + self.length, self.total)
        part: torch.Tensor = stored[(slice(None),) * self.axis + (slice(first, end),)]
        shape[self.axis] = self.length - (end - first)
        return torch.cat((part, part.new_zeros(shape)), self.axis)


def cut_of(name: str, config: ModelConfig, rank: int, size: int) -> Cut | None:
    local, dim = local_sizes(config, size), config.head_dim
    queries = Cut(0, rank * local.num_heads * dim, local.num_heads * dim, config.num_heads * dim)
    keys = Cut(0, rank * config.num_kv_heads // size * dim, local.num_kv_heads * dim, config.num_kv_heads * dim)
    middle = Cut(0, rank * local.intermediate_size, local.intermediate_size, config.intermediate_size)
    words = Cut(0, rank * local.vocab_size, local.vocab_size, config.vocab_size)
    columns = {"q_proj": queries, "k_proj": keys, "v_proj": keys, "gate_proj": middle, "up_proj": middle}
    columns |= {"embed_tokens": words, "lm_head": words}
    rows = {"o_proj": replace(queries, axis=1), "down_proj": replace(middle, axis=1)}
    layer, kind = name.split(".")[-2:]
    return columns.get(layer) or (rows.get(layer) if kind == "weight" else None)
