"""A rank's part of a model: its sizes, what it reads of a checkpoint, where it talks to the others. Chapter 13."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch

from ..models.config import ModelConfig
from ..models.decoder import Decoder
from ..models.hf_json import CheckpointError
from .comm import Communicator
from .layers import ParallelLMHead, RowParallelLinear, VocabParallelEmbedding


def require_divisible(config: ModelConfig, size: int) -> None:
    """Raise ValueError, with the numbers, for a model that cannot be split into `size` equal parts.

    Query heads and the MLP are divided; KV heads are divided or, where there are fewer than ranks, kept by several
    ranks; the vocabulary is padded.
    """
    for what, count in (("query heads", config.num_heads), ("intermediate numbers", config.intermediate_size)):
        if count % size:
            raise ValueError(f"tp_size is {size}; it must divide the model's {count} {what}")
    heads = config.num_kv_heads
    if heads % size and size % heads:
        raise ValueError(f"tp_size is {size}; it must divide the model's {heads} KV heads or be a multiple of them")


def local_sizes(config: ModelConfig, size: int) -> ModelConfig:
    """The sizes of one of `size` equal parts. Raises ValueError, see require_divisible."""
    require_divisible(config, size)
    return replace(
        config,
        num_heads=config.num_heads // size,
        num_kv_heads=max(1, config.num_kv_heads // size),
        intermediate_size=config.intermediate_size // size,
        vocab_size=-(-config.vocab_size // size),
    )


@dataclass(frozen=True)
class Cut:
    """Positions `start` .. start + length - 1 of an axis that has `total`; beyond its end lie zeros, as padding."""

    axis: int
    start: int
    length: int
    total: int

    def read(self, file: Any, name: str) -> torch.Tensor:
        """The cut of a tensor in an open safetensors file; nothing else of it is read.

        Raises CheckpointError for a tensor that does not have `total` there.
        """
        raise NotImplementedError("exercise 13.1: write the body of Cut.read")


def cut_of(name: str, config: ModelConfig, rank: int, size: int) -> Cut | None:
    """What a rank takes of the tensor that Hugging Face calls `name`; None: all of it.

    Column-parallel layers are cut along their outputs (axis 0, and so are their biases), row-parallel ones along their
    inputs (axis 1; the bias is whole). Where there are fewer KV heads than ranks, size / heads ranks have the same.
    """
    raise NotImplementedError("exercise 13.1: write the body of cut_of")


class Shard:
    """One rank's part of a model; see models.checkpoint.Part."""

    def __init__(self, config: ModelConfig, comm: Communicator) -> None:
        """config: of the whole model. Raises ValueError when it cannot be split into comm.size equal parts."""
        self.config, self.comm = config, comm
        self.sizes = local_sizes(config, comm.size)

    def read(self, file: Any, name: str) -> torch.Tensor:
        """This rank's part of a tensor in an open safetensors file; nothing else of it is read."""
        cut = cut_of(name, self.config, self.comm.rank, self.comm.size)
        part: torch.Tensor = file.get_tensor(name) if cut is None else cut.read(file, name)
        return part

    def connect(self, decoder: Decoder) -> None:
        """Replace the modules of `decoder` in which ranks talk; they keep their parameters, and these their names."""
        comm, embedding, head = self.comm, decoder.embed_tokens, decoder.lm_head
        decoder.embed_tokens = VocabParallelEmbedding(embedding, comm)
        decoder.lm_head = ParallelLMHead(head, self.config.vocab_size, comm)  # type: ignore[assignment]
        for layer in decoder.layers:
            for block, name in ((layer.self_attn, "o_proj"), (layer.mlp, "down_proj")):
                setattr(block, name, RowParallelLinear(getattr(block, name), comm))
