"""The pictures of the home page and the README: schedules that the package's own scheduler made."""

from __future__ import annotations

from pathlib import Path

from minisgl_lite.assembly import Custom, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.scheduler.prefill import PrefillAdder
from minisgl_lite.trace import Round
from workbook.widgets.rounds import RoundViewer

# (round of arrival, name, prompt tokens, output tokens)
ARRIVALS = (
    (0, "A", 9, 12),
    (0, "B", 5, 3),
    (1, "C", 7, 6),
    (2, "D", 4, 2),
    (4, "E", 12, 5),
    (5, "F", 3, 7),
    (9, "G", 6, 4),
)


def engine_at_work() -> RoundViewer:
    """The rounds of seven requests that share an engine with three rows."""
    return RoundViewer(*engine_at_work_trace())


def engine_at_work_trace() -> tuple[list[Round], dict[int, str]]:
    """Seven requests, three rows, 16 pages of 4, a prefill budget of 16 tokens, on the virtual clock: rounds, names."""
    config = EngineConfig(page_size=4, max_running_req=3, max_extend_tokens=16, cache_type="naive", overlap=False)
    # the adder is named, so that the picture stays as it is when later chapters bring better ones
    schedule = assemble_scheduler(config, 16, lambda _: VirtualEngine(lambda uid, position: 1), Custom(PrefillAdder))
    for now in range(100):
        for uid, (at, _, prompt, outputs) in enumerate(ARRIVALS):
            if at == now:
                params = SamplingParams(max_tokens=outputs, ignore_eos=True)
                schedule.scheduler.submit(Req(uid, [1] * prompt, params))
        if not schedule.loop.has_work:
            break
        schedule.loop.step()
    return list(schedule.recorder.rounds), {uid: name for uid, (_, name, *_) in enumerate(ARRIVALS)}


def figures() -> dict[str, str]:
    """Every committed picture that is derived: path relative to the repository root -> its text."""
    return {"docs/assets/engine-at-work.svg": engine_at_work().to_svg() + "\n"}


def write(root: Path) -> None:
    """Write the pictures."""
    for name, text in figures().items():
        (root / name).write_text(text, encoding="utf-8", newline="\n")
