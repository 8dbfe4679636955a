"""Random traffic with prompts in pieces, prefill first and interleaved, nothing cached."""

from __future__ import annotations

from functools import partial
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.interleave import Interleave
from tests.helpers.machines import SchedulerMachine, examples


class ChunkedMachine(SchedulerMachine):
    chunked = True
    policies = (None, Interleave, partial(Interleave, 3))

    def custom(self, policy: Any) -> Custom:
        return Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, policy=policy)


TestChunked = ChunkedMachine.TestCase
TestChunked.settings = examples(80)
