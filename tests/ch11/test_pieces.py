"""What is reckoned of FlashInfer's plans beside a model of its planner (0.6.9, `PrefillPlan` and `DecodePlan`)."""

from __future__ import annotations

import random
from typing import NamedTuple

import pytest

from minisgl_lite.attention.pieces import cuts_rows, most_pieces, workspace_bytes

HEADS = [(1, 1), (4, 2), (9, 3), (14, 2), (16, 8), (32, 8), (64, 8), (8, 1), (48, 1), (71, 1), (128, 1), (128, 8)]
HEADS += [(136, 2), (200, 1), (512, 512)]


class Plan(NamedTuple):
    """Whether any row may be merged from pieces, and the bytes of the workspace that are then taken."""

    split: bool
    room: int


def up(a: int, b: int) -> int:
    return -(-a // b)


def tile_of(rows: int, dim: int) -> int:
    if rows > 64 and dim < 256:
        return 128
    return 64 if rows > 16 else 16


def planned(queries, pages, shape, processors, page_size, graph=False) -> Plan:
    """For tensor cores: pieces as small as they can be without being more than there are blocks for."""
    heads, kv_heads, dim = shape
    group, most = heads // kv_heads, 2 * processors // kv_heads
    packed = [n * group for n in queries]
    tile = tile_of((sum(queries) - len(queries) + 1) * group if graph else sum(packed) // len(packed), dim)
    low, high = max(128 // page_size, 1), max(pages)
    while low < high:
        middle = (low + high) // 2
        if sum(up(n, tile) * up(p, middle) for n, p in zip(packed, pages, strict=True)) > most:
            low = middle + 1
        else:
            high = middle
    made = sum(up(n, tile) * up(p, low) for n, p in zip(packed, pages, strict=True))
    split = graph or low < max(pages)
    counted = max(most, up(sum(packed), tile) + len(packed) - 1) if graph else made
    assert made <= counted
    return Plan(split, heads * counted * tile * (dim + 1) * 4 if split else 0)


@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
@pytest.mark.parametrize("dim", [64, 128, 256])
def test_the_workspace_is_large_enough(heads, kv_heads, dim):
    draw = random.Random(heads * dim)
    group = heads // kv_heads
    for _ in range(60):
        processors, size = draw.choice([20, 46, 108, 132, 160]), draw.choice([1, 16])
        room = workspace_bytes(heads, kv_heads, dim, processors)
        shape = heads, kv_heads, dim
        entries = draw.choice([1, 2, draw.randint(1, 64)])
        pages = [draw.choice([1, draw.randint(1, 3000)]) for _ in range(entries)]
        queries = [draw.choice([1, 9, draw.randint(1, 300)]) for _ in range(entries)]
        assert planned(queries, pages, shape, processors, size).room <= room
        assert planned([1] * entries, pages, shape, processors, size).room <= room
        largest = [n for n in range(1, 400) if cuts_rows(n, group, dim, most_pieces(kv_heads, processors))][-1:]
        for n in {*largest, *(e for e in (1, entries) if largest and e <= largest[0])}:
            assert planned([1] * n, [1] * n, shape, processors, size, graph=True).room <= room, n


@pytest.mark.parametrize("dim", [64, 256])
@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
def test_a_batch_whose_rows_are_never_cut(heads, kv_heads, dim):
    """From the first number of entries on that is said to be enough, and not before."""
    draw, shape, processors = random.Random(heads), (heads, kv_heads, dim), 132
    pieces = most_pieces(kv_heads, processors)
    enough = next(n for n in range(1, 400) if not cuts_rows(n, heads // kv_heads, dim, pieces))
    for entries in (enough, enough + 1, enough + 50):
        for _ in range(10):
            pages = [draw.choice([1, draw.randint(1, 100_000)]) for _ in range(entries)]
            assert not planned([1] * entries, pages, shape, processors, page_size=1).split
    for entries in range(1, enough):
        assert planned([1] * entries, [100_000] + [1] * (entries - 1), shape, processors, page_size=1).split


def test_the_room_without_tensor_cores_is_less_than_is_recommended():
    """At most 16 blocks of 128 threads a processor, one row of each query head a piece, groups of up to three."""
    for group in (1, 2, 3):
        for kv_heads in (1, 2, 8):
            room = group * kv_heads * (16 * 160 // kv_heads) * (256 + 1) * 4
            assert room <= workspace_bytes(group * kv_heads, kv_heads, 256, 160)
