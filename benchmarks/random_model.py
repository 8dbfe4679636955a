"""Random Qwen3 models of some shapes, made in memory: on one device, or on each rank its part. Nothing is written.

A tensor's numbers follow from its name, so that all ranks together have the model that one device would have.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import torch

from minisgl_lite.models.checkpoint import Checkpoint, as_device, as_dtype
from minisgl_lite.models.config import ModelConfig, RopeConfig
from minisgl_lite.models.decoder import Decoder
from minisgl_lite.models.weights import load_into, targets
from minisgl_lite.parallel.comm import Communicator

SHAPES: dict[str, tuple[int, int, int, int, int, int, int]] = {
    # hidden, intermediate, layers, query heads, KV heads, head_dim, vocabulary
    "tiny": (256, 640, 4, 8, 4, 64, 2304),
    "0.6b": (1024, 3072, 28, 16, 8, 128, 151936),
    "8b": (4096, 12288, 36, 32, 8, 128, 151936),
    "14b": (5120, 17408, 40, 40, 8, 128, 151936),
    "32b": (5120, 25600, 64, 64, 8, 128, 151936),
}
TIED = ("tiny", "0.6b")
"""Shapes of which embedding and output head are one matrix."""
SUMS = 20

measured: dict[int, dict[int, float]] = {}
"""In rank 0's process, for each number of ranks: rows of hidden states -> seconds that one all_reduce of them takes."""


def config_of(shape: str, positions: int) -> ModelConfig:
    hidden, inner, layers, heads, kv_heads, dim, vocab = SHAPES[shape]
    return ModelConfig(
        "Qwen3ForCausalLM", vocab, hidden, inner, layers, heads, kv_heads, dim, positions, qk_norm=True,
        rope=RopeConfig(1e6), tie_word_embeddings=shape in TIED, dtype="bfloat16",
    )  # fmt: skip


class RandomFile:
    """As an open safetensors file."""

    def __init__(self, config: ModelConfig, dtype: torch.dtype, device: torch.device) -> None:
        self.shapes = {n: list(t.shape) for n, t in targets(Decoder(config, dtype, torch.device("meta"))).items()}
        self.dtype, self.device = dtype, device

    def get_tensor(self, name: str) -> torch.Tensor:
        shape = self.shapes[name]
        if len(shape) == 1:
            return torch.ones(shape, dtype=self.dtype, device=self.device)
        generator = torch.Generator(self.device).manual_seed(zlib.crc32(name.encode()))
        # in rows, so that the numbers before rounding never take much room
        rows = [
            torch.empty(min(8192, shape[0] - at), *shape[1:], device=self.device)
            .normal_(0, 0.02, generator=generator)
            .to(self.dtype)
            for at in range(0, shape[0], 8192)
        ]
        return torch.cat(rows)

    def get_slice(self, name: str) -> RandomSlice:
        return RandomSlice(self, name)


class RandomSlice:
    def __init__(self, file: RandomFile, name: str) -> None:
        self.file, self.name = file, name

    @cached_property
    def whole(self) -> torch.Tensor:
        return self.file.get_tensor(self.name)

    def get_shape(self) -> list[int]:
        return list(self.file.shapes[self.name])

    def __getitem__(self, index: Any) -> torch.Tensor:
        return self.whole[index]


def load(
    model: str,
    dtype: Any = None,
    device: Any = None,
    max_seq_len: int | None = None,
    split: Callable[[ModelConfig], Any] | None = None,
) -> Checkpoint:
    """In place of models.checkpoint.load; `model` is one of SHAPES. Where there are several ranks, times their sums."""
    place = as_device(device)
    chosen = as_dtype(dtype or ("bfloat16" if place.type == "cuda" else "float32"))
    config = config_of(model, max_seq_len or 4096)
    part = None if split is None else split(config)
    local = config if part is None else part.sizes
    decoder = Decoder(local, chosen, place)
    file = RandomFile(config, chosen, place)
    read = RandomFile.get_tensor if part is None else part.read
    if part is not None:
        part.connect(decoder)
    load_into(decoder, ((name, read(file, name)) for name in file.shapes), model)
    if part is not None:
        times = time_sums(part.comm, config.hidden_size, chosen, place)
        if part.comm.rank == 0:
            measured[part.comm.size] = times
    if place.type == "cuda":
        torch.cuda.empty_cache()
    return Checkpoint(config, decoder, None, chosen, place, local)


def time_sums(
    comm: Communicator, hidden: int, dtype: torch.dtype, device: torch.device, rows: Sequence[int] = (1, 16, 64, 256)
) -> dict[int, float]:
    """Seconds of one all_reduce of [rows, hidden]; on a GPU inside a CUDA graph, as in a decode step."""
    found = {}
    for n in rows:
        x = torch.zeros(n, hidden, dtype=dtype, device=device)
        if device.type == "cuda":
            found[n] = _time_in_graph(comm, x)
        else:
            comm.all_reduce(x)
            start = time.perf_counter()
            for _ in range(SUMS):
                comm.all_reduce(x)
            found[n] = (time.perf_counter() - start) / SUMS
    return found


def _time_in_graph(comm: Communicator, x: torch.Tensor) -> float:
    stream = torch.cuda.Stream(x.device)
    stream.wait_stream(torch.cuda.current_stream(x.device))
    with torch.cuda.stream(stream):
        comm.all_reduce(x)
    torch.cuda.current_stream(x.device).wait_stream(stream)
    torch.cuda.synchronize(x.device)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(SUMS):
            comm.all_reduce(x)
    return min(seconds(graph.replay, x.device, 10) for _ in range(5)) / SUMS


def seconds(work: Callable[[], object], device: torch.device, times: int) -> float:
    """Seconds a call, of `times` calls on the device."""
    work()
    if device.type != "cuda":
        start = time.perf_counter()
        for _ in range(times):
            work()
        return (time.perf_counter() - start) / times
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize(device)
    begin.record()
    for _ in range(times):
        work()
    end.record()
    torch.cuda.synchronize(device)
    return float(begin.elapsed_time(end)) / 1e3 / times


def copy_bandwidth(device: torch.device) -> float:
    """Bytes a second that a large copy reads and writes, together."""
    size = (1 << 30) if device.type == "cuda" else (1 << 26)
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    return 2 * size / min(seconds(lambda: target.copy_(source), device, 10) for _ in range(5))
