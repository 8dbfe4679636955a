"""The decoder: one module for Llama, Qwen2, Qwen3 and Mistral. Chapter 01.

Sequences are ragged: T tokens of any number of requests lie one after the other, without a batch axis. Everything here
works on each token alone; only `attend`, which the caller hands in, lets tokens look at one another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import torch
import torch.nn.functional as F
from torch import nn

from .config import ModelConfig
from .rope import Rope, rotate

Attend = Callable[[int, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]
"""(layer, q [T, heads, head_dim], k and v [T, kv_heads, head_dim]) -> [T, heads, head_dim]. q and k are rotated."""


class CausalLM(Protocol):
    """What an engine needs of a model; `Decoder` is one, and so is its fake, `ScriptedDecoder`."""

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """ids, positions [T] int64 -> hidden states [T, hidden], normalised and ready for `logits`."""
        ...

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[N, hidden] -> [N, vocab]"""
        ...


def _linear(inputs: int, outputs: int, bias: bool) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=bias, device="meta")


def _allocate(model: nn.Module, dtype: torch.dtype, device: torch.device) -> None:
    """Give memory to parameters built on the meta device, once: no time goes into random values that nobody reads.

    `to_empty` does the same, but on the way it imports the symbolic half of torch's compiler: a second on a laptop.
    """
    for module in model.modules():
        for name, parameter in list(module.named_parameters(recurse=False)):
            memory = torch.empty(parameter.shape, dtype=dtype, device=device)
            setattr(module, name, nn.Parameter(memory, requires_grad=False))


class RMSNorm(nn.Module):
    """Scales the last axis to a root mean square of 1, then by a learned weight. Low precisions go through float32."""

    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size, device="meta"))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[..., size] -> [..., size], same dtype."""
        return F.rms_norm(x, self.weight.shape, self.weight, self.eps)


class SelfAttention(nn.Module):
    """Queries, keys and values from one fused matrix, rope, `attend`, output projection.

    The number of heads is read from what qkv_proj returns, so that a module holding some of the heads can take its
    place; `group`, the query heads that share one KV head, stays what it is.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        self.group = config.num_heads // config.num_kv_heads
        queries, keys = config.num_heads * config.head_dim, config.num_kv_heads * config.head_dim
        self.qkv_proj = _linear(config.hidden_size, queries + 2 * keys, config.qkv_bias)
        self.o_proj = _linear(queries, config.hidden_size, config.o_bias)
        self.q_norm = RMSNorm(config.head_dim, config.rms_norm_eps) if config.qk_norm else None
        self.k_norm = RMSNorm(config.head_dim, config.rms_norm_eps) if config.qk_norm else None

    def forward(
        self, x: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor], layer: int, attend: Attend
    ) -> torch.Tensor:
        """x [T, hidden] -> [T, hidden]; `rope` as given by `Rope.rows`."""
        qkv = self.qkv_proj(x).unflatten(-1, (-1, self.head_dim))
        kv_heads = qkv.shape[1] // (self.group + 2)
        q, k, v = qkv.split_with_sizes([kv_heads * self.group, kv_heads, kv_heads], 1)
        if self.q_norm is None or self.k_norm is None:
            qk = qkv[:, :-kv_heads]
        else:
            qk = torch.cat((self.q_norm(q), self.k_norm(k)), 1)
        q, k = rotate(qk, *rope).split_with_sizes([kv_heads * self.group, kv_heads], 1)
        out: torch.Tensor = self.o_proj(attend(layer, q, k, v).flatten(1))
        return out


class GatedMLP(nn.Module):
    """down(silu(gate(x)) * up(x)), with gate and up fused into one matrix."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.gate_up_proj = _linear(config.hidden_size, 2 * config.intermediate_size, config.mlp_bias)
        self.down_proj = _linear(config.intermediate_size, config.hidden_size, config.mlp_bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[T, hidden] -> [T, hidden]"""
        gate, up = self.gate_up_proj(x).chunk(2, -1)
        out: torch.Tensor = self.down_proj(F.silu(gate) * up)
        return out


class DecoderLayer(nn.Module):
    """Attention, then MLP: each reads a normalised copy of the stream and adds to it."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = SelfAttention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = GatedMLP(config)

    def forward(
        self, x: torch.Tensor, rope: tuple[torch.Tensor, torch.Tensor], layer: int, attend: Attend
    ) -> torch.Tensor:
        """x [T, hidden] -> [T, hidden]"""
        x = x + self.self_attn(self.input_layernorm(x), rope, layer, attend)
        out: torch.Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return out


class Decoder(nn.Module):
    """Embedding, layers, last norm and output head. Its weights start uninitialised: `weights.load_into` fills them."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype, device: torch.device) -> None:
        super().__init__()
        self.config = config
        vectors = torch.empty(config.vocab_size, config.hidden_size, device="meta")
        self.embed_tokens = nn.Embedding.from_pretrained(vectors)  # type: ignore[no-untyped-call, unused-ignore]
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.num_layers))
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = _linear(config.hidden_size, config.vocab_size, False)
        _allocate(self, dtype, device)
        if config.tie_word_embeddings:
            self.lm_head.weight = self.embed_tokens.weight
        self.rope = Rope(config.rope, config.head_dim, config.max_seq_len, device)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """ids, positions [T] int64 -> hidden states [T, hidden] after the last norm."""
        x: torch.Tensor = self.embed_tokens(ids)
        rope = self.rope.rows(positions, x.dtype)
        for index, layer in enumerate(self.layers):
            x = layer(x, rope, index, attend)
        out: torch.Tensor = self.norm(x)
        return out

    @property
    def decoder_layers(self) -> list[DecoderLayer]:
        """`layers`, as what they are."""
        return [cast(DecoderLayer, layer) for layer in self.layers]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[N, hidden] -> [N, vocab], in the model's dtype. Only the tokens that sample need this."""
        out: torch.Tensor = self.lm_head(hidden)
        return out
