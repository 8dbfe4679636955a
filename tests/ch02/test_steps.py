"""Which positions greedy decoding computes, pass by pass."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite.models.checkpoint import Checkpoint
from minisgl_lite.models.decoder import Attend
from minisgl_lite.models.greedy import generate_greedy
from minisgl_lite.models.scripted import ScriptedDecoder, scripted_config


class CountingDecoder(ScriptedDecoder):
    """Notes the positions of each pass, and how many rows of logits it was asked for."""

    def __init__(self, table: dict[int, int], eos_ids: tuple[int, ...] = ()) -> None:
        super().__init__(table, scripted_config(eos_ids=eos_ids))
        self.passes: list[list[int]] = []
        self.logit_rows: list[int] = []

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        self.passes.append(positions.tolist())
        return super().forward(ids, positions, attend)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        self.logit_rows.append(len(hidden))
        return super().logits(hidden)


def greedy(decoder: CountingDecoder, prompt: list[int], max_tokens: int) -> list[int]:
    return generate_greedy(Checkpoint(decoder.config, decoder, None), prompt, max_tokens)


def test_the_prompt_once_then_one_position_a_pass() -> None:
    decoder = CountingDecoder({9: 4, 4: 5, 5: 6, 6: 7})
    assert greedy(decoder, [8, 8, 9], max_tokens=4) == [4, 5, 6, 7]
    assert decoder.passes == [[0, 1, 2], [3], [4], [5]]
    assert decoder.logit_rows == [1, 1, 1, 1]


@pytest.mark.parametrize(("max_tokens", "passes"), [(1, 1), (2, 2), (3, 3), (9, 3)])
def test_no_pass_is_made_whose_token_nobody_wants(max_tokens: int, passes: int) -> None:
    decoder = CountingDecoder({9: 4, 4: 5, 5: 2}, eos_ids=(2,))
    assert greedy(decoder, [8, 9], max_tokens) == [4, 5][:max_tokens]
    assert len(decoder.passes) == passes


def test_the_callers_prompt_stays_as_it_was() -> None:
    prompt = [8, 9]
    greedy(CountingDecoder({}), prompt, 3)
    assert prompt == [8, 9]
