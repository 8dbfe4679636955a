"""Tokenizers and decoders that say what a test wants, and LLMs made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from minisgl_lite import LLM
from minisgl_lite.models.checkpoint import Checkpoint
from minisgl_lite.models.scripted import ScriptedDecoder, ScriptedTokenizer, scripted_config


class BytesTokenizer(ScriptedTokenizer):
    """Token i stands for byte i, 0 to 255; what is no UTF-8 shows as replacement characters."""

    def __init__(self) -> None:
        super().__init__({})

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("utf-8", errors="replace")


class LogitsDecoder(ScriptedDecoder):
    """The logits that follow token t are rows[t]; a token without a row has NaN."""

    def __init__(self, rows: Mapping[int, Sequence[float]], config: Any) -> None:
        super().__init__({}, config)
        self.rows = torch.full((config.vocab_size, config.vocab_size), float("nan"))
        for token, row in rows.items():
            self.rows[token] = torch.tensor(row)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Any) -> torch.Tensor:
        if ids.min() < 0:
            raise IndexError(f"there is no token {int(ids.min())}")
        return super().forward(ids, positions, attend)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return self.rows[hidden[:, 0].long()]


class SpoilingDecoder(LogitsDecoder):
    """Where the logits are not numbers, neither are the keys and values that are left in the pool.

    And as in a real model, what attention brings decides: not a number once, never a number again.
    """

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Any) -> torch.Tensor:
        heads, kv_heads, dim = self.config.num_heads, self.config.num_kv_heads, self.config.head_dim
        sound = self.rows[ids].isfinite().all(-1)
        kv = torch.where(sound, 1.0, float("nan"))[:, None, None].expand(-1, kv_heads, dim)
        for layer in range(self.config.num_layers):
            out = attend(layer, torch.ones(len(ids), heads, dim), kv, kv)
        return out[:, 0, :1] * 0 + ids[:, None]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return torch.where(hidden.isfinite(), super().logits(hidden.nan_to_num()), float("nan"))


class ByPosition(ScriptedDecoder):
    """After position p of the request whose first token is t comes answers[t][p], or the last of them.

    What tells requests apart is in the pool: position 0 leaves its token there and a key that drowns out all others.
    """

    def __init__(self, answers: Mapping[int, Sequence[int]], config: Any) -> None:
        super().__init__({}, config)
        self.answers = {token: list(answer) for token, answer in answers.items()}

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Any) -> torch.Tensor:
        heads, kv_heads, dim = self.config.num_heads, self.config.num_kv_heads, self.config.head_dim
        first = (positions == 0).float()[:, None, None].expand(-1, kv_heads, dim)
        for layer in range(self.config.num_layers):
            seen = attend(layer, torch.ones(len(ids), heads, dim), first * 1e4, first * ids[:, None, None])
        rows = zip(seen[:, 0, 0].round().long().tolist(), positions.tolist(), strict=True)
        picked = [self.answers[token][min(at, len(self.answers[token]) - 1)] for token, at in rows]
        return torch.tensor(picked).float()[:, None]


def text_llm(
    answers: Mapping[int, Sequence[int]], tokenizer: Any, eos_ids: tuple[int, ...] = (), **options: Any
) -> LLM:
    """An LLM that answers the one-token prompt [t] with answers[t], whose last token repeats itself. 512 tokens."""
    config = scripted_config(vocab_size=512, max_seq_len=1024, eos_ids=eos_ids)
    checkpoint = Checkpoint(config, ByPosition(answers, config), lambda: tokenizer)
    return LLM(checkpoint, **{"num_pages": 4096, "max_running_req": 16, **options})


def logits_llm(rows: Mapping[int, Sequence[float]], vocab: int, **options: Any) -> LLM:
    """An LLM whose logits after token t are rows[t], or not numbers where t has no row; it has no tokenizer."""
    config = scripted_config(vocab_size=vocab, max_seq_len=256)
    return LLM(Checkpoint(config, LogitsDecoder(rows, config), None), **{"num_pages": 1024, **options})
