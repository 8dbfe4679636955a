"""Which models the decoder can run. Everything else is refused by name, never run wrongly. Chapter 01."""

from __future__ import annotations

from .hf_json import CheckpointError, Fields

ARCHITECTURES = {
    "llama": "LlamaForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "mistral": "MistralForCausalLM",
}
ROPE_TYPES = ("default", "llama3")


def architecture_of(fields: Fields) -> str:
    """The model's class name in Hugging Face's library. Raises CheckpointError unless it is one that we run."""
    named = fields.texts("architectures")
    model_type = fields.get("model_type")
    architecture = ARCHITECTURES.get(model_type) if isinstance(model_type, str) else None
    if model_type is None and not named:
        raise CheckpointError(f"{fields.path}: the field model_type is missing")
    if model_type is None:
        architecture = named[0] if named[0] in ARCHITECTURES.values() else None
    if architecture is None or (named and architecture not in named):
        name = named[0] if named else model_type
        raise CheckpointError(
            f"{fields.path}: the architecture {name} (model_type {model_type}) is not supported; "
            f"these are: {', '.join(ARCHITECTURES.values())}"
        )
    return architecture


def refuse_unsupported(fields: Fields) -> None:
    """Raise CheckpointError for a feature that would change the numbers and that the decoder does not have."""
    if fields.get("hidden_act", "silu") != "silu":
        raise fields.error("hidden_act", "only silu is supported")
    for name in ("attn_logit_softcapping", "final_logit_softcapping", "quantization_config"):
        if fields.get(name) is not None:
            raise fields.error(name, "this feature is not supported")
    for name in ("rope_scaling", "rope_parameters"):
        if fields.get(name):
            _refuse_rope(fields.inside(name))
    _refuse_partial_rotary(fields)


def _refuse_rope(rope: Fields) -> None:
    kinds = [rope.inside(name) for name, value in rope.values.items() if isinstance(value, dict)]
    for one in kinds or [rope]:
        _refuse_partial_rotary(one)
        key = "rope_type" if one.get("rope_type") is not None else "type"
        if one.get(key, "default") not in ROPE_TYPES:
            raise one.error(key, f"the rope types supported are: {', '.join(ROPE_TYPES)}")


def _refuse_partial_rotary(fields: Fields) -> None:
    if fields.get("partial_rotary_factor", 1.0) != 1.0:
        raise fields.error("partial_rotary_factor", "partial rotary embeddings are not supported")


def context_limit(fields: Fields, architecture: str, asked: int | None) -> int:
    """Positions that the decoder can serve. Raises CheckpointError for a sliding window that would hide some of them.

    asked: the most that the caller will use; a window at least that wide never hides anything, and sets the limit.
    """
    limit = fields.integer("max_position_embeddings")
    window = _sliding_window(fields, architecture)
    if window is None or window >= limit:
        return limit
    if asked is not None and asked <= window:
        return window
    raise CheckpointError(
        f"{fields.path}: sliding_window is {window}, below the context of {asked or limit} positions; sliding windows "
        f"are not supported, but a max_seq_len of at most {window} does without"
    )


def _sliding_window(fields: Fields, architecture: str) -> int | None:
    """Positions that a layer with a window sees; None when no layer has one."""
    for kind in fields.texts("layer_types"):
        if kind not in ("full_attention", "sliding_attention"):
            raise fields.error("layer_types", f"layers of type {kind} are not supported")
    if architecture == "MistralForCausalLM":
        # absent is not null: Hugging Face's default is a window of 4096
        window = fields.values.get("sliding_window", 4096)
    elif _has_sliding_layers(fields, architecture):
        window = fields.get("sliding_window", 4096)
    else:
        return None
    if window is not None and (type(window) is not int or window < 1):
        raise fields.error("sliding_window", "it must be null or an integer of at least 1")
    return window


def _has_sliding_layers(fields: Fields, architecture: str) -> bool:
    kinds = fields.texts("layer_types")
    if kinds:
        return "sliding_attention" in kinds
    if architecture == "LlamaForCausalLM" or not fields.flag("use_sliding_window"):
        return False
    first = fields.get("max_window_layers", 28)
    if type(first) is not int or first < 0:
        raise fields.error("max_window_layers", "it must be an integer of at least 0")
    return fields.integer("num_hidden_layers") > first
