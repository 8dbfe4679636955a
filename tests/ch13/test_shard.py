"""A model in parts gives the whole model's numbers, and each part reads its own weights only."""

from __future__ import annotations

import pytest
import torch
from safetensors import safe_open

from minisgl_lite.models.checkpoint import load
from minisgl_lite.models.config import ModelConfig
from minisgl_lite.models.hf_json import CheckpointError
from minisgl_lite.models.scripted import scripted_config
from minisgl_lite.models.weights import stream, targets
from minisgl_lite.parallel.comm import ThreadCommunicator
from minisgl_lite.parallel.shard import Shard, cut_of, local_sizes, require_divisible
from tests.helpers.checkpoints import make_checkpoint, read_tensors, shard, write_tensors
from tests.helpers.ranks import logits_of, on_threads, split_logits

IDS = [5, 128, 64, 65, 2, 7, 100]
BIASED = {"attention_bias": True, "mlp_bias": True}


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("llama", {}),
        ("llama", BIASED),
        ("llama", {"num_key_value_heads": 4}),
        ("llama", {"num_key_value_heads": 1, "num_attention_heads": 8}),
        ("qwen2", {}),
        ("qwen3", {}),
        ("qwen3", {"tie_word_embeddings": False, "attention_bias": True}),
        ("mistral", {}),
    ],
)
@pytest.mark.parametrize("vocab", [128, 129])
def test_all_ranks_have_the_logits_of_the_whole_model(tmp_path, kind, options, vocab, size):
    make_checkpoint(tmp_path, kind, vocab_size=vocab, **options)
    ids = [min(token, vocab - 1) for token in IDS]
    whole = logits_of(load(tmp_path, device="cpu").decoder, ids)
    parts = split_logits(tmp_path, ids, size)
    for part in parts:
        assert part.shape == whole.shape
        torch.testing.assert_close(part, whole, rtol=0, atol=5e-5)
        assert torch.equal(part, parts[0])


def test_weights_spread_over_files(tmp_path):
    make_checkpoint(tmp_path, "llama")
    whole = logits_of(load(tmp_path, device="cpu").decoder, IDS[:1])
    shard(tmp_path)
    torch.testing.assert_close(split_logits(tmp_path, IDS[:1], 2)[1], whole, rtol=0, atol=5e-5)


def test_more_ranks_than_words_for_all(tmp_path):
    """Seven words on four ranks: two each, one padded."""
    make_checkpoint(tmp_path, "qwen2", vocab_size=7, eos_token_id=2)
    ids = [0, 6, 3, 5]
    whole = logits_of(load(tmp_path, device="cpu").decoder, ids)
    for part in split_logits(tmp_path, ids, 4):
        torch.testing.assert_close(part, whole, rtol=0, atol=5e-5)


def config(**sizes: int) -> ModelConfig:
    from dataclasses import replace

    return replace(scripted_config(), **sizes)


@pytest.mark.parametrize(
    ("sizes", "size", "words"),
    [
        ({"num_heads": 6, "num_kv_heads": 3}, 2, "tp_size is 2; it must divide the model's 3 KV heads or be"),
        ({"num_heads": 12, "num_kv_heads": 6}, 4, "tp_size is 4; it must divide the model's 6 KV heads"),
        ({"num_heads": 6, "num_kv_heads": 2}, 4, "tp_size is 4; it must divide the model's 6 query heads"),
        ({"intermediate_size": 15}, 2, "tp_size is 2; it must divide the model's 15 intermediate numbers"),
    ],
)
def test_what_cannot_be_split_is_refused_with_numbers(sizes, size, words):
    with pytest.raises(ValueError, match=words):
        require_divisible(config(**sizes), size)


def test_kv_heads_are_divided_or_kept_by_neighbours():
    assert local_sizes(config(num_heads=8, num_kv_heads=4), 2).num_kv_heads == 2
    four = config(num_heads=8, num_kv_heads=2)
    starts = [cut_of("model.layers.0.self_attn.k_proj.weight", four, rank, 4).start for rank in range(4)]
    assert starts == [0, 0, four.head_dim, four.head_dim]


@pytest.mark.parametrize("size", [2, 4])
def test_the_parts_of_a_tensor_make_the_whole_once(tmp_path, size):
    """Every number of the checkpoint is in one part; but for norms and row-parallel biases, which all have."""
    make_checkpoint(tmp_path, "llama", num_key_value_heads=4, vocab_size=129, **BIASED)
    model = ModelConfig.from_folder(tmp_path)
    parts = [dict(stream(tmp_path, Shard(model, comm).read)) for comm in ThreadCommunicator.group(size)]
    for name, whole in stream(tmp_path):
        cut = cut_of(name, model, 0, size)
        if cut is None:
            assert "norm" in name or name.endswith(("o_proj.bias", "down_proj.bias")), name
            assert all(torch.equal(part[name], whole) for part in parts), name
            continue
        joined = torch.cat([part[name] for part in parts], cut.axis)
        assert torch.equal(joined.narrow(cut.axis, 0, cut.total), whole), name
        assert not joined.narrow(cut.axis, cut.total, joined.shape[cut.axis] - cut.total).any(), name


class Counting:
    """A safetensors file that counts the numbers that are read."""

    def __init__(self, file):
        self.file, self.read = file, 0

    def get_tensor(self, name):
        tensor = self.file.get_tensor(name)
        self.read += tensor.numel()
        return tensor

    def get_slice(self, name):
        return CountingSlice(self, self.file.get_slice(name))


class CountingSlice:
    def __init__(self, counter, inner):
        self.counter, self.inner = counter, inner

    def get_shape(self):
        return self.inner.get_shape()

    def __getitem__(self, index):
        tensor = self.inner[index]
        self.counter.read += tensor.numel()
        return tensor


def test_a_rank_reads_its_part_only(tmp_path):
    make_checkpoint(tmp_path, "llama", num_key_value_heads=4)
    model = ModelConfig.from_folder(tmp_path)
    total, cut, read = 0, 0, []
    with safe_open(tmp_path / "model.safetensors", framework="pt") as file:
        for name in file.keys():  # noqa: SIM118
            numbers = file.get_tensor(name).numel()
            total += numbers
            cut += numbers if cut_of(name, model, 0, 2) else 0
        for comm in ThreadCommunicator.group(2):
            counting = Counting(file)
            for name in file.keys():  # noqa: SIM118
                Shard(model, comm).read(counting, name)
            read.append(counting.read)
    assert read == [total - cut // 2] * 2


def test_a_part_holds_its_share_of_the_weights(tmp_path):
    make_checkpoint(tmp_path, "qwen3")
    whole = load(tmp_path, device="cpu")
    parts = on_threads(2, lambda comm: load(tmp_path, device="cpu", split=lambda c: Shard(c, comm)))
    for part in parts:
        assert part.config == whole.config
        assert (part.local.num_heads, part.local.num_kv_heads, part.local.vocab_size) == (2, 1, 64)
        assert part.decoder.lm_head.weight is part.decoder.embed_tokens.weight, "a tied head is the part's own table"
        assert targets(part.decoder).keys() == targets(whole.decoder).keys()


@pytest.mark.parametrize("name", ["model.layers.1.mlp.up_proj.weight", "model.embed_tokens.weight"])
@pytest.mark.parametrize("rows", [-48, 32])
def test_a_tensor_of_another_size_than_the_config_says_is_refused(tmp_path, name, rows):
    """Also one that is exactly as large as a part, and one that a part could be cut from."""
    make_checkpoint(tmp_path, "llama", vocab_size=96)
    tensors = read_tensors(tmp_path)
    stored = tensors[name]
    tensors[name] = stored[:rows] if rows < 0 else torch.cat((stored, stored[:rows]))
    write_tensors(tmp_path, tensors)
    with pytest.raises(CheckpointError, match=rf"{name} has the shape .*by the config, axis 0 has 96"):
        split_logits(tmp_path, IDS[:1], 2)


def test_a_tied_head_that_differs_is_refused_in_its_part(tmp_path):
    make_checkpoint(tmp_path, "qwen2")
    tensors = read_tensors(tmp_path)
    same = tensors["model.embed_tokens.weight"].clone()
    write_tensors(tmp_path, tensors | {"lm_head.weight": same})
    assert split_logits(tmp_path, IDS[:1], 2)[0].shape == (1, 128)
    same[-1] += 1
    write_tensors(tmp_path, tensors | {"lm_head.weight": same})
    with pytest.raises(CheckpointError, match=r"lm_head\.weight differs from embed_tokens"):
        split_logits(tmp_path, IDS[:1], 2)


def test_what_goes_between_the_ranks(tmp_path):
    """A token costs two sums of its hidden state a layer and one for its embedding, and a part of the logits."""
    make_checkpoint(tmp_path, "llama")

    def moved(comm: ThreadCommunicator) -> tuple[int, int]:
        logits_of(load(tmp_path, device="cpu", split=lambda c: Shard(c, comm)).decoder, IDS[:1])
        return comm.reduced, comm.gathered

    assert on_threads(2, moved) == [((2 * 2 + 1) * 64, 64)] * 2
