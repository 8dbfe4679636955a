"""wrong: slice-ends-at-its-length

Cuts the rows start : n, not start : start + n.
"""


def targets(decoder: Decoder) -> dict[str, torch.Tensor]:
    config = decoder.config
    queries, keys = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
    sizes = {"qkv_proj": [queries, keys, keys], "gate_up_proj": [config.intermediate_size] * 2}
    places: dict[str, torch.Tensor] = {}
    for name, parameter in decoder.named_parameters():
        full = name if name.startswith("lm_head.") else f"model.{name}"
        fused = next((part for part in FUSED if f".{part}." in full), None)
        if fused is None:
            places[full] = parameter.data
            continue
        start = 0
        for part, n in zip(FUSED[fused], sizes[fused], strict=True):
            places[full.replace(fused, part)] = parameter.data[start:n]
            start += n
    return places
