"""Attention by hand, and what comes out when axes are mixed up. Runs in the judge; plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

from .common import Heads, Numbers, close

HIDDEN = -math.inf
MEANING = "view or reshape took tokens for heads: axes change places by transpose (or permute, or einsum), not by view"


def attended(
    q: Heads,
    k: Heads,
    v: Heads,
    *,
    last: Callable[[int, int, int], int] = lambda i, new, total: total - new + i,
    share: Callable[[int, int, int], int] = lambda h, heads, kv: h * kv // heads,
    share_values: Callable[[int, int, int], int] | None = None,
    scale: float | None = None,
    over_queries: bool = False,
    hide: Callable[[float], float] = lambda score: HIDDEN,
    after: bool = False,
) -> Heads | None:
    """Attention by hand; None when some query sees no key at all.

    last: the newest key that query i sees. share, share_values: whose keys and whose values a query head uses. hide:
    what becomes of the score of a key that it must not see. after: such keys are removed after the softmax, not before.
    """
    new, total, heads, kv, size = len(q), len(k), len(q[0]), len(k[0]), len(q[0][0])
    factor = size**-0.5 if scale is None else scale
    out: Heads = [[[] for _ in range(heads)] for _ in range(new)]
    for h in range(heads):
        g, rows = share(h, heads, kv), []
        its_values = (share_values or share)(h, heads, kv)
        for i in range(new):
            scores = [factor * sum(map(float.__mul__, q[i][h], k[s][g])) for s in range(total)]
            seen = [after or s <= last(i, new, total) for s in range(total)]
            rows.append([x if shown else hide(x) for x, shown in zip(scores, seen, strict=True)])
        columns = [list(column) for column in zip(*rows, strict=True)]
        if HIDDEN in map(max, columns if over_queries else rows):
            return None
        sets = columns if over_queries else rows
        weights = [softmax(scores) for scores in sets]
        for i in range(new):
            mine = [column[i] for column in weights] if over_queries else weights[i]
            seen = [not after or s <= last(i, new, total) for s in range(total)]
            out[i][h] = [sum(mine[s] * v[s][its_values][d] for s in range(total) if seen[s]) for d in range(size)]
    return out


def softmax(scores: Numbers) -> Numbers:
    """Weights that add up to 1."""
    raised = [math.exp(x - max(scores)) for x in scores]
    return [x / sum(raised) for x in raised]


def viewed(x: Heads) -> Heads:
    """[T, H, D] viewed as [H, T, D] where a transpose was meant; given as [T, H, D] again."""
    tokens, heads = len(x), len(x[0])
    vectors = [vector for token in x for vector in token]
    return [[vectors[h * tokens + t] for h in range(heads)] for t in range(tokens)]


def viewed_back(x: Heads) -> Heads:
    """The other way: [H, T, D], right so far, viewed as [T, H, D]."""
    tokens, heads = len(x), len(x[0])
    vectors = [x[t][h] for h in range(heads) for t in range(tokens)]
    return [vectors[t * heads : (t + 1) * heads] for t in range(tokens)]


def mixed_up(attend: Callable[[Heads, Heads, Heads], Heads | None], q: Heads, k: Heads, v: Heads) -> Iterator[Heads]:
    """What comes out when some of q, k, v and the result are viewed where they should be transposed."""
    for mixed in product((False, True), repeat=3):
        out = attend(*(viewed(x) if wrong else x for x, wrong in zip((q, k, v), mixed, strict=True)))
        if out is None:
            continue
        if any(mixed):
            yield out
        yield viewed_back(out)


def same_vectors(got: Heads, want: Heads) -> bool:
    """Whether each head of each token got a vector that belongs somewhere, and not all stand where they belong."""
    there = [vector for token in want for vector in token]
    return all(any(close([[vector]], [[other]]) for other in there) for token in got for vector in token)
