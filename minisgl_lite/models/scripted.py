"""Fakes for a decoder and a tokenizer: their answers are written down, no weights, no files. Chapter 01."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from .config import ModelConfig
from .decoder import Attend
from .tokenizer import Message


def scripted_config(
    vocab_size: int = 32, num_layers: int = 2, max_seq_len: int = 256, eos_ids: tuple[int, ...] = ()
) -> ModelConfig:
    """A small config for a ScriptedDecoder: 4 query heads, 2 KV heads of 4 numbers."""
    return ModelConfig(
        architecture="Scripted",
        vocab_size=vocab_size,
        hidden_size=16,
        intermediate_size=16,
        num_layers=num_layers,
        num_heads=4,
        num_kv_heads=2,
        head_dim=4,
        max_seq_len=max_seq_len,
        eos_ids=eos_ids,
    )


class ScriptedDecoder:
    """A CausalLM whose next token is table[current token]; a token that is not in the table repeats itself.

    It calls `attend` in every layer with tensors of the right shapes, so caches and page tables are put to work, and
    refuses an answer of the wrong shape; what attention says has no influence on the tokens.
    """

    def __init__(self, table: Mapping[int, int], config: ModelConfig | None = None) -> None:
        self.config = scripted_config() if config is None else config
        following = torch.arange(self.config.vocab_size)
        for token, successor in table.items():
            following[token] = successor
        self.following = following

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """ids, positions [T] -> "hidden states" [T, 1]: the token that follows, as a float."""
        config = self.config
        marks = (ids + positions / (config.max_seq_len + 1)).float()[:, None, None]
        q = marks.expand(-1, config.num_heads, config.head_dim)
        kv = marks.expand(-1, config.num_kv_heads, config.head_dim)
        for layer in range(config.num_layers):
            out = attend(layer, q, kv, kv)
            if out.shape != q.shape:
                raise ValueError(f"layer {layer}: attend returned {list(out.shape)} instead of {list(q.shape)}")
        return self.following.to(ids.device)[ids].float()[:, None]

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """[N, 1] -> [N, vocab]: 1 at the token that follows, 0 elsewhere."""
        one_hot = torch.nn.functional.one_hot(hidden[:, 0].long(), self.config.vocab_size)
        return one_hot.float()


class ScriptedTokenizer:
    """A Tokenizer from a string (one character an id, from 0) or from {id: text}. Ids outside it decode to nothing."""

    def __init__(self, pieces: str | Mapping[int, str]) -> None:
        self.pieces = dict(enumerate(pieces)) if isinstance(pieces, str) else dict(pieces)
        self._longest_first = sorted(self.pieces.items(), key=lambda item: -len(item[1]))

    def encode(self, text: str) -> list[int]:
        """Longest piece first. Raises ValueError for a text that no pieces spell."""
        ids, at = [], 0
        while at < len(text):
            found = next(((i, p) for i, p in self._longest_first if p and text.startswith(p, at)), None)
            if found is None:
                raise ValueError(f"no piece spells {text[at : at + 10]!r}")
            ids.append(found[0])
            at += len(found[1])
        return ids

    def decode(self, ids: Sequence[int]) -> str:
        """The pieces, one after the other."""
        return "".join(self.pieces.get(token, "") for token in ids)

    def apply_chat_template(self, messages: Sequence[Message]) -> list[int]:
        """The contents, one after the other."""
        return self.encode("".join(message["content"] for message in messages))
