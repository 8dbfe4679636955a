"""What reaches around the judge: through the fence, its files, its reports, and the interpreters that it starts."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import BLANK, edit, judge
from tests.helpers.toychapters import make_toychapters
from tests.workbook.test_judge_class import grade, hand_in
from workbook.judge import classroom, overseer
from workbook.judge.guard import Guard
from workbook.judge.overseer import NOT_STARTED, grade_submission
from workbook.judge.write import write

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="pipes, links and /proc")
RIGHT = """
        taken = []
        while self.numbers and sum(taken) + self.numbers[0] <= budget:
            taken.append(self.numbers.pop(0))
        return taken"""
SUBCLASS = """class S(str):
            def startswith(self, *a): return True
            def __contains__(self, x): return False"""
SWITCH = """for o in gc.get_objects():
            for name in ("_looking", "places", "own", "closed", "refused"):
                if type(o).__name__ in ("Fence", "Places", "Desk"):
                    try: setattr(o, name, "/")
                    except AttributeError: pass"""
REACHES = {
    "a text that lies": (SUBCLASS, "open(S('{root}/toy/line.py')).read()", "graded code may not read"),
    "a path that lies": (
        "class P:\n            def __fspath__(self): return '{root}'",
        "shutil.rmtree(P())",
        "by an object of its own",
    ),
    "a switch": (SWITCH, "open('{root}/toy/line.py').read()", "graded code may not read"),
    "a function replaced": (
        "import workbook.judge.paths as p; p.Places.may_not_read = lambda *a: False",
        "open('{root}/toy/line.py').read()",
        "graded code may not read",
    ),
    "a program": ("pass", "subprocess.run(['git'])", "may not start another program (subprocess.Popen)"),
    "a shell": ("pass", "os.system('ls')", "may not start another program (os.system)"),
    "memory": ("pass", "ctypes.CDLL(None)", "may not reach into memory (ctypes.dlopen)"),
    "history": ("pass", "open('{root}/.git/HEAD')", "graded code may not read"),
    "chapters": ("pass", "open('{root}/chapters/05_line.ipynb')", "graded code may not read"),
    "variants": (
        "pass",
        "open('{root}/exercises/ch05_line/variants/05.1/right_slices.py')",
        "graded code may not read",
    ),
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "book"
    root.mkdir()
    make_toychapters(root)
    (tmp_path / "class").mkdir()
    return root


@pytest.mark.parametrize("name", REACHES)
def test_what_reaches_around_the_fence_is_named(root: Path, name: str) -> None:
    before, line, told = (part.replace("{root}", str(root)) for part in REACHES[name])
    body = f"import ctypes, gc, os, shutil, subprocess\n        {before}\n        try: {line}"
    edit(root, BLANK, f"{body}\n        except Exception: pass" + RIGHT)
    code, exercises = judge(root, "05.1")
    first = exercises["05.1"]["checks"][0]
    assert (code, first["diagnosis"], told in first["message"]) == (1, "reached-outside", True), first


def test_answers_of_a_replaced_main_module_are_not_the_judges(root: Path) -> None:
    forge = "import sys; sys.modules['__main__'].answer = lambda *a: {'value': [[3], [9, 1]]}"
    edit(root, BLANK, f"{forge}; sys.modules['__main__'].encode = sys.exit; return [0]")
    _, exercises = judge(root, "05.1")
    assert exercises["05.1"]["checks"][0]["diagnosis"] == "wrong-prefix"


def test_files_are_not_mapped_by_torch(root: Path) -> None:
    blank = 'raise NotImplementedError("exercise 05.2: write the body of total")'
    edit(root, blank, f"import torch; torch.from_file({str(root / 'toy/line.py')!r}, False, 4, dtype=torch.uint8)")
    _, exercises = judge(root, "05.2")
    assert "graded code may not read" in exercises["05.2"]["checks"][0]["message"]


def test_what_is_printed_lies_where_the_code_does_not_find_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(root, BLANK, "import os; print('said'); raise ValueError(sorted(os.listdir('..')))")
    _, exercises = judge(root, "05.1")
    assert "ValueError: ['cwd']" in exercises["05.1"]["checks"][0]["message"]
    assert "      | said" in capsys.readouterr().out


def test_interpreters_are_started_without_looking_for_packages(root: Path) -> None:
    edit(root, BLANK, "import sys; raise ValueError((sys.flags.no_site, 'site' in sys.modules, sys.prefix))")
    _, exercises = judge(root, "05.1")
    assert f"ValueError: (1, False, {sys.prefix!r})" in exercises["05.1"]["checks"][0]["message"]
    assert "-S" in overseer.OPTIONS


def test_what_interpreters_run_at_their_start_is_guarded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = root.parent / "packages"
    packages.mkdir()
    (packages / "old.pth").write_text("old", encoding="utf-8")
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    guard = Guard(root)
    for name in ("old.pth", "new.pth", "usercustomize.py", "sitecustomize.py", "other.py"):
        (packages / name).write_text("import evil", encoding="utf-8")
    assert [Path(name).name for name in guard.changed()] == [
        "new.pth",
        "old.pth",
        "sitecustomize.py",
        "usercustomize.py",
    ]
    guard.restore()
    assert sorted(path.name for path in packages.iterdir()) == ["old.pth", "other.py"]
    assert (packages / "old.pth").read_text(encoding="utf-8") == "old"


def test_a_folder_that_was_away_is_noticed(root: Path) -> None:
    folder, aside = root / "exercises/ch05_line", root.parent / "aside"
    guard = Guard(root, folders=True)
    folder.rename(aside)
    aside.rename(folder)
    assert "exercises/ch05_line" in guard.changed()
    assert guard.restore() is None
    assert guard.changed() == []


def test_a_worker_that_read_something_else_grades_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def with_other_checks(order: Any, *rest: Any) -> Any:
        seen.append(rest)
        return grade_submission(dataclasses.replace(order, read={**order.read, "04.1": "another"}), *rest)

    monkeypatch.setattr(classroom, "grade_submission", with_other_checks)
    hand_in(root, "one")
    _, got = grade(root)
    first = got["one"]["exercises"][0]["checks"][0]
    assert (got["one"]["score"], first["diagnosis"], len(seen)) == (0, NOT_STARTED, 2)
    assert "not what lay there at the beginning" in first["message"]


def test_a_worker_that_does_not_start_costs_its_submission(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overseer, "START", "raise SystemExit('no memory')")
    hand_in(root, "one")
    code, got = grade(root)
    first = got["one"]["exercises"][0]["checks"][0]
    assert (code, first["diagnosis"]) == (1, NOT_STARTED)
    assert first["message"] == "the grading process did not start: no memory"


@linux
def test_a_link_in_a_submission_is_not_followed(root: Path) -> None:
    hand_in(root, "one")
    (root.parent / "class/one/memory").symlink_to("/proc/self/mem")
    os.mkfifo(root.parent / "class/one/pipe")
    assert grade(root)[1]["one"]["score"] == 1


@linux
def test_a_pipe_in_the_place_of_the_unfinished_report(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / f".out.json.{os.getpid()}.part")
    write(str(tmp_path / "out.json"), lambda: "whole")
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == "whole"


def test_a_teacher_is_told_what_no_exercise_needs(root: Path) -> None:
    hand_in(root, "one", double="import gc, math; import workbook.judge; return 2 * a if '__main__' else 0")
    hand_in(root, "two")
    _, got = grade(root)
    (note,) = got["one"]["notes"]
    assert "uses __main__, gc, workbook, which the course's own solution does not" in note
    assert got["two"]["notes"] == []


def test_lines_of_a_student_are_no_commands(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(root, BLANK, "print('::error::a'); raise ValueError('a\\n::stop-commands::b')")
    judge(root, "05.1")
    said = capsys.readouterr().out
    assert "::error::a" in said
    assert "::stop-commands::b" in said
    assert not any(line.strip().startswith("::") for line in said.splitlines())


@linux
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() != 0, reason="root has what can be given up")
def test_what_root_starts_may_not_look_into_other_processes() -> None:
    code = "import subprocess; from workbook.judge.limits import give_up_root; give_up_root()"
    code += "; subprocess.run(['cat', '/proc/self/status'])"
    said = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    rights = {line.split()[0]: int(line.split()[1], 16) for line in said.splitlines() if line.startswith("Cap")}
    assert rights["CapEff:"] >> 19 & 1 == 0
