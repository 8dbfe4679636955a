"""right: a helper that yields the parts"""


def parts_of(name: str, tensor: torch.Tensor, decoder: Decoder) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensor under its own name, or the parts of a fused one."""
    config = decoder.config
    if "gate_up_proj" in name:
        gate, up = tensor.chunk(2)
        yield name.replace("gate_up_proj", "gate_proj"), gate
        yield name.replace("gate_up_proj", "up_proj"), up
    elif "qkv_proj" in name:
        q = config.num_heads * config.head_dim
        kv = config.num_kv_heads * config.head_dim
        yield name.replace("qkv_proj", "q_proj"), tensor[:q]
        yield name.replace("qkv_proj", "k_proj"), tensor[q : q + kv]
        yield name.replace("qkv_proj", "v_proj"), tensor[q + kv :]
    else:
        yield name, tensor


def targets(decoder: Decoder) -> dict[str, torch.Tensor]:
    places: dict[str, torch.Tensor] = {}
    for name, parameter in decoder.named_parameters():
        prefix = "" if name.startswith("lm_head") else "model."
        places.update(parts_of(prefix + name, parameter.detach(), decoder))
    return places
