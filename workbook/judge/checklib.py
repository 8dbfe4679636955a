"""What an exercise's checks are written with: results, questions, and comparisons that name the first divergence.

A check is a function `check_<name>(ask, rng) -> Result` in `exercises/chNN_topic/checks/ex<k>.py` (or in a `checks.py`
for the whole chapter), where <name> is its name in spec.toml with an underscore for whatever is no letter or digit. It
draws inputs from `rng`, asks the graded process for values with `ask(probe, args)`, and compares them with what the
reference or the oracle says. What `ask` raises need not be caught: it fails the check with a diagnosis of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Literal, Protocol

from ..words import counted
from .gone import ChildError, ProbeRaised, ProcessGone
from .same import same

__all__ = [
    "TIE_GAP",
    "Ask",
    "Check",
    "ChildError",
    "OracleLike",
    "OracleMissing",
    "ProbeRaised",
    "ProcessGone",
    "Result",
]

Verdict = Literal["ok", "tie", "failed", "not run"]
TIE_GAP = 1e-3
"""Logits: where Hugging Face's best two are closer than this, either token is right."""
TIES_ALLOWED = 0.2
"""The share of requests that may end in a tie before a check says "not run"."""


@dataclass(frozen=True)
class Result:
    """What a check found. diagnosis: a slug that names the likely mistake, empty when there is none.

    section: the heading to re-read, where it is another than the exercise's.
    """

    verdict: Verdict
    diagnosis: str = ""
    message: str = ""
    section: str = ""

    @staticmethod
    def ok(message: str = "") -> Result:
        """All as expected."""
        return Result("ok", "", message)

    @staticmethod
    def failed(diagnosis: str, message: str, section: str = "") -> Result:
        """Something is wrong: what it is called, what was seen and expected, and the heading to re-read."""
        return Result("failed", diagnosis, message, section)

    @staticmethod
    def not_run(message: str) -> Result:
        """It could not be checked, and why."""
        return Result("not run", "", message)


class OracleMissing(Exception):  # noqa: N818  it names a state of things, as ProcessGone does
    """There are no recorded tokens of Hugging Face, or they could not be computed: what needs them is not run."""


class OracleLike(Protocol):
    """One recorded greedy run of Hugging Face."""

    @property
    def ids(self) -> Sequence[int]:
        """The prompt."""

    @property
    def output_ids(self) -> Sequence[int]:
        """The tokens that follow it."""

    @property
    def gaps(self) -> Sequence[float]:
        """For each of them, by how much the best logit was above the second."""


class Ask(Protocol):
    """Asks the graded process."""

    def __call__(self, probe: str, args: dict[str, Any] | None = None, *, seconds: float = 20.0) -> Any:
        """The value of `probe_<probe>(args)`: plain JSON values. Raises ChildError."""

    def oracle(self) -> Sequence[OracleLike]:
        """Hugging Face's greedy tokens: the recorded ones, or with `--oracle live` computed anew."""


Check = Callable[[Ask, Random], Result]


def is_ids(value: object) -> bool:
    """Whether a value is a list of plain integers."""
    return type(value) is list and all(type(item) is int for item in value)


def compare_rounds(expected: Sequence[Any], got: object, diagnosis: str = "wrong-schedule") -> Result:
    """Compare two schedules, round by round: lists of [phase, [[uid, cached_len, extend_len], ...]]."""
    if type(got) is not list:
        return Result.failed(diagnosis, f"the schedule is {short(got)}, not a list of rounds")
    for number, (want, have) in enumerate(zip(expected, got, strict=False)):
        if not same(want, have):
            message = f"round {number} (uid:start+tokens) is {show_round(have)}; expected {show_round(want)}"
            return Result.failed(diagnosis, message)
    if len(got) != len(expected):
        return Result.failed(diagnosis, f"{len(got)} rounds; expected {len(expected)}, the first {len(got)} are right")
    return Result.ok(f"{len(got)} rounds as expected")


def show_round(value: object) -> str:
    """`prefill 0:0+5 1:0+5`, meaning uid:cached_len+extend_len, or the value itself when it is no round."""
    if isinstance(value, (list, tuple)) and len(value) == 2 and isinstance(value[1], (list, tuple)):
        entries = [e for e in value[1] if isinstance(e, (list, tuple)) and len(e) == 3]
        if len(entries) == len(value[1]):
            return " ".join([str(value[0]), *(f"{uid}:{cached}+{extend}" for uid, cached, extend in entries)])
    return short(value)


def compare_streams(
    expected: Sequence[OracleLike],
    got: object,
    *,
    bound: float = TIE_GAP,
    diagnosis: str = "wrong-tokens",
    note: str = "",
    most: int | None = None,
    eos_ids: Collection[int] = (),
) -> Result:
    """Compare generated ids with Hugging Face's, request by request.

    `got` is a list of id lists in the order of `expected`. most: how many tokens were asked for; each list must hold as
    many, or end where Hugging Face's does. Without it each is compared to its own length, so a check must know that it
    is long enough. eos_ids: both sides are compared up to the first of these, for what a library puts behind it (the
    end itself, padding) is no token of the answer. Where the first difference is at a step whose gap is under `bound`,
    the request is a tie.
    """
    if type(got) is not list or len(got) != len(expected) or not all(is_ids(ids) for ids in got):
        return Result.failed(diagnosis, f"expected {len(expected)} lists of token ids, got {short(got)}")
    ties = 0
    for number, (run, ids) in enumerate(zip(expected, got, strict=True)):
        all_of_it = before_end(run.output_ids, eos_ids)
        want, ids = all_of_it[: len(ids) if most is None else most], before_end(ids, eos_ids)
        step = first_difference(want, ids)
        if step is None:
            continue
        if step >= len(want):
            return Result.failed(diagnosis, f"request {number} goes on after its {counted(len(want), 'token')}")
        if step >= len(ids):
            return Result.failed(
                diagnosis, f"request {number} ends after {counted(step, 'token')}; expected {len(want)}"
            )
        gap = run.gaps[step]
        if gap < bound:
            ties += 1
            continue
        where = f"request {number} ({len(run.ids)} prompt ids), step {step}"
        tokens = f"token {ids[step]}, expected {want[step]} (Hugging Face's gap there is {gap:.3g})"
        return Result.failed(diagnosis, f"{where}: {tokens}. {note}".rstrip())
    return tied(ties, len(expected))


def before_end(ids: Sequence[int], eos_ids: Collection[int]) -> Sequence[int]:
    """The ids before the first that ends an answer."""
    return ids[: next((i for i, token in enumerate(ids) if token in eos_ids), len(ids))]


def tied(ties: int, total: int) -> Result:
    """ok without ties; "tie" with few; "not run" when more than a fifth of the requests could not be told apart."""
    if ties > TIES_ALLOWED * total:
        return Result.not_run(f"{ties} of {total} requests end in a tie: too many to say anything")
    if ties:
        return Result("tie", "", f"{total - ties} of {total} requests equal, {ties} differ where two tokens are tied")
    return Result.ok(f"{total} requests equal")


def first_difference(want: Sequence[Any], have: Sequence[Any]) -> int | None:
    """The first index at which two sequences differ, the shorter's length when one is a prefix; None when equal."""
    for index, (a, b) in enumerate(zip(want, have, strict=False)):
        if type(a) is not type(b) or a != b:
            return index
    return None if len(want) == len(have) else min(len(want), len(have))


def short(value: object, limit: int = 120) -> str:
    """A value in a message: cut to `limit` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
