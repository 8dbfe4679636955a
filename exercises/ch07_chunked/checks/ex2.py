"""How the answers to exercise 07.2 are judged. Runs in the judge, beside the package's own modules."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.judge.drive import Traffic
from workbook.words import counted

from .common import end_to_end, judge, plain, random_schedules

Actions = list[list[list[Any]]]
"""For each round, what is done before it: ["add", uid, prompt tokens] or ["discard", uid]."""


class Line:
    """The queue by hand: who waits, who is half-way and how far, rows that are free."""

    def __init__(self, rows: int, budget: int) -> None:
        self.rows, self.budget = rows, budget
        self.waiting: dict[int, int] = {}
        self.half: tuple[int, int, int] | None = None
        """uid, prompt tokens, computed."""

    def round(self, actions: list[list[Any]]) -> list[Any]:
        """[runnable, head, entries] of one round."""
        for action, uid, *prompt in actions:
            if action == "add":
                self.waiting[uid] = prompt[0]
            else:
                self.waiting.pop(uid, None)
                self.half = None if self.half and self.half[0] == uid else self.half
        runnable = self.half is not None or (bool(self.waiting) and self.rows > 0)
        head = self.half[0] if self.half else next(iter(self.waiting), None)
        left, entries = self.budget, []
        while left and (self.half or (self.waiting and self.rows)):
            if self.half is None:
                uid = next(iter(self.waiting))
                self.half = (uid, self.waiting.pop(uid), 0)
                self.rows -= 1
            uid, prompt, start = self.half
            n = min(left, prompt - start)
            entries.append([uid, start, n])
            left -= n
            self.half = (uid, prompt, start + n) if start + n < prompt else None
        return [runnable, head, entries]


def waiting(line: Line, actions: list[list[Any]]) -> int:
    """How many wait when these actions are done."""
    uids = set(line.waiting)
    for action, uid, *_ in actions:
        uids = uids | {uid} if action == "add" else uids - {uid}
    return len(uids)


def judge_queue(ask: Ask, rounds: Actions, rows: int = 8, budget: int = 10) -> Result:
    """One queue, round by round, beside the line by hand."""
    line = Line(rows, budget)
    gone: set[int] = set()
    for number, (actions, seen) in enumerate(
        zip(rounds, ask("queue", {"rounds": rounds, "rows": rows, "budget": budget}), strict=True)
    ):
        half, free = line.half, line.rows
        gone |= {action[1] for action in actions if action[0] == "discard"}
        gone -= {action[1] for action in actions if action[0] == "add"}
        waits = waiting(line, actions)
        want = line.round(actions)
        if seen == want:
            continue
        state = f"request {half[0]} is half-way" if half else "nobody is half-way"
        where = f"budget {budget}, round {number}, {state}, {free} rows free"
        slug = name_turn(seen, want, half, gone, free)
        if slug in ("wrong-runnable", "waits-for-a-row"):
            state = f"{counted(waits, 'request')} wait{'s' * (waits == 1)}, {state}, {counted(free, 'row')} free"
            told = f"budget {budget}, round {number}: runnable is {seen[0]}; expected {want[0]}: {state}"
            return Result.failed(slug, told)
        told = f"{where}: head {seen[1]}, entries {seen[2]}; expected head {want[1]}, entries {want[2]} (uid, start, n)"
        return Result.failed(slug, told)
    return Result.ok()


def name_turn(seen: list[Any], want: list[Any], half: tuple[int, int, int] | None, gone: set[int], free: int) -> str:
    """What the first round that differs says about the mistake."""
    runnable, head, entries = seen
    if head in gone or any(entry[0] in gone for entry in entries):
        return "aborted-goes-on"
    if half and half[0] == want[1] != head:
        return "half-way-overtaken" if head is not None else "half-way-forgotten"
    if runnable != want[0]:
        return "waits-for-a-row" if want[0] and half else "wrong-runnable"
    if len({entry[0] for entry in entries}) < len(entries):
        return "finished-prompt-kept"
    if head != want[1]:
        return "finished-prompt-kept" if want[1] is None or not entries else "wrong-turn"
    return "stops-too-early" if len(entries) < len(want[2]) else "wrong-turn"


def all_queues(ask: Ask, queues: list[tuple[Actions, dict[str, int]]]) -> Result:
    """The first queue that goes wrong."""
    for rounds, limits in queues:
        result = judge_queue(ask, rounds, **limits)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(queues)} queues")


def check_one_after_the_other(ask: Ask, rng: Random) -> Result:
    """Prompts that fit, or fill the budget exactly: nobody is half-way, everybody has a turn."""
    add = [["add", uid, n] for uid, n in ((3, 4), (1, 6), (2, 10), (0, 2))]
    return all_queues(ask, [([add, [], [], []], {}), ([[add[2]], [add[3]], []], {})])


def check_turns(ask: Ask, rng: Random) -> Result:
    """A prompt in three pieces, with others behind it and coming later: it goes first until it is done."""
    long, short, other = ["add", 5, 25], ["add", 1, 3], ["add", 0, 12]
    return all_queues(
        ask,
        [
            ([[long], [], [], []], {}),
            ([[long, short], [], [], []], {}),
            ([[long], [short], [other], [], []], {}),
            ([[short, long, other], [], [], [], []], {}),
            ([[other, long], [], [], [], []], {"budget": 4}),
        ],
    )


def check_no_row_needed(ask: Ask, rng: Random) -> Result:
    """With one row, and that one taken by the prompt that is half-way: it goes on, the others wait."""
    return all_queues(
        ask,
        [
            ([[["add", 5, 25], ["add", 1, 3]], [], [], [], []], {"rows": 1}),
            ([[["add", 5, 8]], [["add", 6, 14]], [], []], {"rows": 2}),
        ],
    )


def check_aborted_half_way(ask: Ask, rng: Random) -> Result:
    """A request is forgotten while it waits, while it is half-way, and after its last piece."""
    long, short = ["add", 5, 25], ["add", 1, 3]
    result = all_queues(
        ask,
        [
            ([[long, short], [["discard", 5]], []], {}),
            ([[long], [["discard", 5]], [short], []], {}),
            ([[long, short], [["discard", 1]], [], []], {}),
            ([[long, ["add", 6, 20], short], [["discard", 1]], [["discard", 5]], [], []], {}),
        ],
    )
    if result.verdict != "ok":
        return result
    for at, flying in ((1, False), (1, True), (2, False), (3, True)):
        traffic = Traffic(60, 1, 2, 8, [plain(0, 0, 20, 3), plain(1, 0, 9, 3)], [[at, 0, flying]])
        result = judge(ask, "schedule", traffic)
        if result.verdict != "ok":
            slug = "aborted-goes-on" if result.diagnosis == "books-do-not-add-up" else result.diagnosis
            return Result.failed(slug, f"request 0 is aborted in round {at}, half-way: {result.message}")
    return Result.ok()


def check_random_turns(ask: Ask, rng: Random) -> Result:
    """Random traffic with aborts: the rounds of a brute force, the books after every step, every token."""
    return random_schedules(ask, rng, "schedule", None, 2)


def check_turns_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, prompts in pieces: Hugging Face's greedy tokens."""
    return end_to_end(ask, rng)
