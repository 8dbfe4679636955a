"""The seven faults: greedy decoding with each, and which prompts can show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from tiny.forward import Cache, Fault, Tiny

PAGE = 8  # tokens


@dataclass(frozen=True)
class Case:
    """A fault with its name and the shortest prompt (tokens) that can show it."""

    name: str
    fault: Fault
    shortest: int


CASES = (
    Case("decode positions off by one", Fault(decode_shift=1), 1),
    Case("a page swapped with another request's", Fault(swap_page=True), PAGE),
    Case("a stale prefix", Fault(stale_prefix=True), PAGE + 1),
    Case("last layer dropped", Fault(drop_last_layer=True), 1),
    Case("causal mask off", Fault(acausal=True), 2),
    Case("q/k norm skipped", Fault(skip_qk_norm=True), 1),
    Case("K/V heads tiled instead of repeated", Fault(tile_heads=True), 1),
)


@torch.inference_mode()
def decode(tiny: Tiny, ids: Sequence[int], n: int, fault: Fault = Fault(), other: Sequence[int] = ()) -> list[int]:  # noqa: B008
    """Return `n` greedy ids. `other` is the prompt (at least as long) whose pages the page faults mix in."""
    cache, todo = Cache(), list(ids)
    pages = len(ids) // PAGE
    foreign = Cache()
    if fault.swap_page or fault.stale_prefix:
        tiny.forward(list(other), foreign, Fault())
    if fault.stale_prefix:
        # The prefix cache claims every whole page before the last token and hands over someone else's.
        reused = (len(ids) - 1) // PAGE * PAGE
        cache, todo = foreign.part(0, reused), todo[reused:]
    logits = tiny.forward(todo, cache, fault)
    if fault.swap_page:
        cache.overwrite((pages - 1) * PAGE, pages * PAGE, foreign)
    output = [int(logits.argmax())]
    while len(output) < n:
        output.append(int(tiny.forward(output[-1:], cache, fault, decode=True).argmax()))
    return output


def partner(prompts: Sequence[Sequence[int]], index: int) -> list[int]:
    """Return another request's tokens, as many as prompt `index` has: the following prompts, one after the other."""
    need = len(prompts[index])
    others: list[int] = []
    for step in range(1, len(prompts)):
        others += prompts[(index + step) % len(prompts)]
        if len(others) >= need:
            break
    return others[:need]
