"""A small Qwen3 forward pass with a dense cache, into which faults can be put: do the prompts notice them?"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import torch
import torch.nn.functional as F
from safetensors.torch import load_file


@dataclass(frozen=True)
class Fault:
    """What is done wrong; the default is nothing."""

    decode_shift: int = 0
    drop_last_layer: bool = False
    acausal: bool = False
    skip_qk_norm: bool = False
    tile_heads: bool = False
    swap_page: bool = False
    stale_prefix: bool = False


@dataclass
class Cache:
    """Keys and values of one sequence: a list over layers of [KV, T, D]."""

    k: list[torch.Tensor] = field(default_factory=list)
    v: list[torch.Tensor] = field(default_factory=list)

    def __len__(self) -> int:
        return self.k[0].shape[1] if self.k else 0

    def part(self, start: int, end: int) -> Cache:
        """Return the positions [start, end) as a cache of their own."""
        return Cache([k[:, start:end] for k in self.k], [v[:, start:end] for v in self.v])

    def append(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> None:
        """Add k and v, [KV, T, D], after what `layer` holds."""
        if len(self.k) > layer:
            self.k[layer], self.v[layer] = torch.cat([self.k[layer], k], 1), torch.cat([self.v[layer], v], 1)
        else:
            self.k.append(k.clone())
            self.v.append(v.clone())


@dataclass(frozen=True)
class Swap:
    """The positions [start, end) are read from `other` instead of from where they were written."""

    start: int
    end: int
    other: Cache

    def apply(self, layer: int, cache: Cache) -> None:
        cache.k[layer][:, self.start : self.end] = self.other.k[layer][:, self.start : self.end]
        cache.v[layer][:, self.start : self.end] = self.other.v[layer][:, self.start : self.end]


class Tiny:
    """The checkpoint's weights in float32 and one forward pass over a single sequence."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self.w = {name: tensor.float() for name, tensor in load_file(folder / "model.safetensors").items()}
        self.layers, self.eps = int(config["num_hidden_layers"]), float(config["rms_norm_eps"])
        self.heads, self.kv_heads = int(config["num_attention_heads"]), int(config["num_key_value_heads"])
        self.dim = int(config["head_dim"])
        theta = float(config["rope_parameters"]["rope_theta"])
        self.frequencies = theta ** (-torch.arange(0, self.dim, 2) / self.dim)

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.w[name]

    def _rope(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        angles = positions[:, None] * self.frequencies  # [T, D / 2]
        cos, sin = angles.cos()[:, None], angles.sin()[:, None]
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def _attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, fault: Fault) -> torch.Tensor:
        """q: [H, T, D]; k, v: [KV, S, D] -> [T, H * D]."""
        group = self.heads // self.kv_heads
        k, v = (
            x.repeat(group, 1, 1) if fault.tile_heads else x.repeat_interleave(group, 0)
            for x in (k, v)
        )  # fmt: skip
        t, s = q.shape[1], k.shape[1]
        mask = torch.ones(t, s, dtype=torch.bool)
        if not fault.acausal:
            mask = mask.tril(s - t)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(0, 1).flatten(1)

    @torch.inference_mode()
    def forward(
        self, ids: list[int], cache: Cache, fault: Fault, shift: int = 0, swap: Swap | None = None
    ) -> torch.Tensor:
        """Run `ids` after what `cache` holds, append to it, and return the last position's logits, [V].

        `shift` is added to the positions; `swap` says which page of the cache is read from elsewhere.
        """
        start, t = len(cache), len(ids)
        positions = torch.arange(start, start + t) + shift
        x = self.w["model.embed_tokens.weight"][ids]
        for i in range(self.layers - fault.drop_last_layer):
            p = f"model.layers.{i}."
            h = self._norm(x, p + "input_layernorm.weight")
            q, k, v = ((h @ self.w[f"{p}self_attn.{n}_proj.weight"].T).view(t, -1, self.dim) for n in ("q", "k", "v"))
            if not fault.skip_qk_norm:
                q, k = self._norm(q, p + "self_attn.q_norm.weight"), self._norm(k, p + "self_attn.k_norm.weight")
            q, k = (self._rope(y, positions).transpose(0, 1) for y in (q, k))
            cache.append(i, k, v.transpose(0, 1))
            if swap:
                swap.apply(i, cache)
            x = x + self._attend(q, cache.k[i], cache.v[i], fault) @ self.w[p + "self_attn.o_proj.weight"].T
            h = self._norm(x, p + "post_attention_layernorm.weight")
            gate, up = h @ self.w[p + "mlp.gate_proj.weight"].T, h @ self.w[p + "mlp.up_proj.weight"].T
            x = x + (F.silu(gate) * up) @ self.w[p + "mlp.down_proj.weight"].T
        return self._norm(x[-1], "model.norm.weight") @ self.w["model.embed_tokens.weight"].T
