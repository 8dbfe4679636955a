"""What a round chart draws, worked out from a trace: who was in which state in which round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..words import counted

State = Literal["prefill", "decode", "padding", "held", "waiting", "gone"]

MAX_ROUNDS = 200
MAX_REQUESTS = 64
COUNTERS = ("waiting", "running", "free_slots", "free_pages", "evictable_pages")


@dataclass(frozen=True)
class Cell:
    """One request in one round. tokens: positions computed. ends: the finish reason, when it finished in this round."""

    uid: int
    state: State
    tokens: int = 0
    ends: str = ""


@dataclass(frozen=True)
class Column:
    """One round: its number, phase and cells, the counters after its commit, and the whole of it as a sentence."""

    index: int
    phase: str
    cells: tuple[Cell, ...]
    counters: dict[str, int]
    text: str


@dataclass(frozen=True)
class Timeline:
    """A trace, ready to draw. uids: the rows, in order of appearance. left_out: what did not fit, as a sentence."""

    columns: tuple[Column, ...]
    uids: tuple[int, ...]
    names: Mapping[int, str]
    left_out: str

    def name(self, uid: int) -> str:
        """How a request is called in the picture."""
        return self.names.get(uid, f"req {uid}")


def timeline(trace: Iterable[Any], names: Mapping[int, str] | None = None) -> Timeline:
    """Read a trace: `Round` records, or mappings with the same fields; only `phase` and `entries` are needed.

    An entry of length 0 is a row that is kept and computes nothing: the padding of a static batch. The first
    200 rounds and 64 requests are kept; `left_out` says so. Times are not read: two runs of one schedule are equal.
    """
    rounds, names = list(trace), dict(names or {})
    shown = rounds[:MAX_ROUNDS]
    order: dict[int, None] = {}
    for r in shown:
        order |= dict.fromkeys([*(uid for uid, *_ in read_field(r, "entries", ())), *read_field(r, "waiting_uids", ())])
    uids = tuple(order)[:MAX_REQUESTS]
    left_out = []
    if len(rounds) > len(shown):
        left_out.append(f"the first {len(shown)} of {len(rounds)} rounds")
    if len(order) > len(uids):
        left_out.append(f"the first {len(uids)} of {len(order)} requests")
    result = Timeline((), uids, names, "shown: " + ", ".join(left_out) if left_out else "")
    return Timeline(tuple(_columns(shown, result)), uids, names, result.left_out)


def _columns(rounds: list[Any], rows: Timeline) -> Iterable[Column]:
    begun: set[int] = set()  # only asked for membership: no order comes from it
    done: set[int] = set()
    for number, r in enumerate(rounds):
        entries = {uid: tokens for uid, _, tokens in read_field(r, "entries", ())}
        ends = dict(read_field(r, "finished", ()))
        waiting = dict.fromkeys(read_field(r, "waiting_uids", ()))
        phase = str(read_field(r, "phase", "decode"))
        cells = []
        for uid in rows.uids:
            state: State = "gone"
            if uid in entries:
                state = "padding" if not entries[uid] else "prefill" if phase == "prefill" else "decode"
            elif uid in begun and uid not in done:
                state = "held"
            elif uid in waiting:
                state = "waiting"
            if state != "gone" or uid in ends:
                cells.append(Cell(uid, state, entries.get(uid, 0), ends.get(uid, "")))
        begun.update(entries)
        done.update(ends)
        counters = {name: value for name in COUNTERS if (value := read_field(r, name, None)) is not None}
        index = read_field(r, "index", number)
        yield Column(index, phase, tuple(cells), counters, _sentence(index, phase, cells, counters, rows))


def read_field(record: Any, name: str, default: Any) -> Any:
    """A field of a record, or of a mapping in its place."""
    return record.get(name, default) if isinstance(record, Mapping) else getattr(record, name, default)


def _sentence(index: int, phase: str, cells: list[Cell], counters: dict[str, int], rows: Timeline) -> str:
    def those(*states: State) -> str:
        return ", ".join(rows.name(c.uid) for c in cells if c.state in states)

    tokens = sum(cell.tokens for cell in cells)
    parts = [f"Round {index}: {phase} of {counted(tokens, 'token')} for {those('prefill', 'decode') or 'nobody'}"]
    for title, text in (
        ("row kept, nothing computed", those("padding")),
        ("running, not in this batch", those("held")),
        ("waiting", those("waiting")),
        ("finished", ", ".join(f"{rows.name(c.uid)} ({c.ends})" for c in cells if c.ends)),
    ):
        if text:
            parts.append(f"{title}: {text}")
    free = (("free rows", "free_slots"), ("free pages", "free_pages"))
    parts += [f"{title} {counters[name]}" for title, name in free if name in counters]
    return " · ".join(parts)
