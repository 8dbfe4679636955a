"""The decoder in fewer kernels: the same weights, the same numbers up to rounding. CUDA only. Chapter 12."""

from __future__ import annotations

from typing import Any, Protocol

import torch
from torch import nn

from ..kvcache.pool import KVPool
from ..models.decoder import Decoder, RMSNorm
from .matvec import gated_linear, linear
from .norm import add_rms_norm
from .rope import rope_store


class PoolAttend(Protocol):
    """An `attend` that can leave the storing to somebody else."""

    out_loc: torch.Tensor

    def over_pool(self, layer: int, q: torch.Tensor) -> torch.Tensor:
        """q [T, heads, head_dim] over what is stored already."""
        ...


class IntoNorm(Protocol):
    """From a block's last matrix product to the next block's input: add to the stream, in place, and normalise."""

    def __call__(self, layer: nn.Module, x: torch.Tensor, stream: torch.Tensor, norm: RMSNorm) -> torch.Tensor:
        """stream [T, hidden] += layer(x); returns the stream normalised, [T, hidden] in the weights' dtype."""
        ...


def product(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """layer(x); a single row of a plain linear layer is read by a kernel of its own."""
    out: torch.Tensor = linear(x, layer.weight, layer.bias) if type(layer) is nn.Linear else layer(x)
    return out


def into_norm(layer: nn.Module, x: torch.Tensor, stream: torch.Tensor, norm: RMSNorm) -> torch.Tensor:
    """The plain IntoNorm: the product, and a kernel for what follows."""
    return add_rms_norm(product(layer, x), stream, norm.weight, norm.eps)


class FusedDecoder:
    """Runs a Decoder's layers with everything between two matrix products fused: 9 kernels a layer, 8 for one row.

    It owns nothing: weights are the decoder's, so a sharding pass over the decoder holds here too. The sum that runs
    through the layers is kept in float32.
    """

    def __init__(self, decoder: Decoder, pool: KVPool, into_norm: IntoNorm = into_norm) -> None:
        """into_norm: where another way is taken, because ranks add up what each has, say."""
        self.decoder, self.pool, self._into_norm = decoder, pool, into_norm
        layers: Any = decoder.decoder_layers
        norms = [*(layer.input_layernorm for layer in layers[1:]), decoder.norm]
        self._layers = list(zip(layers, pool.k, pool.v, norms, strict=True))

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: PoolAttend) -> torch.Tensor:
        """See CausalLM."""
        decoder, first = self.decoder, self._layers[0][0].input_layernorm
        stream = decoder.embed_tokens(ids).float()
        x = add_rms_norm(None, stream, first.weight, first.eps)
        for index, (layer, keys, values, next_norm) in enumerate(self._layers):
            attention, mlp, both = layer.self_attn, layer.mlp, layer.mlp.gate_up_proj
            qkv = product(attention.qkv_proj, x)
            q = rope_store(attention, decoder.rope, qkv, positions, attend.out_loc, keys, values)
            seen = attend.over_pool(index, q).flatten(1)
            x = self._into_norm(attention.o_proj, seen, stream, layer.post_attention_layernorm)
            x = self._into_norm(mlp.down_proj, gated_linear(x, both.weight, both.bias), stream, next_norm)
        return x

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """See CausalLM."""
        return product(self.decoder.lm_head, hidden)
