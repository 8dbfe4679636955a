"""The composition root: options -> parts. The only place that names modules of later chapters. Chapter 05."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .config import EngineConfig
from .kvcache.pages import PageAllocator
from .scheduler.decode import DecodeManager
from .scheduler.loop import Loop, Runner
from .scheduler.phase import PhasePolicy, PrefillFirst
from .scheduler.scheduler import Scheduler
from .scheduler.table import TableManager
from .trace import Recorder

if TYPE_CHECKING:
    from .engine.engine import Engine
    from .models.checkpoint import Checkpoint

CPU_POOL_BYTES = 1 << 30
"""The KV pool's size on a CPU when num_pages is None and the rows could use that much."""


@dataclass(frozen=True)
class Choice:
    """One row of the table below: where a part is found, and which chapter brings it."""

    module: str
    name: str
    chapter: str

    @property
    def here(self) -> bool:
        """Whether this tree has the module."""
        try:
            return importlib.util.find_spec(f"{__package__}.{self.module}") is not None
        except ModuleNotFoundError:
            return False

    def load(self) -> Callable[..., Any]:
        """The factory."""
        factory: Callable[..., Any] = getattr(importlib.import_module(f"{__package__}.{self.module}"), self.name)
        return factory


# part -> value -> where it is; the last value that is there is the best one
CHOICES: dict[str, dict[Any, Choice]] = {
    "adder": {
        "prompt": Choice("scheduler.prefill", "PrefillAdder", "05"),
        "promise": Choice("scheduler.admission", "AdmittingAdder", "06"),
        "chunked": Choice("scheduler.chunked", "ChunkedAdder", "07"),
    },
    "queue": {
        "whole": Choice("scheduler.prefill", "PrefillManager", "05"),
        "chunked": Choice("scheduler.chunked", "ChunkedPrefillManager", "07"),
    },
    "cache_type": {
        "naive": Choice("scheduler.cache", "CacheManager", "05"),
        "radix": Choice("scheduler.prefix", "PrefixCacheManager", "08"),
    },
    "overlap": {
        False: Choice("scheduler.loop", "Loop", "05"),
        True: Choice("scheduler.overlap", "OverlapLoop", "09"),
    },
    "copy_stream": {"on": Choice("engine.streams", "CopyStream", "09")},
    "chooser": {
        "greedy": Choice("engine.choose", "Greedy", "05"),
        "sampler": Choice("engine.sampler", "Sampler", "10"),
    },
    "text": {"incremental": Choice("tokenizer.output", "OutputText", "10")},
    "attention_backend": {
        "torch": Choice("attention.paged", "TorchPagedAttention", "04"),
        "flashinfer": Choice("attention.flashinfer", "FlashInferAttention", "11"),
        "triton": Choice("kernels.attention", "TritonAttention", "17"),
    },
    "cuda_graph_max_bs": {"on": Choice("engine.graph", "GraphRunner", "12")},
    "tp_size": {"on": Choice("parallel.group", "launch", "13")},
}


def find(part: str, value: Any = None) -> Callable[..., Any]:
    """The factory for a value of a part; None takes the best that this tree has.

    Raises NotImplementedError naming the chapter when the value's module is not in this tree.
    """
    rows = CHOICES[part]
    if value is None:
        return [row for row in rows.values() if row.here][-1].load()
    row = rows[value]
    if not row.here:
        raise NotImplementedError(f"{part}={value!r} comes with chapter {row.chapter}")
    return row.load()


@dataclass(frozen=True)
class Custom:
    """Parts of your own in place of those that the options choose: factories, called as the assembly calls its own."""

    adder: Callable[..., Any] | None = None
    queue: Callable[..., Any] | None = None
    cache: Callable[..., Any] | None = None
    loop: Callable[..., Any] | None = None
    chooser: Callable[..., Any] | None = None
    policy: Callable[[], PhasePolicy] | None = None


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
    scheduler = Scheduler(table, cache, prefill, decode, (custom.policy or PrefillFirst)())
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
    schedule: Schedule


def assemble(config: EngineConfig, custom: Custom | None = None) -> Parts:
    """Load the checkpoint and build all parts of an engine.

    Raises ValueError for sizes that contradict each other and NotImplementedError, naming the chapter, for options
    that this tree does not have yet; both before weights are read where that is possible.
    """
    refuse_absent(config)
    from .models.checkpoint import Checkpoint, load

    if isinstance(config.model, Checkpoint):
        checkpoint = config.model
    else:
        checkpoint = load(config.model, config.dtype, config.device, config.max_seq_len)
    max_seq_len = context_length(config, checkpoint.config.max_seq_len)
    chooser = ((custom and custom.chooser) or find("chooser"))()
    engine = build_engine(config, checkpoint, max_seq_len, chooser)
    num_pages = engine.pool.k.shape[1] // config.page_size
    schedule = assemble_scheduler(config, num_pages, lambda _: engine, custom)
    return Parts(config, checkpoint, max_seq_len, chooser, engine, schedule)


def refuse_absent(config: EngineConfig) -> None:
    """Raise NotImplementedError for the first option whose chapter is not in this tree."""
    for part in ("cache_type", "overlap", "attention_backend"):
        find(part, getattr(config, part))
    if config.cuda_graph_max_bs:
        find("cuda_graph_max_bs", "on")
    if config.tp_size > 1:
        find("tp_size", "on")


def context_length(config: EngineConfig, model_limit: int) -> int:
    """Positions that a request may have: what is asked for, at most what the model was trained for."""
    if config.max_seq_len is not None and config.max_seq_len > model_limit:
        raise ValueError(f"max_seq_len is {config.max_seq_len}; the model's positions end at {model_limit}")
    return config.max_seq_len or model_limit


def build_engine(config: EngineConfig, checkpoint: Checkpoint, max_seq_len: int, chooser: Any) -> Engine:
    """The tensors: pool and tables for a loaded checkpoint, on its device."""
    from .engine.engine import Engine, fetch_in_order
    from .engine.slots import Tables
    from .kvcache.pool import KVPool

    model, dtype, device = checkpoint.config, checkpoint.dtype, checkpoint.device
    pages = config.num_pages or default_pages(config, checkpoint, max_seq_len)
    pool = KVPool(model.num_layers, pages, config.page_size, model.num_kv_heads, model.head_dim, dtype, device)
    tables = Tables(config.max_running_req, max_seq_len, config.page_size, device)
    attention = find("attention_backend", config.attention_backend)(pool)
    # a CPU does its work when it is asked to; only on a GPU does something else run while results are fetched
    behind = device.type == "cuda" and find("overlap", config.overlap) is not Loop
    fetch = find("copy_stream", "on")(device) if behind else fetch_in_order
    return Engine(checkpoint.decoder, pool, tables, attention, chooser, fetch)


def default_pages(config: EngineConfig, checkpoint: Checkpoint, max_seq_len: int) -> int:
    """As many pages as all rows could ever use, within the memory there is; at least one full context."""
    import torch

    from .kvcache.pool import KVPool

    model = checkpoint.config
    token = KVPool.bytes_per_token(model.num_layers, model.num_kv_heads, model.head_dim, checkpoint.dtype)
    budget = CPU_POOL_BYTES
    if checkpoint.device.type == "cuda":
        budget = int(torch.cuda.mem_get_info(checkpoint.device)[0] * config.memory_ratio)
    one = -(-max_seq_len // config.page_size)
    return max(one, min(one * config.max_running_req, budget // (token * config.page_size)))
