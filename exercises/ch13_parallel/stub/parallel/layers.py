"""The modules in which ranks talk: embedding, row-parallel linear layer, output head. Chapter 13.

A column-parallel layer needs no module of its own: it is a linear layer with fewer outputs, and nobody asks for more.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from .comm import Communicator


class RowParallelLinear(nn.Module):
    """A linear layer of which each rank has some of the inputs: the products are added up over all ranks.

    weight: [outputs, inputs of this rank]. bias: [outputs], the same on every rank, added once, after the sum.
    """

    def __init__(self, linear: nn.Linear, comm: Communicator) -> None:
        """Takes over the parameters of `linear`, which is as large as this rank's part."""
        super().__init__()
        self.weight, self.bias, self._comm = linear.weight, linear.bias, comm

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x [T, inputs of this rank] -> [T, outputs], the same on every rank."""
        raise NotImplementedError("exercise 13.2: write the body of RowParallelLinear.forward")


class VocabParallelEmbedding(nn.Module):
    """An embedding of which each rank has some of the rows: a token is looked up where its row is, and is 0 elsewhere.

    weight: [rows, hidden], rows `first` .. first + rows - 1 of the vocabulary; what lies beyond its end is padding.
    """

    def __init__(self, embedding: nn.Embedding, comm: Communicator) -> None:
        """Takes over the rows of `embedding`, which is as large as this rank's part."""
        super().__init__()
        self.weight, self._comm = embedding.weight, comm
        self.first = comm.rank * embedding.num_embeddings

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """ids [T] -> [T, hidden], the same on every rank."""
        raise NotImplementedError("exercise 13.2: write the body of VocabParallelEmbedding.forward")


class ParallelLMHead(nn.Module):
    """The output head of which each rank has some of the rows: the ranks' logits are put side by side.

    weight: [rows, hidden], as in VocabParallelEmbedding, with which a tied model shares it.
    """

    def __init__(self, linear: nn.Linear, vocab_size: int, comm: Communicator) -> None:
        """Takes over the rows of `linear`; vocab_size: of the whole model, without padding."""
        super().__init__()
        self.weight, self.vocab_size, self._comm = linear.weight, vocab_size, comm

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """[N, hidden] -> [N, vocab], the same on every rank."""
        raise NotImplementedError("exercise 13.2: write the body of ParallelLMHead.forward")
