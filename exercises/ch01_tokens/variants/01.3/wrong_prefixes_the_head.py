"""wrong: head-with-prefix"""


def targets(decoder: Decoder) -> dict[str, torch.Tensor]:
    config = decoder.config
    queries, keys = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
    sizes = {"qkv_proj": [queries, keys, keys], "gate_up_proj": [config.intermediate_size] * 2}
    places: dict[str, torch.Tensor] = {}
    for name, parameter in decoder.named_parameters():
        full = f"model.{name}"
        fused = next((part for part in FUSED if f".{part}." in full), None)
        if fused is None:
            places[full] = parameter.data
            continue
        for part, rows in zip(FUSED[fused], parameter.data.split_with_sizes(sizes[fused]), strict=True):
            places[full.replace(fused, part)] = rows
    return places
