"""The fakes behave as the real ones do."""

from __future__ import annotations

import pytest
import torch

from minisgl_lite.attention.causal import CausalAttention
from minisgl_lite.models.scripted import ScriptedDecoder, ScriptedTokenizer, scripted_config


def test_the_table_decides() -> None:
    decoder = ScriptedDecoder({3: 7, 7: 1}, scripted_config(vocab_size=9))
    hidden = decoder.forward(torch.tensor([3, 7, 5]), torch.arange(3), CausalAttention())
    logits = decoder.logits(hidden)
    assert logits.shape == (3, 9)
    assert logits.argmax(-1).tolist() == [7, 1, 5]


def test_attention_is_called_in_every_layer_and_checked() -> None:
    decoder = ScriptedDecoder({}, scripted_config(num_layers=3))
    calls = []

    def attend(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        calls.append((layer, tuple(q.shape), tuple(k.shape), tuple(v.shape)))
        return q if layer < 2 else q[:1]

    with pytest.raises(ValueError, match="layer 2: attend returned"):
        decoder.forward(torch.tensor([1, 2]), torch.arange(2), attend)
    assert calls == [(layer, (2, 4, 4), (2, 2, 4), (2, 2, 4)) for layer in range(3)]


def test_tokenizer() -> None:
    letters = ScriptedTokenizer("abc")
    assert letters.encode("cab") == [2, 0, 1]
    assert letters.decode([2, 0, 9, 1]) == "cab"
    words = ScriptedTokenizer({5: "to", 6: "tok", 7: "en"})
    assert words.encode("token") == [6, 7]
    assert words.apply_chat_template([{"role": "user", "content": "to"}, {"role": "user", "content": "en"}]) == [5, 7]
    with pytest.raises(ValueError, match="no piece spells 'x'"):
        words.encode("tox")
