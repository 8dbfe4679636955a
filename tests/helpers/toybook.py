"""A small workbook with one module and two exercises, for tests of the classroom."""

from __future__ import annotations

from pathlib import Path

MODULE = '''"""A queue of numbers. Chapter 05."""

from __future__ import annotations

from collections.abc import Iterable


class Line:
    """Numbers, first come first served."""

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self.numbers = list(numbers)

    def head(self) -> int | None:
        """The first, or None."""
        return self.numbers[0] if self.numbers else None

    def take(self, budget: int) -> list[int]:
        """Numbers from the front while their sum fits."""
        # 寿司 comes in order
        taken: list[int] = []
        while (n := self.head()) is not None and sum(taken) + n <= budget:
            taken.append(self.numbers.pop(0))
        return taken
        # nothing after this

    # a comment before the next method
    @property
    def size(self) -> int:
        return len(self.numbers)


def total(numbers: list[int]) -> int:
    """Their sum."""
    return sum(numbers)
'''

SPEC = """
chapter = 5
topic = "line"

[[exercise]]
id = "05.1"
title = "Take from the front"
module = "toy.line"
bodies = ["Line.take"]
hidden = ["Line.head"]
difficulty = 2
importance = 5
minutes = 10
lines = 4
section = "First come, first served"
hints = ["Look at the head.", "Stop at the first that does not fit.", "while head fits: pop"]
checks = ["takes a prefix", "random lines"]
seconds = 15
memory_mb = 200

[[exercise]]
id = "05.2"
title = "Add up"
module = "toy.line"
bodies = ["total"]
difficulty = 1
importance = 1
minutes = 1
lines = 1
section = "Sums"
hints = ["Use sum.", "return sum(...)", "return sum(numbers)"]
checks = ["sums"]
seconds = 15
"""

PROBES = """from toy.line import Line, total


def probe_take(args):
    line = Line(args["numbers"])
    return [line.take(args["budget"]), line.numbers]


def probe_total(args):
    return total(args["numbers"])
"""

CHECKS = """from workbook.judge.checklib import Result


def check_takes_a_prefix(ask, rng):
    got = ask("take", {"numbers": [3, 9, 1], "budget": 4}, seconds=3)
    if got == [[3, 1], [9]]:
        return Result.failed("skips-the-head", f"got {got}, expected [[3], [9, 1]]")
    if got != [[3], [9, 1]]:
        return Result.failed("wrong-prefix", f"got {got}, expected [[3], [9, 1]]")
    return Result.ok()


def check_random_lines(ask, rng):
    numbers = [rng.randrange(1, 9) for _ in range(20)]
    taken, left = ask("take", {"numbers": numbers, "budget": 30}, seconds=3)
    if taken + left != numbers:
        return Result.failed("loses-numbers", f"a number of {numbers} is lost")
    return Result.ok()


def check_sums(ask, rng):
    got = ask("total", {"numbers": [1, 2, 3]}, seconds=3)
    return Result.ok() if got == 6 else Result.failed("wrong-sum", f"got {got!r}, expected 6")
"""

VARIANTS = {
    "05.1/wrong_skips.py": '''"""wrong: skips-the-head

Small numbers overtake.
"""
class Line:
    def take(self, budget: int) -> list[int]:
        taken = []
        for n in list(self.numbers):
            if sum(taken) + n <= budget:
                taken.append(n)
                self.numbers.remove(n)
        return taken
''',
    "05.1/wrong_blank.py": '''"""wrong: not-implemented"""
class Line:
    def take(self, budget: int) -> list[int]:
        raise NotImplementedError("not yet")
''',
    "05.1/right_slices.py": '''"""right: counts first, then slices"""
import itertools


class Line:
    def take(self, budget: int) -> list[int]:
        n = self._fitting(budget)
        taken, self.numbers = self.numbers[:n], self.numbers[n:]
        return taken

    def _fitting(self, budget: int) -> int:
        return sum(1 for s in itertools.accumulate(self.numbers) if s <= budget)
''',
    "05.2/wrong_max.py": '''"""wrong: wrong-sum"""
def total(numbers: list[int]) -> int:
    return max(numbers)
''',
}


def make_toybook(root: Path) -> Path:
    """Write the workbook into an empty folder; returns it."""
    files = {
        "toy/__init__.py": '"""Toy."""\n',
        "toy/line.py": MODULE,
        "exercises/ch05_line/spec.toml": SPEC,
        "exercises/ch05_line/probes.py": PROBES,
        "exercises/ch05_line/checks.py": CHECKS,
        **{f"exercises/ch05_line/variants/{name}": text for name, text in VARIANTS.items()},
    }
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    return root
