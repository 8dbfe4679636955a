"""From a name to a model that can run: find the folder, read the config, fill a decoder. Chapter 01."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import torch

from .config import ModelConfig
from .decoder import CausalLM, Decoder
from .hf_json import CheckpointError, describe_os_error
from .places import BUNDLED, SMOLLM2
from .tokenizer import HFTokenizer, Tokenizer, has_tokenizer
from .weights import first_dtype, load_into, stream

DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
HUB_FILES = ["*.json", "*.safetensors", "*.model", "*.txt", "*.jinja"]


class Part(Protocol):
    """One of several equal parts of a model that compute together (chapter 13): what differs from the whole.

    sizes: those of this part's decoder. read: what it takes of each tensor of the checkpoint, see Read.
    """

    sizes: ModelConfig

    def connect(self, decoder: Decoder) -> None:
        """Let a decoder of these sizes compute with the others: replace the modules in which parts must talk."""
        ...

    def read(self, file: Any, name: str) -> torch.Tensor:
        """What this part takes of a tensor."""
        ...


class Checkpoint:
    """A model that is ready to run, and how its texts become ids. Owns the weights.

    decoder: on `device`, in `dtype`. config: the model's. local: the sizes of what `decoder` holds of it; the same,
    unless it is one of several parts. tokenizer: made when it is first asked for.
    """

    def __init__(
        self,
        config: ModelConfig,
        decoder: CausalLM,
        new_tokenizer: Callable[[], Tokenizer] | None,
        dtype: torch.dtype = torch.float32,
        device: torch.device | None = None,
        local: ModelConfig | None = None,
    ) -> None:
        """`new_tokenizer` is None for a checkpoint that has none; `local` for a decoder that is the whole model."""
        self.config, self.decoder, self.dtype = config, decoder, dtype
        self.local = config if local is None else local
        self.device = torch.device("cpu") if device is None else device
        self._new_tokenizer = new_tokenizer

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Raises CheckpointError when there is none."""
        if self._new_tokenizer is None:
            raise CheckpointError("this checkpoint has no tokenizer; pass token ids instead of text")
        return self._new_tokenizer()

    def encode(self, text: str) -> list[int]:
        """The ids of a text. Raises CheckpointError when there is no tokenizer."""
        return self.tokenizer.encode(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of some ids; "" when there is no tokenizer to tell."""
        return "" if self._new_tokenizer is None else self.tokenizer.decode(ids)


def locate(model: str | os.PathLike[str]) -> Path:
    """The folder of a checkpoint.

    model: "tiny" (bundled), "smollm2" (in the cache once it was fetched), a local path, or a Hub id, which is
    downloaded unless it is in the cache. Raises CheckpointError, one line, when there is none.
    """
    name = os.fspath(model)
    if name == "smollm2" and not Path(name).exists():
        if not SMOLLM2.is_dir():
            raise CheckpointError("smollm2 is not in your cache; get it with: python -m minisgl_lite fetch smollm2")
        return SMOLLM2
    path = BUNDLED.get(name) or Path(name).expanduser()
    try:
        if path.is_dir():
            return path
        if path.exists():
            raise CheckpointError(f"{path}: this is a file; a checkpoint is a folder with config.json and safetensors")
    except OSError as error:
        raise describe_os_error(path, error) from None
    if not _is_hub_id(model, name):
        raise CheckpointError(f'{path}: there is no such folder; give a folder, a Hub id or "tiny"')
    return _from_hub(name)


def _is_hub_id(model: str | os.PathLike[str], name: str) -> bool:
    looks_like_path = not isinstance(model, str) or name.startswith((".", "~")) or "\\" in name or os.path.isabs(name)
    return not looks_like_path and name not in BUNDLED and name.count("/") <= 1


def _from_hub(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        # top-level files only: some repositories keep the same weights again in sub-folders
        ignored = ["*/*", "consolidated*"]
        return Path(snapshot_download(name, allow_patterns=HUB_FILES, ignore_patterns=ignored))
    except Exception as error:  # the client passes on errors of its HTTP library, which differ by version
        reason = " ".join(str(error).split())
        raise CheckpointError(
            f"{name}: no such folder here, and the Hugging Face Hub did not deliver it "
            f"(offline, unknown or gated): {type(error).__name__}: {reason:.120}"
        ) from error


def load(
    model: str | os.PathLike[str],
    dtype: torch.dtype | str | None = None,
    device: torch.device | str | None = None,
    max_seq_len: int | None = None,
    split: Callable[[ModelConfig], Part] | None = None,
) -> Checkpoint:
    """Load a checkpoint, or the part of it that `split` makes of its config.

    dtype None: float32 on a CPU; elsewhere the dtype that the config names or, where it names none, that of the
    weights. device None: CUDA where there is one, else the CPU. max_seq_len: the most positions that will be used.
    Raises CheckpointError (a ValueError, one line).
    """
    folder = locate(model)
    config = ModelConfig.from_folder(folder, max_seq_len)
    place = as_device(device)
    if dtype is not None:
        chosen = as_dtype(dtype)
    elif place.type == "cpu":
        chosen = torch.float32
    else:
        chosen = as_dtype(config.dtype or first_dtype(folder))
    part = None if split is None else split(config)
    local = config if part is None else part.sizes
    decoder = Decoder(local, chosen, place)
    if part is not None:
        part.connect(decoder)
    load_into(decoder, stream(folder, None if part is None else part.read), str(folder))
    new_tokenizer = (lambda: HFTokenizer(folder)) if has_tokenizer(folder) else None
    return Checkpoint(config, decoder, new_tokenizer, chosen, place, local)


def as_dtype(dtype: torch.dtype | str) -> torch.dtype:
    """A dtype from itself or its name. Raises ValueError for one that no model runs in."""
    name = str(dtype).removeprefix("torch.")
    if name not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}; it must be one of {', '.join(DTYPES)}")
    return DTYPES[name]


def as_device(device: torch.device | str | None) -> torch.device:
    """A device from itself or its name. Raises ValueError for one that is not there."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        place = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise ValueError(f"device is {device!r}; torch does not know it") from error
    if place.type not in ("cpu", "cuda"):
        raise ValueError(f"device is {str(place)!r}; it must be cpu or cuda")
    if place.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device is {str(place)!r}; torch finds no CUDA device here")
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"device is {str(place)!r}; the CUDA devices here are 0 to {torch.cuda.device_count() - 1}")
    return place
