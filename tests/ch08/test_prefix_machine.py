"""Random traffic with shared beginnings, on the prefix cache."""

from __future__ import annotations

from functools import partial
from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Batch, Req
from minisgl_lite.scheduler.admission import AdmittingAdder
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.interleave import Interleave
from tests.helpers.machines import SchedulerMachine, examples


class PrefixMachine(SchedulerMachine):
    cache_type = "radix"
    chunked = True
    policies = (None, Interleave, partial(Interleave, 3))

    def custom(self, policy: Any) -> Custom:
        return Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, policy=policy)

    def check_prefill(self, batch: Batch, waiting: list[Req]) -> None:
        super().check_prefill(batch, waiting)
        if any(req in waiting for req in batch.reqs):
            self.check_published()

    def check_published(self) -> None:
        """Whoever started after a prompt was computed could share it, unless somebody else's copy is there."""
        texts = self.cached_texts()
        for req in self.s.cache.accounts.values():
            if len(req.input_ids) > req.prompt_len:
                for i in range(req.prompt_len // self.size):
                    there = texts.get(tuple(req.input_ids[: (i + 1) * self.size]))
                    assert there is not None, f"request {req.uid}: its prompt is not shared"
                    if there != req.pages[i]:
                        break

    def cached_texts(self) -> dict[tuple[int, ...], int]:
        texts = {}
        for node in self.s.cache.tree.walk():
            text, above = list(node.key), node.parent
            while above is not self.s.cache.tree.root:
                text, above = above.key + text, above.parent
            before = len(text) - len(node.key)
            for i, page in enumerate(node.pages):
                texts[tuple(text[: before + (i + 1) * self.size])] = page
        return texts


class WholePromptsMachine(PrefixMachine):
    chunked = False
    policies = (None,)

    def custom(self, policy: Any) -> Custom:
        return Custom(adder=AdmittingAdder)


TestPrefix = PrefixMachine.TestCase
TestPrefix.settings = examples(120)
TestWholePrompts = WholePromptsMachine.TestCase
TestWholePrompts.settings = examples(50)
