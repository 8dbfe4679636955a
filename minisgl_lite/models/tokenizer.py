"""Text to token ids and back. Chapter 01."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from .hf_json import CheckpointError

FILES = ("tokenizer.json", "tokenizer.model", "vocab.json", "vocab.txt")
Message = Mapping[str, str]
"""One turn of a chat: {"role": "user", "content": "..."}"""


class Tokenizer(Protocol):
    """Ids are plain integers in plain lists."""

    def encode(self, text: str) -> list[int]:
        """The ids of a text, with those that the model expects at its start."""
        ...

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, without special tokens."""
        ...

    def apply_chat_template(self, messages: Sequence[Message]) -> list[int]:
        """The ids of a conversation, up to where the assistant's answer begins."""
        ...


class HFTokenizer:
    """The tokenizer of a Hugging Face folder."""

    def __init__(self, folder: Path) -> None:
        """Raises CheckpointError when the folder has no tokenizer, or none that can be read."""
        if not has_tokenizer(folder):
            raise CheckpointError(f"{folder}: there is no tokenizer (none of {', '.join(FILES)}); pass token ids")
        from transformers import AutoTokenizer  # takes seconds: only those who need text pay for it

        try:
            self.inner: Any = AutoTokenizer.from_pretrained(folder)
        except Exception as error:  # whatever the library stumbled over, the file is what needs attention
            reason = " ".join(str(error).split())
            raise CheckpointError(f"{folder}: its tokenizer cannot be read: {reason:.200}") from error

    def encode(self, text: str) -> list[int]:
        """See Tokenizer."""
        # not verbose: a text that is too long is refused where the context is known, in words that fit this engine
        return [int(token) for token in self.inner.encode(text, verbose=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """See Tokenizer."""
        return str(self.inner.decode(list(ids), skip_special_tokens=True))

    def apply_chat_template(self, messages: Sequence[Message]) -> list[int]:
        """See Tokenizer. Raises CheckpointError when the tokenizer has no template."""
        if self.inner.chat_template is None:
            raise CheckpointError(f"{self.inner.name_or_path}: the tokenizer has no chat template")
        text = self.inner.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True)
        # the template writes the special tokens itself
        return [int(token) for token in self.inner.encode(text, add_special_tokens=False, verbose=False)]


def has_tokenizer(folder: Path) -> bool:
    """Whether the folder holds a tokenizer of any kind."""
    return any((folder / name).exists() for name in FILES)
