"""right: cuts the rows with narrow"""


def targets(decoder: Decoder) -> dict[str, torch.Tensor]:
    c = decoder.config
    rows = {
        "q_proj": c.num_heads * c.head_dim,
        "k_proj": c.num_kv_heads * c.head_dim,
        "v_proj": c.num_kv_heads * c.head_dim,
        "gate_proj": c.intermediate_size,
        "up_proj": c.intermediate_size,
    }
    places = {}
    for name, parameter in decoder.named_parameters():
        theirs = name if name == "lm_head.weight" else "model." + name
        *path, module, kind = theirs.split(".")
        start = 0
        for part in FUSED.get(module, ()):
            places[".".join([*path, part, kind])] = parameter.data.narrow(0, start, rows[part])
            start += rows[part]
        if module not in FUSED:
            places[theirs] = parameter.data
    return places
