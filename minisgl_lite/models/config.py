"""ModelConfig: what a Hugging Face folder says about its model. Chapter 01."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .hf_json import CheckpointError, Fields
from .support import architecture_of, context_limit, refuse_unsupported


@dataclass(frozen=True)
class Llama3Scaling:
    """Rope stretched to longer contexts: low frequencies are divided by `factor`, high ones kept, those between mixed.

    A frequency is low when its wavelength is above original_max_len / low_freq_factor, high below
    original_max_len / high_freq_factor (wavelengths in tokens).
    """

    factor: float
    low_freq_factor: float
    high_freq_factor: float
    original_max_len: int


@dataclass(frozen=True)
class RopeConfig:
    """base: frequencies are powers of it. scaling: None is plain rope."""

    base: float = 10_000.0
    scaling: Llama3Scaling | None = None


@dataclass(frozen=True)
class ModelConfig:
    """A decoder's sizes and options, whichever of the supported architectures it is.

    head_dim: numbers a head, not always hidden_size / num_heads. max_seq_len: positions that the model knows.
    qkv_bias, o_bias, mlp_bias: which linear layers add a bias. qk_norm: queries and keys are normalised a head.
    eos_ids: tokens that end a text; may be empty. dtype: name of the weights' dtype where the folder says it.
    """

    architecture: str
    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    max_seq_len: int
    rms_norm_eps: float = 1e-6
    rope: RopeConfig = RopeConfig()
    tie_word_embeddings: bool = False
    qkv_bias: bool = False
    o_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False
    eos_ids: tuple[int, ...] = ()
    dtype: str | None = None

    @classmethod
    def from_folder(cls, folder: Path, max_seq_len: int | None = None) -> ModelConfig:
        """Read config.json and, where it is there, generation_config.json.

        max_seq_len: the most positions that will be used, if that is known: a sliding window no narrower than that
        can be done without. Raises CheckpointError (a ValueError, one line) for a missing or broken file or field,
        and for anything that the decoder does not implement.
        """
        fields = Fields.read(folder / "config.json")
        architecture = architecture_of(fields)
        refuse_unsupported(fields)
        heads, kv_heads, head_dim = _heads(fields, architecture)
        attention_bias = architecture in ("LlamaForCausalLM", "Qwen3ForCausalLM") and fields.flag("attention_bias")
        return cls(
            architecture=architecture,
            vocab_size=fields.integer("vocab_size"),
            hidden_size=fields.integer("hidden_size"),
            intermediate_size=fields.integer("intermediate_size"),
            num_layers=fields.integer("num_hidden_layers"),
            num_heads=heads,
            num_kv_heads=kv_heads,
            head_dim=head_dim,
            max_seq_len=context_limit(fields, architecture, max_seq_len),
            rms_norm_eps=fields.number("rms_norm_eps"),
            rope=_rope(fields),
            tie_word_embeddings=fields.flag("tie_word_embeddings"),
            qkv_bias=attention_bias or architecture == "Qwen2ForCausalLM",
            o_bias=attention_bias,
            mlp_bias=architecture == "LlamaForCausalLM" and fields.flag("mlp_bias"),
            qk_norm=architecture == "Qwen3ForCausalLM",
            eos_ids=_eos_ids(folder, fields),
            dtype=fields.get("dtype", fields.get("torch_dtype")),  # the new name, then the old one
        )


def _heads(fields: Fields, architecture: str) -> tuple[int, int, int]:
    """(query heads, KV heads, head_dim)"""
    heads = fields.integer("num_attention_heads")
    kv_heads = fields.integer("num_key_value_heads", heads)
    if heads % kv_heads:
        raise fields.error("num_key_value_heads", f"it must divide num_attention_heads, which is {heads}")
    # Hugging Face's Qwen3 has a default of its own; the others derive it
    default = 128 if architecture == "Qwen3ForCausalLM" else fields.integer("hidden_size") // heads
    head_dim = fields.integer("head_dim", default)
    if head_dim % 2:
        raise CheckpointError(f"{fields.path}: head_dim is {head_dim}; rope needs an even number")
    return heads, kv_heads, head_dim


def rope_fields(fields: Fields) -> Fields:
    """The object that describes the rope: a field that had two names, and may hold one object for each kind of layer.

    Empty where there is none. What is absent in it is looked for at the top level by the caller.
    """
    for name in ("rope_scaling", "rope_parameters"):
        if fields.get(name):
            rope = fields.inside(name)
            return rope.inside("full_attention") if "full_attention" in rope.values else rope
    return Fields(fields.path, {})


def _rope(fields: Fields) -> RopeConfig:
    rope = rope_fields(fields)
    base = rope.number("rope_theta", fields.number("rope_theta", 10_000.0))
    if rope.get("rope_type", rope.get("type", "default")) == "default":
        return RopeConfig(base)
    original: int = fields.get("original_max_position_embeddings", fields.integer("max_position_embeddings"))
    scaling = Llama3Scaling(
        factor=rope.number("factor"),
        low_freq_factor=rope.number("low_freq_factor"),
        high_freq_factor=rope.number("high_freq_factor"),
        original_max_len=rope.integer("original_max_position_embeddings", original),
    )
    return RopeConfig(base, scaling)


def _eos_ids(folder: Path, fields: Fields) -> tuple[int, ...]:
    """End-of-text ids as Hugging Face's generate takes them: a generation_config.json that says nothing means none."""
    path = folder / "generation_config.json"
    source = Fields.read(path) if path.exists() else fields
    value: Any = source.get("eos_token_id", [])
    ids = value if isinstance(value, list) else [value]
    if not all(type(token) is int and token >= 0 for token in ids):
        raise source.error("eos_token_id", "it must be a token id or a list of them")
    return tuple(ids)
