"""A second CUDA stream, for results on their way to the host. Chapter 09."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch


class CopyStream:
    """A Fetch for overlap on a CUDA device: the host waits for one batch, not for those launched after it.

        current stream   | forward N           | forward N+1         | forward N+2
        copy stream                            | tokens of N |       | tokens of N+1 |
        host             launch N+1 ........ wait for this ^   commit N, launch N+2

    Work of one stream runs in order, so a copy on the stream that computes would be done only after whatever was
    launched before the host asked for it: with overlap, after the next round. On a stream of its own it waits for an
    event, the end of the batch's forward pass, and the host waits for another, the end of the copy.

    The host side of a copy is pinned memory, fresh for each batch: torch keeps a pinned block from its next owner
    until the copies that were started on it are done, and so does `engine.inputs.upload` on the way to the device.
    """

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]

    def __call__(self, tensors: Sequence[torch.Tensor]) -> Callable[[], Sequence[torch.Tensor]]:
        """See Fetch. To be called right after the work that computes `tensors` was launched on the current stream."""
        self.stream.wait_stream(torch.cuda.current_stream(self.device))
        with torch.cuda.stream(self.stream):
            hosts = [torch.empty(t.shape, dtype=t.dtype, pin_memory=True) for t in tensors]
            for host, tensor in zip(hosts, tensors, strict=True):
                host.copy_(tensor, non_blocking=True)
                # the device side must not be handed to somebody else before it has been read, either
                tensor.record_stream(self.stream)
            arrived = self.stream.record_event()

        def wait() -> Sequence[torch.Tensor]:
            arrived.synchronize()
            return hosts

        return wait
