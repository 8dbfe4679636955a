"""What a later exercise stands on: the student's own modules where they passed, and never at its own cost."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import judge
from tests.helpers.toychapters import file_of, make_toychapters
from workbook.judge import cli
from workbook.judge.grade import grade as real_grade
from workbook.judge.ground import ground_of
from workbook.lab import choose
from workbook.progress import passed_digests
from workbook.student import create_missing, workplaces


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_toychapters(tmp_path)
    create_missing(root)
    return root


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """For each grading process: the exercises of the student's own that it stood on."""
    seen: list[list[str]] = []

    def counted(*args: Any, **options: Any) -> Any:
        seen.append([piece.exercise.id for piece in options.get("own", ())])
        return real_grade(*args, **options)

    monkeypatch.setattr("workbook.judge.ground.grade", counted)
    return seen


def write(root: Path, name: str, function: str, body: str, tail: str = "") -> None:
    """Put a body where the stub has none, and code at the end of the file."""
    path = root / file_of(name)
    text = path.read_text(encoding="utf-8")
    at = text.index("raise NotImplementedError", text.index(f"def {function}("))
    end = text.index("\n", at)
    path.write_text(text[:at] + body + text[end:] + tail, encoding="utf-8")


SERVE = "return [smaller(*numbers), larger(*numbers), double(numbers[0])]"


def test_own_modules_that_passed_are_used_and_named(
    root: Path, runs: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, "pair", "smaller", "return sorted([a, b])[0]")
    write(
        root,
        "desk",
        "serve",
        "import toy.pair\n    assert 'sorted' in toy.pair.smaller.__code__.co_names\n    " + SERVE,
    )
    code, exercises = judge(root, "6")
    assert (code, exercises["06.1"]["status"], runs) == (1, "failed", [[]])  # not graded yet, so not used
    assert "from the reference: chapter 03, chapter 04" in capsys.readouterr().out
    assert judge(root, "03")[0] == 0
    runs.clear()
    code, exercises = judge(root, "06.1")
    assert (code, exercises["06.1"]["status"], runs) == (0, "passed", [["03.1"]])
    assert "your own: pair.py (03.1); reference: pair.py (03.2), chapter 04" in capsys.readouterr().out


def test_all_at_once_uses_what_has_just_passed(
    root: Path, runs: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, "pair", "smaller", "return min(a, b)")
    write(root, "pair", "larger", "return max(b, a)")
    write(root, "double", "double", "return a + a")
    write(root, "desk", "serve", SERVE)
    assert judge(root)[0] == 0
    assert runs == [[], ["03.1"], ["03.1", "03.2"], ["03.1", "03.2", "04.1"]]
    assert "your own: chapter 03, double.py (04.1); reference: chapter 05\n" in capsys.readouterr().out


def test_a_changed_module_is_not_used_until_it_passes_again(
    root: Path, runs: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, "double", "double", "return a + a")
    write(root, "desk", "serve", SERVE)
    judge(root, "04")
    path = root / file_of("double")
    path.write_text(path.read_text(encoding="utf-8").replace("a + a", "a * 2  # so"), encoding="utf-8")
    capsys.readouterr()
    assert judge(root, "06")[0] == 0
    assert runs[-1] == []
    assert "from the reference: double.py (04.1, changed since it last passed), chapter 03" in capsys.readouterr().out
    judge(root, "04")
    path.write_text("# a comment is no change\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    judge(root, "06")
    assert runs[-1] == ["04.1"]
    path.write_text("def f(:\n", encoding="utf-8")
    assert judge(root, "06")[0] == 0
    assert runs[-1] == []


def test_several_changed_modules_are_told_in_one_phrase(
    root: Path, runs: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, "pair", "smaller", "return min(a, b)")
    write(root, "pair", "larger", "return max(a, b)")
    write(root, "double", "double", "return a + a")
    write(root, "desk", "serve", SERVE)
    judge(root)
    for name, old, new in (("pair", "(a, b)", "(b, a)"), ("double", "a + a", "a * 2")):
        path = root / file_of(name)
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    capsys.readouterr()
    assert judge(root, "06")[0] == 0
    assert runs[-1] == []
    told = "3 exercises, 03.1 to 04.1 (changed since they last passed; grade again with `python judge.py 03 04`)"
    assert f"from the reference: {told}" in " ".join(capsys.readouterr().out.split())


def test_another_body_of_the_file_may_change(root: Path, runs: list[list[str]]) -> None:
    write(root, "pair", "smaller", "return min(a, b)")
    judge(root, "03.1")
    before = passed_digests(root)["03.1"]
    write(root, "pair", "larger", "return 5")
    judge(root, "03.2")
    assert runs[-2:] == [["03.1"], []]  # fails: once more, on the reference
    assert passed_digests(root) == {"03.1": before}


TRICKS = {
    "wrong elsewhere": ("return a", ""),  # right for what its own check asks
    "exits": ("return min(a, b)", "\nimport sys, os\n'toy.desk' in sys.modules and os._exit(0)\n"),
    "sys.exit": ("return min(a, b)", "\nimport sys\nif 'toy.desk' in sys.modules: sys.exit(0)\n"),
    "hangs": ("return min(a, b)", "\nimport sys, time\nwhile 'toy.desk' in sys.modules: time.sleep(0.1)\n"),
    "patches the probe": (
        "return min(a, b)",
        "\nimport sys, types\nif 'toy.desk' in sys.modules:\n"
        "    sys.modules['exercise_probes'] = types.SimpleNamespace(probe_serve=lambda args: [0])\n",
    ),
    "answers itself": (
        "return min(a, b)",
        "\nimport sys, os\nif 'toy.desk' in sys.modules:\n    for fd in range(3, 9):\n"
        "        try: os.write(fd, b'{}x\\n')\n        except OSError: pass\n    os._exit(0)\n",
    ),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_an_earlier_module_never_costs_a_later_exercise(
    root: Path, runs: list[list[str]], trick: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, "pair", "larger", "return max(a, b)")
    write(root, "double", "double", "return a + a")
    write(root, "desk", "serve", SERVE)
    write(root, "pair", "smaller", *TRICKS[trick])
    modules = set(sys.modules)
    assert judge(root, "03", "04")[0] == 0
    capsys.readouterr()
    code, exercises = judge(root, "06.1")
    out = capsys.readouterr().out
    assert (code, exercises["06.1"]["status"], exercises["06.1"]["score"]) == (0, "passed", 1), out
    assert "passed on the reference alone; with your own earlier modules it would not:" in out
    assert "pair.py (03.1) seems at fault" in out
    assert not {name for name in set(sys.modules) - modules if name.startswith(("toy", "exercise_probes"))}


def test_a_module_cannot_patch_the_process_that_grades_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, "pair", "larger", "return max(a, b)")
    write(root, "double", "double", "return a + a")
    write(root, "desk", "serve", SERVE)
    patch = "\nimport sys\nif 'toy.desk' in sys.modules: sys.modules['__main__'].plain = lambda value: True\n"
    write(root, "pair", "smaller", "return min(a, b)", patch)
    assert judge(root, "03", "04")[0] == 0
    capsys.readouterr()
    assert judge(root, "06.1")[1]["06.1"]["status"] == "passed"
    assert "passed on the reference alone" not in capsys.readouterr().out


def test_a_wrong_exercise_fails_on_any_ground(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, "double", "double", "return a + a")
    judge(root, "04")
    write(root, "desk", "serve", "return double(numbers[0])")
    code, exercises = judge(root, "06")
    assert (code, exercises["06.1"]["status"]) == (1, "failed")
    assert exercises["06.1"]["checks"][0]["diagnosis"] == "wrong-serve"
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    aside = lines.index("The mistake is in this exercise, not in your earlier files.")
    assert lines[aside - 1].startswith("a hint:")


def test_the_innocent_are_not_blamed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, "pair", "smaller", "return min(a, b)")
    write(root, "pair", "larger", "return max(a, b)")
    write(root, "double", "double", "return 4")
    write(root, "desk", "serve", SERVE)
    assert judge(root)[0] == 0
    assert "double.py (04.1) seems at fault" in capsys.readouterr().out


def test_start_at_stands_on_the_reference(
    root: Path, runs: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, "pair", "smaller", "return min(a, b)")
    write(root, "double", "double", "return a + a")
    write(root, "desk", "serve", SERVE)
    assert judge(root)[0] == 0
    runs.clear()
    assert cli.main(["--start-at", "4"], root) == 0
    out = capsys.readouterr().out
    assert "03 pair             [#-] 1 of 2, skipped: started at 04" in out
    assert "Next: 05.1" in out
    code, exercises = judge(root)
    assert (code, runs) == (0, [[], ["04.1"]])
    assert [e["status"] for e in exercises.values()][:3] == ["not attempted", "not attempted", "passed"]
    out = capsys.readouterr().out
    assert "03.1  Write smaller        skipped: started at 04" in out
    assert "points since chapter 04" in out
    assert "your own: double.py (04.1); reference: chapter 03 (you started at 04)" in out
    assert judge(root, "3")[1]["03.1"]["status"] == "passed"  # when named, it is graded all the same
    assert cli.main(["--start-at", "1"], root) == 0
    assert "Next: 03.2" in capsys.readouterr().out
    judge(root)
    assert runs[-1] == ["03.1", "04.1"]


def test_start_at_with_a_report_grades(root: Path) -> None:
    code, exercises = judge(root, "--start-at", "6")
    assert (code, {e["status"] for e in exercises.values()}) == (1, {"not attempted"})
    write(root, "desk", "serve", SERVE)
    assert judge(root)[0] == 0


@pytest.mark.parametrize("args", [["0"], ["99"], ["x"], ["3", "--hint", "03.1"], ["3", "--watch"]])
def test_start_at_refuses(root: Path, args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(["--start-at", *args], root)
    assert caught.value.code == 2
    assert capsys.readouterr().err
    assert not (root / "work/progress.json").exists()


def test_the_lab_opens_the_chapter_begun_at(root: Path) -> None:
    for name in ("03_pair", "04_double", "06_desk"):
        (root / "work/chapters").mkdir(exist_ok=True)
        (root / f"work/chapters/{name}.ipynb").touch()
    chosen = []
    for start in ("1", "4", "5", "6"):
        cli.main(["--start-at", start], root)
        notebook = choose(root)
        chosen.append(notebook.stem if notebook else "")
    assert chosen == ["03_pair", "04_double", "06_desk", "06_desk"]


def test_exercises_before_it_in_the_same_chapter_count() -> None:
    places = {place.exercise.id: place for place in workplaces()}
    tree, pages = places["08.1"], places["08.3"]
    texts = {place.exercise.file: place.reference for place in places.values()}
    passed = {id_: place.digest(place.reference) for id_, place in places.items()}

    def own(start: int) -> list[str]:
        ground = ground_of(pages, list(places.values()), texts, passed, start)
        return [piece.exercise.id for piece in ground.own if piece.exercise.chapter == 8]

    assert tree.exercise.file != pages.exercise.file
    assert own(1) == own(8) == ["08.1", "08.2"]
    before = ground_of(tree, list(places.values()), texts, passed, 8)
    assert [piece.exercise.id for piece in before.own] == ["08.2"]  # of its own file; none that comes after


def test_a_mistake_of_its_own_is_asked_about_once_more(root: Path, runs: list[list[str]]) -> None:
    add_a_check(root)
    write(root, "pair", "smaller", "return min(a, b)")
    judge(root, "03.1")
    write(root, "double", "double", "return 5")
    runs.clear()
    checks = judge(root, "04.1")[1]["04.1"]["checks"]
    assert runs == [["03.1"], []]
    assert [(c["verdict"], c["diagnosis"]) for c in checks] == [("failed", "wrong-double"), ("ok", "")]


def test_after_a_failure_nothing_is_waited_for_long(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_a_check(root)
    monkeypatch.setattr("workbook.judge.grade.PATIENCE", 0.5)
    write(root, "double", "double", "while a == 3: pass\n    return 0")
    found = judge(root, "04.1")[1]["04.1"]
    assert found["status"] == "failed"
    assert [(c["verdict"], c["diagnosis"]) for c in found["checks"]] == [("failed", "wrong-double"), ("not run", "")]


def add_a_check(root: Path) -> None:
    """A second check for 04.1, which would wait for long."""
    folder = root / "exercises/ch04_double"
    spec, checks = folder / "spec.toml", folder / "checks.py"
    text = spec.read_text(encoding="utf-8").replace('["double is right"]', '["double is right", "double ends"]')
    spec.write_text(text.replace("seconds = 6", "seconds = 60"), encoding="utf-8")
    more = "\n\ndef check_double_ends(ask, rng):\n    ask('double', {'n': 3}, seconds=50)\n    return Result.ok()\n"
    checks.write_text(checks.read_text(encoding="utf-8") + more, encoding="utf-8")
