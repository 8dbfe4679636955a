"""The bundled model for probes, without the library whose import takes longer than most checks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from minisgl_lite.models.checkpoint import Checkpoint


class QuickTokenizer:
    """What `HFTokenizer` makes of the bundled model's texts, without transformers: ids and texts are the same."""

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer

        self._inner: Any = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        return list(self._inner.encode(text).ids)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids, without special tokens."""
        return str(self._inner.decode(list(ids), skip_special_tokens=True))

    def apply_chat_template(self, messages: Sequence[Any]) -> list[int]:
        """No probe needs it."""
        raise NotImplementedError("the judge's tokenizer has no chat template")


def bundled_model() -> Checkpoint:
    """A freshly loaded `tiny`, to be handed to LLM in place of its name."""
    from minisgl_lite.models.checkpoint import Checkpoint, load
    from minisgl_lite.models.places import BUNDLED

    loaded = load("tiny")
    return Checkpoint(
        loaded.config, loaded.decoder, lambda: QuickTokenizer(BUNDLED["tiny"]), loaded.dtype, loaded.device
    )
