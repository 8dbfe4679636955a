"""Into how many pieces FlashInfer's planner cuts a batch, on tensor cores, and the room that they need. Chapter 11."""

from __future__ import annotations

WORKSPACE_BYTES = 128 << 20
"""What FlashInfer's authors recommend for the partial results of long requests that are split over processors."""
TILE = 128
"""Most rows of a tile: query heads of one group, times queries, that a block of FlashInfer's threads has at once."""


def tile_rows(rows: int, head_dim: int) -> int:
    """Rows of the tiles in which a block of threads takes `rows`, the query heads of a group times a request's queries.

    On GPUs of compute capability 8.0 or more.
    """
    if rows > 64 and head_dim < 256:
        return TILE
    return 64 if rows > 16 else 16


def most_pieces(kv_heads: int, processors: int) -> int:
    """How many pieces FlashInfer's planner for tensor cores cuts a batch's rows into, at most. Each piece is read once
    a KV head, by one block of threads, and it counts on two blocks a processor.
    """
    return 2 * processors // kv_heads


def cuts_rows(entries: int, group: int, head_dim: int, pieces: int) -> bool:
    """Whether a row of a decode batch is ever cut, however long it is: only where one more piece is still allowed.

    group: query heads a KV head. pieces: see most_pieces.
    """
    return (entries + 1) * -(-group // tile_rows(group, head_dim)) <= pieces


def workspace_bytes(heads: int, kv_heads: int, head_dim: int, processors: int) -> int:
    """Enough for every piece's output and log-sum-exp, float32. FlashInfer keeps room for a whole tile a piece, so
    eight query heads a KV head need more than its authors recommend. In a graph it counts up to twice the pieces, with
    the tiles of a decode step.
    """
    rows = most_pieces(kv_heads, processors) * max(TILE, 2 * tile_rows(heads // kv_heads, head_dim))
    return max(WORKSPACE_BYTES, 4 * heads * rows * (head_dim + 1))
