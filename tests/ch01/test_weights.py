"""Weights in any order, from any file; what does not fit is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from minisgl_lite.models.checkpoint import load
from minisgl_lite.models.decoder import Decoder
from minisgl_lite.models.hf_json import CheckpointError
from minisgl_lite.models.weights import stream
from tests.helpers.checkpoints import make_checkpoint, read_tensors, shard, write_tensors

Q = "model.layers.0.self_attn.q_proj.weight"


def state(folder: Path) -> dict[str, torch.Tensor]:
    decoder = load(folder, device="cpu").decoder
    assert isinstance(decoder, Decoder)
    return decoder.state_dict()


@pytest.mark.parametrize("kind", ["llama", "qwen2", "qwen3"])
@pytest.mark.parametrize("per_file", [1, 3])
def test_parts_of_a_fused_matrix_may_come_from_any_file(tmp_path: Path, kind: str, per_file: int) -> None:
    make_checkpoint(tmp_path, kind)
    whole = state(tmp_path)
    assert len(shard(tmp_path, per_file)) > 3
    pieces = state(tmp_path)
    assert whole.keys() == pieces.keys()
    assert all(torch.equal(whole[name], pieces[name]) for name in whole)


def test_fused_rows_are_where_they_belong(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, "llama", attention_bias=True)
    tensors, ours = read_tensors(tmp_path), state(tmp_path)
    prefix = "model.layers.1.self_attn."
    for kind in ("weight", "bias"):
        parts = [tensors[f"{prefix}{name}_proj.{kind}"] for name in "qkv"]
        assert torch.equal(ours[f"layers.1.self_attn.qkv_proj.{kind}"], torch.cat(parts))


def test_a_tied_head_may_be_there_or_not(tmp_path: Path) -> None:
    make_checkpoint(tmp_path, "qwen2")
    tensors = read_tensors(tmp_path)
    assert "lm_head.weight" not in tensors
    without = state(tmp_path)
    embedding = tensors["model.embed_tokens.weight"]
    write_tensors(tmp_path, {**tensors, "lm_head.weight": embedding.clone()})
    assert torch.equal(state(tmp_path)["lm_head.weight"], without["lm_head.weight"])
    write_tensors(tmp_path, {**tensors, "lm_head.weight": embedding + 1})
    with pytest.raises(CheckpointError, match=r"lm_head.weight differs from embed_tokens"):
        load(tmp_path, device="cpu")


def test_old_rope_buffers_are_ignored(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    write_tensors(tmp_path, {**read_tensors(tmp_path), "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(8)})
    assert state(tmp_path)


def test_missing_and_unknown_tensors_are_named_together(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    tensors = read_tensors(tmp_path)
    tensors["model.layers.0.self_attn.q_norm.weight"] = torch.ones(16)
    del tensors[Q], tensors["lm_head.weight"]
    write_tensors(tmp_path, tensors)
    with pytest.raises(CheckpointError, match="2 missing") as caught:
        load(tmp_path, device="cpu")
    for word in (Q, "lm_head.weight", "1 unknown", "q_norm", str(tmp_path)):
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_both_shapes_of_a_misfit_are_given(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    write_tensors(tmp_path, {**read_tensors(tmp_path), Q: torch.ones(32, 64)})
    with pytest.raises(CheckpointError, match=r"q_proj.weight has the shape \[32, 64\].*\[64, 64\]"):
        load(tmp_path, device="cpu")
    write_tensors(tmp_path, {**read_tensors(tmp_path), Q: torch.ones(64, 64, dtype=torch.int8)})
    with pytest.raises(CheckpointError, match=r"q_proj.weight holds torch.int8"):
        load(tmp_path, device="cpu")


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_a_truncated_file_is_named(tmp_path: Path, keep: int) -> None:
    make_checkpoint(tmp_path)
    path = shard(tmp_path, 5)[2]
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CheckpointError, match=f"{path.name}: broken or truncated") as caught:
        load(tmp_path, device="cpu")
    assert "\n" not in str(caught.value)


def test_a_file_of_the_index_that_is_not_there(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    path = shard(tmp_path, 5)[1]
    path.unlink()
    with pytest.raises(CheckpointError, match=f"{path.name}: there is no such file, but .* names it"):
        load(tmp_path, device="cpu")


def test_only_what_the_index_names_is_read(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    shard(tmp_path, 5)
    index = tmp_path / "model.safetensors.index.json"
    weight_map = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
    del weight_map[Q]
    index.write_text(json.dumps({"weight_map": weight_map}), encoding="utf-8")
    assert Q not in dict(stream(tmp_path))
    with pytest.raises(CheckpointError, match=f"1 missing: {Q}"):
        load(tmp_path, device="cpu")


def test_no_weights_at_all(tmp_path: Path) -> None:
    make_checkpoint(tmp_path)
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"neither model.safetensors nor"):
        load(tmp_path, device="cpu")
