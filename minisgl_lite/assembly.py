"""The composition root: options -> parts, by way of the table in `choices`. Chapter 05."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .choices import CHOICES, find, require_here
from .config import AttentionName, EngineConfig
from .custom import Custom as Custom
from .kvcache.pages import PageAllocator
from .scheduler.decode import DecodeManager
from .scheduler.loop import Loop, Runner
from .scheduler.phase import PrefillFirst
from .scheduler.scheduler import Scheduler
from .scheduler.table import TableManager
from .trace import Recorder

if TYPE_CHECKING:
    from .engine.engine import Engine
    from .models.checkpoint import Checkpoint

CUDA_GRAPH_MAX_BS = 256
"""Decode batches of up to this size are CUDA graphs where cuda_graph_max_bs is None and graphs are possible."""

CPU_POOL_BYTES = 1 << 30
"""The KV pool's size on a CPU when num_pages is None and the rows could use that much."""


@dataclass(frozen=True)
class Schedule:
    """The parts that decide: everything but the tensors."""

    scheduler: Scheduler
    loop: Loop
    recorder: Recorder


def assemble_scheduler(
    config: EngineConfig, num_pages: int, new_runner: Callable[[Scheduler], Runner], custom: Custom | None = None
) -> Schedule:
    """Build a scheduler for `num_pages` pages and the loop that drives `new_runner(scheduler)` with it.

    Imports no torch: with a virtual or a shadow engine as the runner, whole schedules run without tensors.
    """
    custom = Custom() if custom is None else custom
    table, decode = TableManager(config.max_running_req), DecodeManager()
    cache = (custom.cache or find("cache_type", config.cache_type))(PageAllocator(num_pages, config.page_size))
    adder = custom.adder or find("adder")
    # a whole-prompt adder cannot serve a queue that cuts prompts up, nor the other way round: they come as a pair
    queue = custom.queue or find("queue", None if custom.adder is None else "whole")
    prefill = queue(table, lambda: adder(table, cache, config.max_extend_tokens))
    scheduler = (custom.scheduler or Scheduler)(table, cache, prefill, decode, (custom.policy or PrefillFirst)())
    recorder = Recorder(scheduler)
    loop = (custom.loop or find("overlap", config.overlap))(scheduler, new_runner(scheduler), recorder)
    return Schedule(scheduler, loop, recorder)


@dataclass(frozen=True)
class Parts:
    """Everything that an LLM is made of."""

    config: EngineConfig
    checkpoint: Checkpoint
    max_seq_len: int
    chooser: Any
    engine: Engine
    runner: Runner
    schedule: Schedule
    close: Callable[[], None] = lambda: None
    """Lets go of what is not memory: the processes of other ranks."""


def assemble(config: EngineConfig, custom: Custom | None = None) -> Parts:
    """Load the checkpoint and build all parts of an engine; with tp_size above 1 those of rank 0, the others running.

    Raises ValueError for sizes that contradict each other and NotImplementedError, naming the chapter, for options
    that this tree does not have yet; both before weights are read where that is possible.
    """
    refuse_absent(config)
    build = assemble_rank if config.tp_size == 1 else find("tp_size", "on")
    parts: Parts = build(config, Custom() if custom is None else custom)
    return parts


def assemble_rank(config: EngineConfig, custom: Custom) -> Parts:
    """The parts of one rank; where there are others, `custom` connects it with them."""
    from .models.checkpoint import Checkpoint, load

    if isinstance(config.model, Checkpoint):
        checkpoint = config.model
    else:
        checkpoint = (custom.load or load)(config.model, config.dtype, config.device, config.max_seq_len)
    max_seq_len = context_length(config, checkpoint.config.max_seq_len)
    if config.attention_backend == "flashinfer":
        require_flashinfer(checkpoint)
    attention = config.attention_backend or default_attention(checkpoint)
    kernels = attention == "flashinfer" and CHOICES["gpu_chooser"]["on"].here
    chooser = (custom.chooser or (find("gpu_chooser", "on") if kernels else find("chooser")))()
    chooser = custom.around_chooser(chooser) if custom.around_chooser else chooser
    pages = config.num_pages or default_pages(config, checkpoint, max_seq_len)
    pages = custom.pages(pages) if custom.pages else pages
    engine = build_engine(config, checkpoint, max_seq_len, chooser, attention, pages)
    runner = with_graphs(config, engine, checkpoint)
    num_pages = engine.pool.k.shape[1] // config.page_size
    schedule = assemble_scheduler(config, num_pages, lambda _: runner, custom)
    return Parts(config, checkpoint, max_seq_len, chooser, engine, runner, schedule)


def refuse_absent(config: EngineConfig) -> None:
    """Raise NotImplementedError for the first option whose chapter is not in this tree."""
    for part in ("cache_type", "overlap", "attention_backend"):
        if (value := getattr(config, part)) is not None:
            require_here(part, value)
    if config.cuda_graph_max_bs:
        require_here("cuda_graph_max_bs", "on")
    if config.tp_size > 1:
        require_here("tp_size", "on")


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


def with_graphs(config: EngineConfig, engine: Engine, checkpoint: Checkpoint) -> Runner:
    """The engine, its decode steps as CUDA graphs where that is possible and not turned off."""
    flashinfer = checkpoint.device.type == "cuda" and hasattr(engine.attention, "workspace")
    if config.cuda_graph_max_bs and not flashinfer:
        raise ValueError(
            f"cuda_graph_max_bs is {config.cuda_graph_max_bs}; graphs need a CUDA device and the flashinfer backend"
        )
    if not flashinfer or config.cuda_graph_max_bs == 0 or not CHOICES["cuda_graph_max_bs"]["on"].here:
        return engine
    most = min(config.cuda_graph_max_bs or CUDA_GRAPH_MAX_BS, config.max_running_req)
    runner: Runner = find("cuda_graph_max_bs", "on")(engine, checkpoint.decoder, checkpoint.dtype, most)
    return runner


def build_engine(
    config: EngineConfig, checkpoint: Checkpoint, max_seq_len: int, chooser: Any, backend: AttentionName, pages: int
) -> Engine:
    """The tensors: a pool of `pages` pages and the tables for a loaded checkpoint, on its device."""
    from .engine.engine import Engine, fetch_in_order
    from .engine.slots import Tables
    from .kvcache.pool import KVPool

    model, dtype, device = checkpoint.local, checkpoint.dtype, checkpoint.device
    pool = KVPool(model.num_layers, pages, config.page_size, model.num_kv_heads, model.head_dim, dtype, device)
    tables = Tables(config.max_running_req, max_seq_len, config.page_size, device)
    attention = find("attention_backend", backend)(pool)
    decoder = checkpoint.decoder
    if backend == "flashinfer" and CHOICES["gpu_decoder"]["on"].here:
        decoder = find("gpu_decoder", "on")(decoder, pool)
    # a CPU does its work when it is asked to; only on a GPU does something else run while results are fetched
    behind = device.type == "cuda" and find("overlap", config.overlap) is not Loop
    fetch = find("copy_stream", "on")(device) if behind else fetch_in_order
    return Engine(decoder, pool, tables, attention, chooser, fetch)


def default_pages(config: EngineConfig, checkpoint: Checkpoint, max_seq_len: int) -> int:
    """As many pages as all rows could ever use, within the memory there is; at least one full context."""
    import torch

    from .kvcache.pool import KVPool

    model = checkpoint.local
    token = KVPool.bytes_per_token(model.num_layers, model.num_kv_heads, model.head_dim, checkpoint.dtype)
    budget = CPU_POOL_BYTES
    if checkpoint.device.type == "cuda":
        budget = int(torch.cuda.mem_get_info(checkpoint.device)[0] * config.memory_ratio)
    one = -(-max_seq_len // config.page_size)
    return max(one, min(one * config.max_running_req, budget // (token * config.page_size)))
