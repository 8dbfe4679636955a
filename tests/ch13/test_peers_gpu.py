"""On a GPU: sums through shared memory beside the sum that torch makes. The ranks are streams of one GPU."""

from __future__ import annotations

import threading

import pytest
import torch
import torch.nn.functional as F

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
SIZE, ROWS = 512, 64
LANES = [torch.cuda.Stream() for _ in range(4)] if torch.cuda.is_available() else []


def make_ranks(count, dtype):
    from minisgl_lite.kernels.peers import PeerSums, new_buffer

    def some():
        buffers = [new_buffer(count, ROWS, SIZE, dtype, torch.device("cuda", 0)) for _ in range(count)]
        return [PeerSums(rank, buffers) for rank in range(count)]

    # a kernel is loaded when it is first launched, for which the GPU must be idle: not while another one waits for it
    for rank in some():
        rank.abort()
        torch.cuda.synchronize()
        x = torch.zeros(1, SIZE, device="cuda", dtype=dtype)
        rank.add_rms_norm(x, x.float(), x[0], 1e-6)
    torch.cuda.synchronize()
    return some()


def call(ranks, parts, stream, weight):
    """All ranks at once: [(stream, normalised)]."""
    found = []
    torch.cuda.synchronize()
    for rank, part, lane in zip(ranks, parts, LANES[: len(ranks)], strict=True):
        with torch.cuda.stream(lane):
            own = stream.clone()
            found.append((own, rank.add_rms_norm(part, own, weight, 1e-6)))
    torch.cuda.synchronize()
    return found


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_every_rank_has_the_sum_of_all(count, dtype):
    """Numbers of rows that change, so that halves are used by some rows and not by others; exact, on all ranks."""
    ranks = make_ranks(count, dtype)
    weight = torch.rand(SIZE, device="cuda").to(dtype)
    for rows in [1, 7, ROWS, 1, ROWS, 3] * 10:
        parts = [torch.randn(rows, SIZE, device="cuda").to(dtype) for _ in range(count)]
        stream = torch.randn(rows, SIZE, device="cuda")
        want = stream.clone()
        for part in parts:
            want += part.float()
        for total, normalised in call(ranks, parts, stream, weight):
            assert torch.equal(total, want)
            oracle = F.rms_norm(want, (SIZE,), weight.float(), 1e-6)
            assert (normalised.float() - oracle).norm() <= 0.01 * oracle.norm()


def test_the_number_that_stands_for_nothing_and_those_that_are_none():
    """-0.0 is what a buffer is filled with; a rank that sends it must not be waited for for ever."""
    ranks = make_ranks(2, torch.bfloat16)
    weight, stream = torch.ones(SIZE, device="cuda").bfloat16(), torch.zeros(2, SIZE, device="cuda")
    for _ in range(3):
        parts = [torch.full((2, SIZE), -0.0, device="cuda").bfloat16() for _ in ranks]
        parts[0][0, 5], parts[1][0, 6], parts[1][1, 7] = float("nan"), float("inf"), 1.0
        for total, _ in call(ranks, parts, stream, weight):
            want = torch.zeros_like(stream)
            want[0, 5], want[0, 6], want[1, 7] = float("nan"), float("inf"), 1.0
            assert torch.equal(total.nan_to_num(77.0), want.nan_to_num(77.0))


def test_a_rank_that_never_comes_is_not_waited_for_once_told():
    """Also where the next kernel has begun early and its programs, which wait, take all processors."""
    from minisgl_lite.kernels.matvec import linear

    ranks = make_ranks(2, torch.bfloat16)
    x = torch.ones(1, SIZE, device="cuda").bfloat16()
    large = torch.ones(100_000, SIZE, device="cuda").bfloat16()
    linear(x, large)
    torch.cuda.synchronize()
    waiting = torch.cuda.Event()
    for _ in range(4):
        linear(ranks[0].add_rms_norm(x, x.float(), x[0], 1e-6), large)
    waiting.record()
    assert not waiting.query()
    ranks[0].abort()
    torch.cuda.synchronize()
    assert waiting.query()


def test_a_communicator_of_one_rank():
    """Set up by another thread than the one that uses it, and captured in a graph: as in a larger group."""
    from minisgl_lite.parallel.torch_comm import TorchCommunicator, open_store

    device, store = torch.device("cuda", 0), open_store()
    comm = TorchCommunicator(0, 1, device)
    thread = threading.Thread(target=comm.meet, args=(store, True))
    thread.start()
    thread.join(60)
    x = torch.arange(6.0, device=device).view(2, 3)
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.graph(graph, stream=stream):
        out = comm.all_gather(comm.broadcast(comm.all_reduce(x * 2)))
    graph.replay()
    assert torch.equal(out, (x * 2)[None])
    del graph
    comm.close()
    comm.close()
