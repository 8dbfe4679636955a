"""Logits of the decoder beside Hugging Face's, for every architecture and option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from minisgl_lite.attention.causal import CausalAttention
from minisgl_lite.models.checkpoint import load
from minisgl_lite.models.decoder import Decoder
from tests.helpers.checkpoints import LLAMA3, add_tokenizer, edit_json, make_checkpoint, random_prompts

CASES: list[tuple[str, dict[str, Any]]] = [
    ("llama", {}),
    ("llama", {"attention_bias": True}),
    ("llama", {"mlp_bias": True}),
    ("llama", {"tie_word_embeddings": True}),
    ("llama", {"num_attention_heads": 8}),
    ("llama", {"num_key_value_heads": 4}),
    ("llama", {"head_dim": 32, "rms_norm_eps": 1e-2}),
    ("llama", {"rope_parameters": LLAMA3}),
    ("llama", {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}),
    ("qwen2", {}),
    ("qwen2", {"tie_word_embeddings": False}),
    ("qwen3", {}),
    ("qwen3", {"attention_bias": True, "tie_word_embeddings": False}),
    ("qwen3", {"vocab_size": 131, "head_dim": 48}),
    ("qwen3", {"hidden_size": 60, "num_attention_heads": 8, "head_dim": 16}),
    ("mistral", {}),
    ("mistral", {"head_dim": 32, "sliding_window": 256}),
]


def logits(decoder: Any, ids: list[int]) -> torch.Tensor:
    with torch.inference_mode():
        hidden = decoder.forward(torch.tensor(ids), torch.arange(len(ids)), CausalAttention())
        out: torch.Tensor = decoder.logits(hidden)
    return out


@pytest.mark.parametrize(("kind", "options"), CASES, ids=lambda value: str(value))
def test_logits_equal_hf(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    theirs = make_checkpoint(tmp_path, kind, **options)
    decoder = load(tmp_path, device="cpu").decoder
    for prompt in ([5], *random_prompts(2, 30, 60)):
        with torch.inference_mode():
            expected = theirs(torch.tensor([prompt])).logits[0]
        torch.testing.assert_close(logits(decoder, prompt), expected, rtol=2e-4, atol=2e-4)


def test_the_rope_base_at_the_top_level_is_read_too(tmp_path: Path) -> None:
    options = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}
    theirs = make_checkpoint(tmp_path, "qwen3", **options)
    edit_json(tmp_path / "config.json", rope_parameters=..., rope_theta=1e6)
    prompt = random_prompts(1, 40, 40)[0]
    with torch.inference_mode():
        expected = theirs(torch.tensor([prompt])).logits[0]
    torch.testing.assert_close(logits(load(tmp_path, device="cpu").decoder, prompt), expected, rtol=2e-4, atol=2e-4)


def test_bfloat16_is_as_close_to_float32_as_hf_is(tmp_path: Path) -> None:
    theirs = make_checkpoint(tmp_path, "qwen3")
    prompt = random_prompts(1, 40, 40)[0]
    ours = logits(load(tmp_path, dtype="bfloat16", device="cpu").decoder, prompt)
    assert ours.dtype == torch.bfloat16
    with torch.inference_mode():
        exact = theirs(torch.tensor([prompt])).logits[0]
        rounded = theirs.to(torch.bfloat16)(torch.tensor([prompt])).logits[0]
    assert (ours.float() - exact).abs().mean() < 1.5 * (rounded.float() - exact).abs().mean()


def test_heads_are_read_from_the_weights(tmp_path: Path) -> None:
    """Half of the heads and half of the MLP, in the same module: what a tensor-parallel rank holds."""
    make_checkpoint(tmp_path, "qwen3", num_key_value_heads=2)
    decoder = load(tmp_path, device="cpu").decoder
    assert isinstance(decoder, Decoder)
    layer, dim = decoder.layers[0].self_attn, 32
    rows = [*range(2 * dim), *range(4 * dim, 5 * dim), *range(6 * dim, 7 * dim)]  # two query heads, their K and V
    layer.qkv_proj.weight = torch.nn.Parameter(layer.qkv_proj.weight[rows], requires_grad=False)
    layer.o_proj.weight = torch.nn.Parameter(layer.o_proj.weight[:, : 2 * dim], requires_grad=False)
    seen = []

    def attend(index: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        seen.append((q.shape[1], k.shape[1], v.shape[1]))
        return CausalAttention()(index, q, k, v)

    with torch.inference_mode():
        decoder.forward(torch.tensor([5, 6]), torch.arange(2), attend)
    assert seen == [(2, 1, 1), (4, 2, 2)]


def test_tokenizer_is_loaded_when_asked_for(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    bare = load(tmp_path, device="cpu")
    assert bare.decode([5, 6]) == ""
    with pytest.raises(ValueError, match="no tokenizer"):
        bare.encode("t5")
    add_tokenizer(tmp_path, "{% for m in messages %}t9 {{ m.content }} {% endfor %}t9")
    checkpoint = load(tmp_path, device="cpu")
    assert checkpoint.encode("t5 t7") == [5, 7]
    assert checkpoint.decode([5, 2, 7]) == "t5 t7"
    assert checkpoint.tokenizer.apply_chat_template([{"role": "user", "content": "t5"}]) == [9, 5, 9]
