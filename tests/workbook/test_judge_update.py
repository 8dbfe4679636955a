"""A newer stub comes into a student's file: what the student wrote stays, everything else is the stub's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.judging import BLANK, FILE, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge import cli
from workbook.student import create_missing

MINE = "# my own way\n        first = helper(self.numbers)\n        return self._mine(first, budget)"
HELPER = """    def _mine(self, first: int, budget: int) -> list[int]:
        return [first][:LIMIT]

    # a comment before"""
BASE = "work/.stubs/ch05_line/line.py"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_toybook(tmp_path)
    create_missing(root)
    return root


def package(root: Path, old: str, new: str) -> None:
    """A new version of the module, and so of the stub."""
    path = root / "toy/line.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def text_of(root: Path) -> str:
    return (root / FILE).read_text(encoding="utf-8")


def write_much(root: Path) -> None:
    edit(root, BLANK, MINE)
    edit(root, "    # a comment before", HELPER)
    edit(
        root,
        "from collections.abc import Iterable",
        "import itertools\nfrom collections.abc import Iterable\n\nLIMIT = 1",
    )
    edit(
        root,
        "def total(",
        "def helper(numbers: list[int]) -> int:\n    return next(itertools.chain(numbers))\n\n\ndef total(",
    )


@pytest.mark.parametrize("base", [True, False])
def test_what_the_student_wrote_stays(root: Path, base: bool, capsys: pytest.CaptureFixture[str]) -> None:
    write_much(root)
    edit(root, "return len(self.numbers)", "return sum(1 for _ in self.numbers)")
    before = text_of(root)
    package(root, '"""Numbers, first come first served."""', '"""Numbers in a line."""')
    package(root, "budget: int) -> list[int]:", "budget: int, most: int = 9) -> list[int]:")
    package(root, "def total(", "def largest(numbers: list[int]) -> int:\n    return max(numbers)\n\n\ndef total(")
    if not base:
        (root / BASE).unlink()
    assert cli.main(["--update"], root) == 0
    after, said = text_of(root), capsys.readouterr().out
    for kept in (MINE, "    def _mine", "return [first][:LIMIT]", "import itertools", "LIMIT = 1", "def helper("):
        assert after.count(kept) == 1, kept
    for new in ('"""Numbers in a line."""', "budget: int, most: int = 9) -> list[int]:", "def largest("):
        assert after.count(new) == 1, new
    assert "return len(self.numbers)" in after
    assert 'raise NotImplementedError("exercise 05.2' in after
    assert (root / f"{FILE}.bak").read_text(encoding="utf-8") == before
    for words in (
        "with your Line.take; what you had is in line.py.bak",
        "Line.take has a new signature: see that it fits" if base else "Line.take has the stub's signature",
        "Line.size is",
    ):
        assert words in said
    judge(root, "05.1")
    assert cli.main(["--update"], root) == 0
    assert "as new as its stub" in capsys.readouterr().out
    assert (text_of(root), (root / f"{FILE}.bak2").exists()) == (after, False)


def test_it_still_passes_afterwards(root: Path) -> None:
    cli.main(["--solution", "05.1", "--apply"], root)
    package(root, "from collections.abc import Iterable", "import os\nfrom collections.abc import Iterable")
    assert cli.main(["--update", "05.1"], root) == 0
    code, exercises = judge(root)
    assert (code, [e["status"] for e in exercises.values()]) == (0, ["passed", "not attempted"])


def test_nothing_written_is_the_new_stub(root: Path) -> None:
    package(root, "Their sum.", "All together.")
    cli.main(["--update"], root)
    assert "All together." in text_of(root)
    assert (root / BASE).read_text(encoding="utf-8") == text_of(root)


def test_a_newer_stub_is_told(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"Newer stub: {FILE} (python judge.py --update merges it)"
    cli.main(["--progress"], root)
    assert words not in capsys.readouterr().out
    package(root, "Their sum.", "All together.")
    cli.main(["--progress"], root)
    assert words in capsys.readouterr().out


TAKE = "def take(self, budget: int) -> list[int]:"
REFUSED = {
    "line 1: ": lambda text: "def f(:\n" + text,
    "the body of Line.take starts on a line": lambda t: t.replace(TAKE, f"{TAKE} return []\n    def x(self):"),
    "is not UTF-8": lambda text: b"\xff",
    "is not a file": lambda text: None,
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_merged_is_refused_and_left_alone(
    root: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    new = REFUSED[words](text_of(root))
    (root / FILE).unlink()
    if new is None:
        (root / FILE).mkdir()
    else:
        (root / FILE).write_bytes(new if isinstance(new, bytes) else new.encode("utf-8"))
    package(root, "Their sum.", "All together.")
    assert cli.main(["--update"], root) == 1
    said = capsys.readouterr().out
    assert f"{FILE}: not updated: " in said
    assert words in said
    assert len(said.splitlines()) == 1
    assert not list((root / FILE).parent.glob("*.bak*"))


def test_a_definition_that_is_gone_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(root, "return len(self.numbers)", "return 5")
    package(root, "    @property\n    def size(self) -> int:\n        return len(self.numbers)\n", "")
    assert cli.main(["--update"], root) == 0
    assert "Line.size is no longer in the stub: yours is in the backup only" in capsys.readouterr().out
    assert "def size" not in text_of(root)


def test_backups_are_never_overwritten(root: Path) -> None:
    for number in range(3):
        edit(root, BLANK, f"return [{number}]")
        cli.main(["--reset", "05.1"], root)
    for number, name in enumerate(("bak", "bak2", "bak3")):
        assert f"return [{number}]" in (root / f"{FILE}.{name}").read_text(encoding="utf-8")
