"""Head norms, rope and the store into the KV pool in one kernel. CUDA only. Chapter 12."""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from ..models.decoder import SelfAttention
from ..models.rope import Rope
from . import pdl
from .pdl import inputs_ready

TILE = 8
"""Heads that one program takes: enough to keep its threads busy, few enough to spread a batch of one."""


@triton.jit
def _rope_store(  # type: ignore[no-untyped-def]
    qkv, q_weight, k_weight, cos, sin, positions, slots, keys, values, eps,
    HEADS: tl.constexpr, KV: tl.constexpr, HALF: tl.constexpr, HALF_BLOCK: tl.constexpr, TILE: tl.constexpr,
    NORM: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1) * TILE + tl.arange(0, TILE)[:, None]
    lane = tl.arange(0, HALF_BLOCK)[None, :]
    inside = (lane < HALF) & (head < HEADS + 2 * KV)
    place = qkv + (token * (HEADS + 2 * KV) + head) * 2 * HALF + lane
    inputs_ready(PDL)
    a = tl.load(place, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(place + HALF, mask=inside, other=0.0).to(tl.float32)
    position, slot = tl.load(positions + token), tl.load(slots + token)
    rotated = head < HEADS + KV
    if NORM:
        scale = tl.rsqrt((tl.sum(a * a, 1) + tl.sum(b * b, 1)) / (2 * HALF) + eps)[:, None]
        of_query, of_key = inside & (head < HEADS), inside & (head >= HEADS) & rotated
        # a row for each head: before 3.5, Triton wants addresses of the mask's shape
        each = lane + tl.zeros_like(head)
        low = tl.load(q_weight + each, mask=of_query, other=0.0) + tl.load(k_weight + each, mask=of_key, other=0.0)
        high = tl.load(q_weight + HALF + each, mask=of_query, other=0.0)
        high += tl.load(k_weight + HALF + each, mask=of_key, other=0.0)
        a = tl.where(rotated, a * scale * low.to(tl.float32), a)
        b = tl.where(rotated, b * scale * high.to(tl.float32), b)
    c = tl.load(cos + position * HALF + lane, mask=lane < HALF, other=0.0)
    s = tl.load(sin + position * HALF + lane, mask=lane < HALF, other=0.0)
    first, second = tl.where(rotated, a * c - b * s, a), tl.where(rotated, b * c + a * s, b)
    tl.store(place, first, mask=inside & (head < HEADS))
    tl.store(place + HALF, second, mask=inside & (head < HEADS))
    key = keys + (slot * KV + head - HEADS) * 2 * HALF + lane
    is_key = inside & (head >= HEADS) & rotated
    tl.store(key, first, mask=is_key)
    tl.store(key + HALF, second, mask=is_key)
    value = values + (slot * KV + head - HEADS - KV) * 2 * HALF + lane
    is_value = inside & (head >= HEADS + KV)
    tl.store(value, first, mask=is_value)
    tl.store(value + HALF, second, mask=is_value)


def rope_store(
    attention: SelfAttention,
    rope: Rope,
    qkv: torch.Tensor,
    positions: torch.Tensor,
    slots: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
) -> torch.Tensor:
    """What happens to the projected heads between two matrix products, but for attention itself.

    qkv [T, (heads + 2 * kv_heads) * head_dim] as projected, overwritten; positions, slots [T]; keys, values: one layer
    of the pool, [slots, kv_heads, head_dim]. Normalises query and key heads where the model does, rotates them, stores
    keys and values. Returns the queries, a view of qkv [T, heads, head_dim].
    """
    kv, dim = keys.shape[1], attention.head_dim
    heads = qkv.shape[1] // dim - 2 * kv
    norm = attention.q_norm
    q_weight = qkv if norm is None else norm.weight
    k_weight = qkv if attention.k_norm is None else attention.k_norm.weight
    _rope_store[(qkv.shape[0], triton.cdiv(heads + 2 * kv, TILE))](
        qkv, q_weight, k_weight, rope.cos, rope.sin, positions, slots, keys, values, 0.0 if norm is None else norm.eps,
        HEADS=heads, KV=kv, HALF=dim // 2, HALF_BLOCK=triton.next_power_of_2(dim // 2), TILE=TILE,
        NORM=norm is not None, num_warps=4, **pdl.options(),
    )  # fmt: skip
    return qkv.view(-1, heads + 2 * kv, dim)[:, :heads]
