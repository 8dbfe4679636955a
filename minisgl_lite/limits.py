"""What options may be, with the checkpoint and the memory that there are. Chapter 05."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from .choices import CHOICES
from .config import AttentionName, EngineConfig
from .values import shown

if TYPE_CHECKING:
    from .models.checkpoint import Checkpoint

T = TypeVar("T")


def require_model(config: EngineConfig) -> None:
    """Raise ValueError where the model is neither a name, nor a path, nor a loaded checkpoint."""
    from .models.checkpoint import Checkpoint

    if not isinstance(config.model, str | os.PathLike | Checkpoint):
        raise ValueError(f"model is {shown(config.model)}; it must be a name, a folder or a loaded checkpoint")


def require_same(config: EngineConfig, checkpoint: Checkpoint) -> None:
    """Raise ValueError where dtype or device contradict a checkpoint that is loaded already."""
    from .models.checkpoint import as_device, as_dtype

    if config.dtype is not None and as_dtype(config.dtype) != checkpoint.dtype:
        raise ValueError(f"dtype is {config.dtype}; the loaded checkpoint is {checkpoint.dtype}")
    if config.device is not None:
        device = as_device(config.device)
        if device.type != checkpoint.device.type or device.index not in (None, checkpoint.device.index):
            raise ValueError(f"device is {config.device}; the loaded checkpoint is on {checkpoint.device}")


def context_length(config: EngineConfig, model_limit: int) -> int:
    """Positions that a request may have: what is asked for, at most what the model was trained for."""
    if config.max_seq_len is not None and config.max_seq_len > model_limit:
        raise ValueError(f"max_seq_len is {config.max_seq_len}; the model's positions end at {model_limit}")
    return config.max_seq_len or model_limit


def default_attention(checkpoint: Checkpoint) -> AttentionName:
    """FlashInfer where its kernels run: on a CUDA GPU, in 16 bits, once it is installed. Torch everywhere else."""
    import torch

    here = CHOICES["attention_backend"]["flashinfer"].here and importlib.util.find_spec("flashinfer") is not None
    if not here or checkpoint.device.type != "cuda" or checkpoint.dtype.itemsize != 2:
        return "torch"
    recent = torch.cuda.get_device_capability(checkpoint.device) >= (8, 0)
    return "flashinfer" if recent and checkpoint.config.head_dim in (64, 128, 256) else "torch"


def require_flashinfer(checkpoint: Checkpoint) -> None:
    """Raise ValueError where FlashInfer is asked for and cannot run."""
    if checkpoint.device.type != "cuda" or checkpoint.dtype.itemsize != 2:
        place = f"{str(checkpoint.dtype).removeprefix('torch.')} on {checkpoint.device}"
        raise ValueError(f"attention_backend is 'flashinfer', the model is {place}; it needs 16 bits on a CUDA device")
    if importlib.util.find_spec("flashinfer") is None:
        raise ValueError("attention_backend is 'flashinfer'; it is not installed: pip install 'minisgl-lite[gpu]'")


def allocate(option: str, value: object, what: str, size: int, make: Callable[[], T]) -> T:
    """Make tensors of `size` bytes in all; where that fails, ValueError, one line, naming the option that asks."""
    try:
        return make()
    except (RuntimeError, MemoryError, TypeError, OverflowError) as error:
        # torch says it in several ways; a size beyond 64 bits is a TypeError
        need = f"{what} would take {size:.3g} bytes"
        raise ValueError(f"{option} is {shown(value)}; {need}, which cannot be had") from error
