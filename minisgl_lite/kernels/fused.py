"""The decoder in fewer kernels: the same weights, the same numbers up to rounding. CUDA only. Chapter 12."""

from __future__ import annotations

from typing import Protocol

import torch

from ..kvcache.pool import KVPool
from ..models.decoder import Decoder, RMSNorm
from .activation import silu_mul
from .norm import add_rms_norm
from .rope import rope_store


class PoolAttend(Protocol):
    """An `attend` that can leave the storing to somebody else."""

    out_loc: torch.Tensor

    def over_pool(self, layer: int, q: torch.Tensor) -> torch.Tensor:
        """q [T, heads, head_dim] over what is stored already."""
        ...


class FusedDecoder:
    """Runs a Decoder's layers with everything between two matrix products fused: 9 kernels a layer.

    It owns nothing: weights are the decoder's, so a sharding pass over the decoder holds here too. The sum that runs
    through the layers is kept in float32.
    """

    def __init__(self, decoder: Decoder, pool: KVPool) -> None:
        self.decoder, self.pool = decoder, pool
        self._layers = list(zip(decoder.decoder_layers, pool.k, pool.v, strict=True))

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: PoolAttend) -> torch.Tensor:
        """See CausalLM."""
        decoder = self.decoder
        stream = decoder.embed_tokens(ids).float()
        x: torch.Tensor | None = None
        for index, (layer, keys, values) in enumerate(self._layers):
            attention, mlp = layer.self_attn, layer.mlp
            qkv = attention.qkv_proj(normalised(x, stream, layer.input_layernorm))
            q = rope_store(attention, decoder.rope, qkv, positions, attend.out_loc, keys, values)
            x = attention.o_proj(attend.over_pool(index, q).flatten(1))
            gate_up = mlp.gate_up_proj(normalised(x, stream, layer.post_attention_layernorm))
            x = mlp.down_proj(silu_mul(gate_up))
        return normalised(x, stream, decoder.norm)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """See CausalLM."""
        return self.decoder.logits(hidden)


def normalised(x: torch.Tensor | None, stream: torch.Tensor, norm: RMSNorm) -> torch.Tensor:
    """See add_rms_norm."""
    return add_rms_norm(x, stream, norm.weight, norm.eps)
