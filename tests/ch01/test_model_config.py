"""What ModelConfig reads, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from minisgl_lite.models.config import Llama3Scaling, ModelConfig, RopeConfig
from minisgl_lite.models.hf_json import CheckpointError

BASE: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 3,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5,
}
CLASS = {"llama": "Llama", "qwen2": "Qwen2", "qwen3": "Qwen3", "mistral": "Mistral"}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


def read(folder: Path, kind: str = "llama", generation: Any = None, drop: str = "", **fields: Any) -> ModelConfig:
    values = {**BASE, "model_type": kind, "architectures": [f"{CLASS.get(kind, 'Other')}ForCausalLM"], **fields}
    values.pop(drop, None)
    (folder / "config.json").write_text(json.dumps(values), encoding="utf-8")
    if generation is not None:
        (folder / "generation_config.json").write_text(json.dumps(generation), encoding="utf-8")
    return ModelConfig.from_folder(folder)


def test_sizes(tmp_path: Path) -> None:
    config = read(tmp_path)
    assert (config.vocab_size, config.hidden_size, config.intermediate_size, config.num_layers) == (100, 64, 96, 3)
    assert (config.num_heads, config.num_kv_heads, config.head_dim, config.max_seq_len) == (8, 2, 8, 512)
    assert config.rms_norm_eps == 1e-5
    assert not config.tie_word_embeddings


def test_head_dim_and_kv_heads(tmp_path: Path) -> None:
    assert read(tmp_path, head_dim=32).head_dim == 32
    assert read(tmp_path, head_dim=None).head_dim == 8
    assert read(tmp_path, "qwen3", hidden_size=60, head_dim=16).head_dim == 16
    assert read(tmp_path, num_key_value_heads=None).num_kv_heads == 8


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),  # expected: qkv_bias, o_bias, mlp_bias, qk_norm
    [
        ("llama", {}, (False, False, False, False)),
        ("llama", {"attention_bias": True}, (True, True, False, False)),
        ("llama", {"mlp_bias": True}, (False, False, True, False)),
        ("qwen2", {}, (True, False, False, False)),
        ("qwen2", {"attention_bias": False}, (True, False, False, False)),
        ("qwen3", {}, (False, False, False, True)),
        ("qwen3", {"attention_bias": True, "mlp_bias": True}, (True, True, False, True)),
        ("mistral", {"sliding_window": None, "attention_bias": True}, (False, False, False, False)),
    ],
)
def test_biases_are_where_hf_has_them(
    tmp_path: Path, kind: str, fields: dict[str, Any], expected: tuple[bool, ...]
) -> None:
    config = read(tmp_path, kind, **fields)
    assert (config.qkv_bias, config.o_bias, config.mlp_bias, config.qk_norm) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, RopeConfig(10_000.0)),
        ({"rope_theta": 1e6}, RopeConfig(1e6)),
        ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, RopeConfig(1e6)),
        ({"rope_theta": 5.0, "rope_parameters": {"rope_theta": 1e6}}, RopeConfig(1e6)),
        ({"rope_theta": 1e6, "rope_scaling": None}, RopeConfig(1e6)),
        ({"rope_theta": 5e5, "rope_scaling": LLAMA3}, RopeConfig(5e5, Llama3Scaling(8.0, 1.0, 4.0, 64))),
        ({"rope_parameters": {**LLAMA3, "rope_theta": 5e5}}, RopeConfig(5e5, Llama3Scaling(8.0, 1.0, 4.0, 64))),
        (
            {"rope_parameters": {"full_attention": {"rope_type": "default", "rope_theta": 7.0}}},
            RopeConfig(7.0),
        ),
    ],
)
def test_rope_in_all_its_places(tmp_path: Path, fields: dict[str, Any], expected: RopeConfig) -> None:
    assert read(tmp_path, **fields).rope == expected


@pytest.mark.parametrize(
    ("generation", "eos", "expected"),
    [
        ({"eos_token_id": 2}, 9, (2,)),
        ({"eos_token_id": [2, 7]}, 9, (2, 7)),
        ({"eos_token_id": None}, 9, ()),
        ({}, 9, ()),
        (None, 9, (9,)),
        (None, [9, 3], (9, 3)),
        (None, None, ()),
    ],
)
def test_eos_ids_are_those_of_hf_generate(
    tmp_path: Path, generation: Any, eos: int | list[int] | None, expected: tuple[int, ...]
) -> None:
    assert read(tmp_path, generation=generation, eos_token_id=eos).eos_ids == expected


def test_dtype_has_two_names(tmp_path: Path) -> None:
    assert read(tmp_path).dtype is None
    assert read(tmp_path, dtype="bfloat16").dtype == "bfloat16"
    assert read(tmp_path, torch_dtype="float16").dtype == "float16"
    assert read(tmp_path, dtype="bfloat16", torch_dtype="float16").dtype == "bfloat16"


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("mistral", {"sliding_window": None}),
        ("mistral", {"sliding_window": 512}),
        ("mistral", {}),
        ("qwen2", {"use_sliding_window": False, "sliding_window": 16}),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 3}),
        ("qwen3", {"use_sliding_window": True, "sliding_window": 512, "max_window_layers": 0}),
        ("qwen3", {"layer_types": ["full_attention"] * 3}),
    ],
)
def test_windows_that_hide_nothing_are_let_through(tmp_path: Path, kind: str, fields: dict[str, Any]) -> None:
    assert read(tmp_path, kind, **fields).max_seq_len == 512


def test_a_window_as_wide_as_what_is_asked_for_hides_nothing_either(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="below the context of 512"):
        read(tmp_path, "mistral", sliding_window=64)
    assert ModelConfig.from_folder(tmp_path, 64).max_seq_len == 64
    assert ModelConfig.from_folder(tmp_path, 20).max_seq_len == 64
    with pytest.raises(CheckpointError, match=r"sliding_window is 64, below the context of 65 .* at most 64"):
        ModelConfig.from_folder(tmp_path, 65)


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("gemma2", {}, "gemma2"),
        ("llama", {"architectures": ["LlamaForSequenceClassification"]}, "LlamaForSequenceClassification"),
        ("llama", {"hidden_act": "gelu"}, "hidden_act"),
        ("llama", {"attn_logit_softcapping": 50.0}, "attn_logit_softcapping"),
        ("llama", {"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
        ("llama", {"quantization_config": {"quant_method": "gptq"}}, "quantization_config"),
        ("llama", {"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        ("llama", {"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}}, "partial_rotary_factor"),
        ("llama", {"rope_scaling": {"type": "linear", "factor": 2.0}}, "linear"),
        ("llama", {"rope_parameters": {"rope_type": "yarn", "factor": 2.0}}, "yarn"),
        ("llama", {"rope_parameters": {"full_attention": {"rope_type": "dynamic"}}}, "dynamic"),
        ("llama", {"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "low_freq_factor"),
        ("llama", {"num_attention_heads": 6, "num_key_value_heads": 4}, "num_key_value_heads"),
        ("llama", {"head_dim": 7}, "head_dim"),
        ("llama", {"hidden_size": "64"}, "hidden_size"),
        ("llama", {"num_hidden_layers": 0}, "num_hidden_layers"),
        ("llama", {"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
        ("llama", {"eos_token_id": "</s>"}, "eos_token_id"),
        ("llama", {"layer_types": ["linear_attention"] * 3}, "linear_attention"),
        ("llama", {"layer_types": 5}, "layer_types is 5; it must be a list of strings"),
        ("llama", {"architectures": 5}, "architectures is 5; it must be a list of strings"),
        ("llama", {"architectures": {"a": 1}}, "architectures is .* a list of strings"),
        ("llama", {"rms_norm_eps": float("inf")}, "rms_norm_eps is inf; it must be a finite number above 0"),
        ("llama", {"rope_theta": 10**400}, "rope_theta is 1000+; it must be a finite number"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": [1]}, "max_window_layers"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": float("inf")}, "max_window"),
        ("mistral", {"sliding_window": 511}, "sliding_window"),
        ("mistral", {"sliding_window": 0}, "sliding_window"),
        ("mistral", {"sliding_window": "wide"}, "sliding_window"),
        ("mistral", {"max_position_embeddings": 32768}, "sliding_window"),
        ("qwen2", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 2}, "sliding_window"),
        ("qwen3", {"layer_types": ["full_attention", "sliding_attention"], "sliding_window": 16}, "sliding_window"),
    ],
)
def test_refused_by_name(tmp_path: Path, kind: str, fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        read(tmp_path, kind, **fields)
    assert "config.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", sorted(BASE.keys() - {"num_key_value_heads"}))
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    with pytest.raises(CheckpointError, match=f"config.json: the field {field} is missing"):
        read(tmp_path, drop=field)


@pytest.mark.parametrize(
    ("text", "words"), [("{", "not valid JSON"), ("[1]", "not a JSON object"), ("\udcff", "not valid JSON")]
)
def test_broken_json_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(CheckpointError, match=f"config.json: .*{words}"):
        ModelConfig.from_folder(tmp_path)


def test_broken_generation_config_is_named(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text("{", encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"generation_config.json: not valid JSON"):
        read(tmp_path)


def test_no_config_and_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CheckpointError, match=r"config.json: there is no such file"):
        ModelConfig.from_folder(tmp_path)

    def refuse(*_: Any, **__: Any) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_text", refuse)  # root may read anything, so a mode would prove nothing
    with pytest.raises(CheckpointError, match=r"config.json: no permission to read it"):
        ModelConfig.from_folder(tmp_path)
