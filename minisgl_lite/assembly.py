"""The composition root: options -> parts, by way of the table in `choices`. Chapter 05."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from .books import Books, Watched
from .choices import CHOICES, find, require_here
from .config import AttentionName, EngineConfig
from .core import FinishReason
from .custom import Custom as Custom
from .custom import as_custom
from .kvcache.pages import PageAllocator
from .limits import allocate, context_length, default_attention, require_flashinfer, require_model, require_same
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

    def end(self, uid: int, reason: FinishReason) -> None:
        """End a request because of its text, which comes after its round was settled and recorded."""
        self.scheduler.end(uid, reason)
        self.recorder.correct(uid, reason)


def assemble_scheduler(
    config: EngineConfig, num_pages: int, new_runner: Callable[[Scheduler], Runner], custom: Custom | None = None
) -> Schedule:
    """Build a scheduler for `num_pages` pages and the loop that drives `new_runner(scheduler)` with it.

    Imports no torch: with a virtual or a shadow engine as the runner, whole schedules run without tensors.
    """
    custom = as_custom(custom)
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
    books: Books
    close: Callable[[], None] = lambda: None
    """Lets go of what is not memory: the processes of other ranks."""


def assemble(config: EngineConfig, custom: Custom | None = None) -> Parts:
    """Load the checkpoint and build all parts of an engine; with tp_size above 1 those of rank 0, the others running.

    Raises ValueError for a custom that is none and for sizes that contradict each other, NotImplementedError, naming
    the chapter, for options that this tree does not have yet; all before weights are read where that is possible.
    """
    custom = as_custom(custom)
    refuse_absent(config)
    require_model(config)
    build = assemble_rank if config.tp_size == 1 else find("tp_size", "on")
    parts: Parts = build(config, custom)
    return parts


def assemble_rank(config: EngineConfig, custom: Custom) -> Parts:
    """The parts of one rank; where there are others, `custom` connects it with them."""
    from .models.checkpoint import Checkpoint, load

    if isinstance(config.model, Checkpoint):
        checkpoint = config.model
        require_same(config, checkpoint)
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
    engine = build_engine(config, custom, checkpoint, max_seq_len, chooser, attention, pages)
    runner = with_graphs(config, engine, checkpoint, attention)
    runner = custom.around_runner(runner) if custom.around_runner else runner
    num_pages = engine.pool.k.shape[1] // config.page_size
    books = Books(whole_rounds=config.tp_size > 1)
    schedule = assemble_scheduler(config, num_pages, lambda _: Watched(runner, books), custom)
    return Parts(config, checkpoint, max_seq_len, chooser, engine, runner, schedule, books)


def refuse_absent(config: EngineConfig) -> None:
    """Raise NotImplementedError for the first option whose chapter is not in this tree."""
    for part in ("cache_type", "overlap", "attention_backend"):
        if (value := getattr(config, part)) is not None:
            require_here(part, value)
    if config.cuda_graph_max_bs:
        require_here("cuda_graph_max_bs", "on")
    if config.tp_size > 1:
        require_here("tp_size", "on")


def with_graphs(config: EngineConfig, engine: Engine, checkpoint: Checkpoint, backend: AttentionName) -> Runner:
    """The engine, its decode steps as CUDA graphs where that is possible and not turned off."""
    possible = checkpoint.device.type == "cuda" and backend == "flashinfer"
    if config.cuda_graph_max_bs and not possible:
        raise ValueError(
            f"cuda_graph_max_bs is {config.cuda_graph_max_bs}; graphs need a CUDA device and the flashinfer backend"
        )
    if not possible or config.cuda_graph_max_bs == 0 or not CHOICES["cuda_graph_max_bs"]["on"].here:
        return engine
    most = min(config.cuda_graph_max_bs or CUDA_GRAPH_MAX_BS, config.max_running_req)
    runner: Runner = find("cuda_graph_max_bs", "on")(engine, checkpoint.decoder, checkpoint.dtype, most)
    return runner


def build_engine(
    config: EngineConfig,
    custom: Custom,
    checkpoint: Checkpoint,
    max_seq_len: int,
    chooser: Any,
    backend: AttentionName,
    pages: int,
) -> Engine:
    """The tensors: a pool of `pages` pages and the tables for a loaded checkpoint, on its device."""
    from .engine.engine import Engine, fetch_in_order
    from .engine.slots import Tables
    from .kvcache.pool import KVPool

    model, dtype, device = checkpoint.local, checkpoint.dtype, checkpoint.device
    shape = (model.num_layers, model.num_kv_heads, model.head_dim)
    size = KVPool.bytes_per_token(*shape, dtype) * pages * config.page_size
    option = "page_size" if config.num_pages is None else "num_pages"
    new_pool = partial(KVPool, shape[0], pages, config.page_size, *shape[1:], dtype, device)
    pool = allocate(option, getattr(config, option), "the KV pool", size, new_pool)
    rows, columns = config.max_running_req, -(-max_seq_len // config.page_size) + max_seq_len + 1
    new_tables = partial(Tables, rows, max_seq_len, config.page_size, device)
    tables = allocate("max_running_req", rows, "their tables", 8 * rows * columns, new_tables)
    attention = find("attention_backend", backend)(pool)
    decoder = checkpoint.decoder
    if backend == "flashinfer" and CHOICES["gpu_decoder"]["on"].here:
        fused = find("gpu_decoder", "on")
        decoder = fused(decoder, pool, custom.into_norm(decoder)) if custom.into_norm else fused(decoder, pool)
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
