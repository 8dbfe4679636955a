"""An exercise that was only just made: all its files are there, and nothing of it passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.judging import judge
from tests.helpers.toybook import make_toybook
from workbook import scaffold
from workbook.judge import cli
from workbook.spec import load_exercises

MINE = ["05.3", "toy.line:Line.size"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_toybook(tmp_path)


def snapshot(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_it_is_complete_and_fails_until_written(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert scaffold.main(MINE, root) == 0
    said = capsys.readouterr().out
    for line in (
        "extended exercises/ch05_line/spec.toml",
        "made exercises/ch05_line/05.3.md",
        "made exercises/ch05_line/checks/ex3.py",
        "extended exercises/ch05_line/probes.py",
        "python judge.py 05.3 --reference",
    ):
        assert line in said
    exercise = load_exercises(root)[2]
    assert (exercise.id, exercise.bodies, exercise.lines, len(exercise.hints)) == ("05.3", ("Line.size",), 1, 3)
    assert (root / exercise.variants_folder).is_dir()
    code, exercises = judge(root, "--reference")
    assert (code, [e["status"] for e in exercises.values()]) == (1, ["passed", "passed", "failed"])
    probes = root / "exercises/ch05_line/probes.py"
    probes.write_text(probes.read_text(encoding="utf-8").replace("raise NotImpl", "return None\n    raise NotImpl"))
    _, exercises = judge(root, "05.3", "--reference")  # what is asked agrees with what is expected: still not written
    assert exercises["05.3"]["checks"][0]["diagnosis"] == "not-written"
    capsys.readouterr()
    assert cli.main(["05.3", "--mutants"], root) == 1
    assert "05.3 has no variants" in capsys.readouterr().out


def test_it_can_be_written(root: Path) -> None:
    scaffold.main(MINE, root)
    folder = root / "exercises/ch05_line"
    for name, old, new in (
        ("probes.py", 'raise NotImplementedError("probe_ex3 is not written yet")', 'return Line(args["numbers"]).size'),
        ("checks/ex3.py", "expected = None", "expected = 5"),
        (
            "checks/ex3.py",
            '    return Result.failed("not-written"',
            '    return Result.ok()\n    Result.failed("not-written"',
        ),
        ("checks/ex3.py", "TODO-name-of-the-mistake", "wrong-size"),
    ):
        path = folder / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")
    assert judge(root, "05.3", "--reference")[0] == 0
    variant = '"""wrong: wrong-size"""\n\n\nclass Line:\n    def size(self) -> int:\n        return 4\n'
    (folder / "variants/05.3/wrong_four.py").write_text(variant.replace("    def", "    @property\n    def"))
    assert cli.main(["05.3", "--mutants"], root) == 0


def test_the_first_exercise_of_a_chapter(root: Path) -> None:
    (root / "toy/late.py").write_text(
        '"""Late. Chapter 07."""\n\n\ndef last() -> int:\n    return 1\n', encoding="utf-8"
    )
    assert scaffold.main(["07.1", "toy.late:last", "--topic", "late"], root) == 0
    assert [e.id for e in load_exercises(root)] == ["05.1", "05.2", "07.1"]
    assert judge(root, "07", "--reference")[1]["07.1"]["status"] == "failed"


REFUSED = {
    "5.3 is not an exercise's number": ["5.3", "toy.line:Line.size"],
    "05.x is not an exercise's number": ["05.x", "toy.line:Line.size"],
    "exercise 05.1 is there already": ["05.1", "toy.line:Line.size"],
    "name each body as MODULE:QUALNAME": ["05.3", "toy.line.Line.size"],
    "one module, not about toy.line and toy.other": ["05.3", "toy.line:total", "toy.other:x"],
    "there is no module toy.other": ["05.3", "toy.other:x"],
    "Line.none is not defined here": ["05.3", "toy.line:Line.none"],
    "Line is a class: name its methods": ["05.3", "toy.line:Line"],
    "toy names no chapter": ["05.3", "toy.__init__:x"],
    "belongs to chapter 05: chapter 04 cannot ask": ["04.1", "toy.line:total", "--topic", "early"],
    "chapter 06 has no exercises yet: give its --topic": ["06.1", "toy.line:Line.size"],
    "the topic of chapter 05 is line, not queue": ["05.3", "toy.line:Line.size", "--topic", "queue"],
    "exercises/ch05_line/05.3.md is there already": [*MINE],
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_made_is_refused_with_nothing_written(
    root: Path, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if "already" in words and "md" in words:
        (root / "exercises/ch05_line/05.3.md").write_text("mine", encoding="utf-8")
    before = snapshot(root)
    assert scaffold.main(REFUSED[words], root) == 2
    said = capsys.readouterr().err
    assert words in said.replace("toy.__init__", "toy")
    assert len(said.splitlines()) == 1
    assert snapshot(root) == before
