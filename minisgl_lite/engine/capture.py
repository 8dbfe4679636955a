"""Capturing the decode graphs of an engine. CUDA only. Chapter 12."""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable

import torch
from tqdm import tqdm

from ..attention.flashgraph import FlashInferGraphAttention
from ..attention.flashinfer import FlashInferAttention
from ..kvcache.pool import KVPool
from ..models.decoder import Decoder
from .buckets import bucket_sizes
from .engine import Engine
from .graph import DecodeGraph, GraphRunner

log = logging.getLogger(__name__)


class CudaCapture:
    """A Capture. All graphs share one pool of memory: they run one after the other, and nothing outlives a run."""

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        """Run `work` once, so that kernels are compiled and libraries have their workspaces, then record it."""
        current = torch.cuda.current_stream(self._stream.device)
        self._stream.wait_stream(current)
        with torch.cuda.stream(self._stream):
            work()
        current.wait_stream(self._stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool, stream=self._stream):
            work()
        return graph.replay


@torch.inference_mode()
def capture_decode(engine: Engine, decoder: Decoder, dtype: torch.dtype, most: int) -> GraphRunner:
    """Record a decode step for each bucket up to `most` entries and wrap the engine.

    decoder: tells how many query heads there are; dtype: theirs. To be called while nobody owns a page: the
    warm-up writes into page 0, which is then cleared.
    Shows progress on a terminal; logs the time and the memory taken.
    """
    backend, pool = engine.attention, engine.pool
    if not isinstance(backend, FlashInferAttention):
        raise TypeError(f"CUDA graphs need the flashinfer attention backend, not {type(backend).__name__}")
    device, columns = pool.k.device, engine.tables.page_table.shape[1]
    heads = query_heads(decoder, pool)
    indices = torch.zeros(most * columns, dtype=torch.int32, device=device)
    capture, graphs = CudaCapture(device), []
    free, start = torch.cuda.mem_get_info(device)[0], time.perf_counter()
    # from the largest down: the smaller ones then fit into memory that is there
    for size in tqdm(bucket_sizes(most)[::-1], desc="capturing CUDA graphs", unit="graph", disable=None, leave=False):
        attention = FlashInferGraphAttention(backend, heads, dtype, size, indices)
        graphs.append(DecodeGraph(engine, attention, size, capture))
    for part in (pool.k, pool.v):
        part[:, : pool.page_size] = 0
    taken = (free - torch.cuda.mem_get_info(device)[0]) / 2**20
    # a full collection looks at every object there is, some 0.3 s once models are loaded: 50 rounds of a small model
    gc.collect()
    gc.freeze()
    log.info("captured %d CUDA graphs in %.1f s, %.0f MiB", len(graphs), time.perf_counter() - start, taken)
    return GraphRunner(engine, graphs)


def query_heads(decoder: Decoder, pool: KVPool) -> int:
    """Query heads of a decoder, as its weights have them: a share of all under tensor parallelism."""
    attention = decoder.decoder_layers[0].self_attn
    return attention.qkv_proj.weight.shape[0] // attention.head_dim - 2 * pool.k.shape[2]
