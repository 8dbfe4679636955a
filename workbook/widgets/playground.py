"""Playground: sliders for rows, budget, pages, page size and arrivals that run the scheduler on the virtual clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from html import escape
from typing import Any

from minisgl_lite.assembly import Custom, Schedule, assemble_scheduler
from minisgl_lite.config import EngineConfig
from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.engine.virtual import VirtualEngine
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.trace import Round

from ..words import counted
from .pool import PoolMap
from .rounds import RoundViewer

MAX_STEPS = 1000
REQUESTS = ((9, 12), (5, 3), (7, 6), (4, 2), (12, 5), (3, 7), (6, 4), (8, 9))
"""(prompt tokens, output tokens) of each request, in order of arrival."""
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Settings:
    """What the sliders say. slots: rows of the page table. budget: prompt tokens a round may compute.

    arrivals: rounds between two arrivals; 0 when all requests are there from the start.
    """

    slots: int = 3
    budget: int = 16
    pages: int = 16
    page_size: int = 4
    arrivals: int = 0


# name of a setting -> its slider's lowest and highest value, and what it says
SLIDERS: Mapping[str, tuple[int, int, str]] = {
    "slots": (1, 8, "rows"),
    "budget": (4, 64, "token budget"),
    "pages": (2, 64, "pages"),
    "page_size": (1, 16, "page size"),
    "arrivals": (0, 6, "rounds between arrivals"),
}


@dataclass(frozen=True)
class Outcome:
    """What came of a run: its trace, up to the error if there was one, and what a reader should know, a line each."""

    trace: tuple[Round, ...]
    lines: tuple[str, ...]


def play(
    settings: Settings,
    requests: Sequence[tuple[int, int]] = REQUESTS,
    names: Mapping[int, str] | None = None,
    custom: Custom | None = None,
) -> Outcome:
    """Run the requests through a scheduler on the virtual clock.

    custom: parts of your own, as for `assemble_scheduler`. A pool that runs out of pages ends the run with a line that
    says so; a prompt that the pool could never hold is refused at the door, as by `LLM.submit`.
    """
    names = {uid: names.get(uid, f"req {uid}") if names else f"req {uid}" for uid in range(len(requests))}
    config = EngineConfig(
        page_size=settings.page_size, max_running_req=settings.slots, max_extend_tokens=settings.budget
    )
    schedule = assemble_scheduler(config, settings.pages, lambda _: VirtualEngine(lambda uid, position: 1), custom)
    scheduler, lines = schedule.scheduler, list[str]()
    for now in range(MAX_STEPS):
        for uid, (prompt, outputs) in enumerate(requests):
            if uid * settings.arrivals == now:
                lines += _submit(schedule, uid, prompt, outputs, settings, names[uid])
        waiting = (len(requests) - 1) * settings.arrivals > now
        if not schedule.loop.has_work and not waiting:
            break
        rounds, before = len(schedule.recorder.rounds), (scheduler.launched, scheduler.committed)
        try:
            schedule.loop.step()
        except OutOfPages as error:
            lines.append(f"Round {rounds}: out of pages. {_named(str(error), names)}.")
            break
        # a loop that runs ahead launches in its first step and records nothing yet
        if (scheduler.launched, scheduler.committed) == before and schedule.loop.has_work and not waiting:
            lines.append(f"Round {rounds}: nobody can run, and nothing will change that.")
            break
    else:
        lines.append(f"Stopped after {MAX_STEPS} steps.")
    trace = tuple(schedule.recorder.rounds)
    return Outcome(trace, (_summary(trace), *lines))


class Playground:
    """Sliders, the rounds and the pool: each move of a slider runs the scheduler anew and draws both again.

    Where there is no kernel (a notebook that is only read, the website) it is the picture of the settings that it was
    made with. requests: (prompt tokens, output tokens) each. custom: see `play`; None takes the best parts of this
    tree. settings: where the sliders begin, by name (`slots=4`); TypeError for a name that is none.
    """

    def __init__(
        self,
        requests: Sequence[tuple[int, int]] = REQUESTS,
        names: Mapping[int, str] | None = None,
        custom: Custom | None = None,
        **settings: int,
    ) -> None:
        self.requests, self.custom = tuple(requests), custom
        self.names = dict(names) if names else {i: chr(ord("A") + i) for i in range(min(26, len(self.requests)))}
        self.settings = Settings(**settings)

    def html(self, settings: Settings | None = None) -> str:
        """The outcome for some settings, without sliders: a line or two, the rounds and the pool."""
        settings = settings or self.settings
        outcome = play(settings, self.requests, self.names, self.custom)
        said = " · ".join(f"{SLIDERS[f.name][2]} {getattr(settings, f.name)}" for f in fields(settings))
        rounds = RoundViewer(outcome.trace, self.names)._repr_html_()
        pool = PoolMap(outcome.trace, settings.pages, self.names)._repr_html_()
        text = "".join(f"<p>{escape(line)}</p>\n" for line in (said, *outcome.lines))
        return f"{text}{rounds}\n{pool}"

    def widget(self) -> Any:
        """The live playground, a widget of ipywidgets. Raises ModuleNotFoundError without that package."""
        import ipywidgets as widgets

        wide = widgets.Layout(width="28em")
        style = {"description_width": "13em"}
        sliders = {
            name: widgets.IntSlider(
                getattr(self.settings, name),
                min(low, getattr(self.settings, name)),
                max(high, getattr(self.settings, name)),
                description=text,
                layout=wide,
                style=style,
                continuous_update=False,
            )
            for name, (low, high, text) in SLIDERS.items()
        }
        view = widgets.Output()

        def draw(change: object = None) -> None:
            settings = replace(self.settings, **{name: slider.value for name, slider in sliders.items()})
            data = {"text/html": self.html(settings), "text/plain": repr(settings)}
            # an output rather than an HTML widget: scripts run in it
            view.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)

        for slider in sliders.values():
            slider.observe(draw, names="value")
        draw()
        return widgets.VBox([widgets.Box(list(sliders.values()), layout=widgets.Layout(flex_flow="row wrap")), view])

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """The picture, and for a live notebook the widget's view beside it; the view is not kept when it is saved."""
        bundle: dict[str, Any] = {"text/html": self.html(), "text/plain": repr(self)}
        try:
            view = self.widget()._repr_mimebundle_()
        except ModuleNotFoundError:
            return bundle
        return bundle | {WIDGET_VIEW: view[WIDGET_VIEW]}

    def __repr__(self) -> str:
        return f"Playground({counted(len(self.requests), 'request')}, {self.settings})"


def _submit(schedule: Schedule, uid: int, prompt: int, outputs: int, settings: Settings, name: str) -> list[str]:
    """Queue a request as `LLM.submit` does: refused when its prompt never fits, cut to what the pool holds."""
    room = settings.pages * settings.page_size
    if prompt > room:
        return [f"{name} is refused at the door: its prompt has {counted(prompt, 'token')}, the pool holds {room}."]
    params = SamplingParams(max_tokens=outputs, ignore_eos=True)
    schedule.scheduler.submit(Req(uid, [1] * prompt, params, max_tokens=min(outputs, room - prompt + 1)))
    return []


def _named(message: str, names: Mapping[int, str]) -> str:
    """An error's message with the request's name in place of its uid."""
    head, found, rest = message.partition("request ")
    uid, _, tail = rest.partition(" ")
    return f"{head}{names[int(uid)]} {tail}" if found and uid.isdigit() and int(uid) in names else message


def _summary(trace: Sequence[Round]) -> str:
    tokens = sum(n for r in trace for _, _, n in r.entries)
    ended = sum(len(r.finished) for r in trace)
    return ", ".join(
        f"{counted(n, word)}{rest}"
        for n, word, rest in (
            (len(trace), "round", ""),
            (tokens, "token", " computed"),
            (ended, "request", " finished"),
        )
    )
