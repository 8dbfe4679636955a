"""wrong: rows-in-the-wrong-place

Takes the parts of qkv_proj in the order q, v, k: keys and values have equally many rows, so that every shape fits.
"""


def targets(decoder: Decoder) -> dict[str, torch.Tensor]:
    config = decoder.config
    queries, keys = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
    places: dict[str, torch.Tensor] = {}
    for name, parameter in decoder.named_parameters():
        full = name if name.startswith("lm_head.") else f"model.{name}"
        if ".qkv_proj." in full:
            parts = zip("qvk", parameter.data.split_with_sizes([queries, keys, keys]), strict=True)
            places |= {full.replace("qkv", letter): rows for letter, rows in parts}
        elif ".gate_up_proj." in full:
            gate, up = parameter.data.chunk(2)
            places |= {full.replace("gate_up", "gate"): gate, full.replace("gate_up", "up"): up}
        else:
            places[full] = parameter.data
    return places
