"""Weights as a stream of (name, tensor), and the decoder that takes them in, whatever the order. Chapter 01."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from .decoder import Decoder
from .hf_json import CheckpointError, Fields, describe_os_error

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
Read = Callable[[Any, str], torch.Tensor]
"""(an open safetensors file, the name of a tensor in it) -> what is wanted of that tensor."""
FUSED = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}


def files(folder: Path) -> dict[Path, set[str] | None]:
    """The weight files, in order, each with the tensors that the index wants of it; None means all of them."""
    if (folder / SINGLE).exists():
        return {folder / SINGLE: None}
    if not (folder / INDEX).exists():
        raise CheckpointError(
            f"{folder}: there is neither {SINGLE} nor {INDEX}; weights are read from safetensors only"
        )
    wanted: dict[Path, set[str] | None] = {}
    for name, file in Fields.read(folder / INDEX).inside("weight_map").values.items():
        names = wanted.setdefault(folder / str(file), set())
        if names is not None:
            names.add(name)
    return wanted


def stream(folder: Path, read: Read | None = None) -> Iterator[tuple[str, torch.Tensor]]:
    """Each tensor of a checkpoint under its Hugging Face name, on the CPU, one at a time.

    read: what to take of each tensor; None takes all of it. Raises CheckpointError naming a file that is missing,
    unreadable, truncated or broken.
    """
    for path, wanted in files(folder).items():
        if not path.exists():
            raise CheckpointError(f"{path}: there is no such file, but {INDEX} names it")
        try:
            with safe_open(path, framework="pt") as file:
                for name in file.keys():  # noqa: SIM118  (not a dict)
                    if wanted is None or name in wanted:
                        yield name, file.get_tensor(name) if read is None else read(file, name)
        except SafetensorError as error:
            raise CheckpointError(f"{path}: broken or truncated ({error}); download it again") from None
        except OSError as error:
            raise describe_os_error(path, error) from None


def first_dtype(folder: Path) -> torch.dtype:
    """The dtype of the first floating-point tensor."""
    for _, tensor in stream(folder):
        if tensor.is_floating_point():
            return tensor.dtype
    raise CheckpointError(f"{folder}: there is no floating-point tensor in its weights")


def targets(decoder: Decoder) -> dict[str, torch.Tensor]:
    """Hugging Face's name of every tensor that the decoder needs -> where it goes: a parameter, or rows of a fused one.

    The values are views: to copy into one fills the decoder.
    """
    raise NotImplementedError("exercise 01.3: write the body of targets")


def load_into(decoder: Decoder, tensors: Iterable[tuple[str, torch.Tensor]], source: str = "the checkpoint") -> None:
    """Copy every tensor to its place, converted to the decoder's dtype and device.

    Raises CheckpointError, naming `source`, when shapes differ (with both), or when tensors are missing or unknown.
    The decoder is then partly filled: drop it.
    """
    places, unknown = targets(decoder), []
    missing = dict.fromkeys(places)
    tied_head = None
    for name, tensor in tensors:
        if name.endswith("rotary_emb.inv_freq"):  # old checkpoints store it; it follows from the config
            continue
        if name == "lm_head.weight" and decoder.config.tie_word_embeddings:
            tied_head = tensor
        elif name not in places:
            unknown.append(name)
        else:
            _copy(places[name], name, tensor, source)
            missing.pop(name, None)
    problems = [f"{len(names)} {kind}: {_some(names)}" for kind, names in _lists(missing, unknown) if names]
    if problems:
        raise CheckpointError(f"{source}: tensors do not fit the config; {'; '.join(problems)}")
    if tied_head is not None:
        _require_tied(decoder.embed_tokens, tied_head, source)


def _lists(missing: Iterable[str], unknown: list[str]) -> tuple[tuple[str, list[str]], ...]:
    return ("missing", list(missing)), ("unknown", unknown)


def _some(names: list[str], most: int = 8) -> str:
    rest = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + rest


def _copy(place: torch.Tensor, name: str, tensor: torch.Tensor, source: str) -> None:
    if place.shape != tensor.shape:
        raise CheckpointError(
            f"{source}: {name} has the shape {list(tensor.shape)}; by the config it is {list(place.shape)}"
        )
    if not tensor.is_floating_point():
        raise CheckpointError(f"{source}: {name} holds {tensor.dtype}; quantised weights are not supported")
    place.copy_(tensor)


def _require_tied(embedding: nn.Embedding, head: torch.Tensor, source: str) -> None:
    """A tied checkpoint may store its head as well, provided that it is the same matrix."""
    weight = embedding.weight
    if head.shape != weight.shape or not torch.equal(head.to(weight), weight):
        raise CheckpointError(f"{source}: lm_head.weight differs from embed_tokens, yet tie_word_embeddings is true")
