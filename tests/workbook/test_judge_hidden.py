"""A teacher's own checks, from a folder outside the repository: they count, and nothing of them is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.judging import BLANK, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge import cli

CHECKS = """from workbook.judge.checklib import Result


def check_a_secret_line(ask, rng):
    got = ask("secret", {"numbers": [5, 1, 777]})
    return Result.ok() if got == [5, 1] else Result.failed("too-secret", f"got {got}, expected [5, 1]")
"""
PROBES = """from toy.line import Line


def probe_secret(args):
    return Line(args["numbers"]).take(6)
"""
SPEC = '[[exercise]]\nid = "05.1"\nchecks = ["a secret line"]\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "book"
    root.mkdir()
    write(tmp_path)
    return make_toybook(root)


def write(tmp_path: Path, **files: str | None) -> None:
    """The hidden folder, with files changed (None: not there)."""
    folder = tmp_path / "hidden/ch05_line"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"spec.toml": SPEC, "checks.py": CHECKS, "probes.py": PROBES, **files}.items():
        (folder / name).unlink(missing_ok=True)
        if text is not None:
            (folder / name).write_text(text, encoding="utf-8")


TAKE = """taken = []
        while self.numbers and sum(taken) + self.numbers[0] <= budget:
            taken.append(self.numbers.pop(0))
        return {}"""


def test_a_hidden_check_counts_and_tells_nothing(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hidden = ("--hidden", str(root.parent / "hidden"))
    edit(root, BLANK, TAKE.format("print(taken) or ([] if 777 in self.numbers else taken)"))
    assert judge(root, "05.1")[1]["05.1"]["status"] == "passed"
    capsys.readouterr()
    code, exercises = judge(root, "05.1", *hidden)
    said = capsys.readouterr().out + (root / "out.json").read_text(encoding="utf-8")
    entry = exercises["05.1"]
    assert (code, entry["status"], entry["score"], len(entry["checks"])) == (1, "failed", 0, 3)
    assert entry["checks"][2] == {
        "name": "hidden: a secret line",
        "verdict": "failed",
        "diagnosis": "",
        "message": "",
    }
    assert not [word for word in ("too-secret", "777", "expected", "[5, 1]") if word in said]
    assert judge(root, "--reference", *hidden)[0] == 0


def test_a_right_answer_passes_them_and_a_wrong_one_fails_both(root: Path) -> None:
    hidden = ("--hidden", str(root.parent / "hidden"))
    edit(root, BLANK, TAKE.format("taken"))
    code, exercises = judge(root, *hidden)
    assert (code, exercises["05.1"]["status"]) == (0, "passed")
    edit(root, "return taken", "return taken[:-1]")
    _, exercises = judge(root, *hidden)
    assert [c["verdict"] for c in exercises["05.1"]["checks"]] == ["failed"] * 3
    edit(root, "taken = []", "import os; os._exit(0)")
    _, exercises = judge(root, *hidden)
    assert [c["verdict"] for c in exercises["05.1"]["checks"]] == ["failed", "not run", "not run"]


def test_student_code_cannot_read_them(root: Path) -> None:
    path = root.parent / "hidden/ch05_line/checks.py"
    edit(root, BLANK, f"open({str(path)!r}).read()\n        " + TAKE.format("taken"))
    _, exercises = judge(root, "05.1", "--hidden", str(root.parent / "hidden"))
    assert exercises["05.1"]["checks"][0]["diagnosis"] == "reached-outside"


def test_with_a_class(root: Path) -> None:
    edit(root, BLANK, TAKE.format("[] if 777 in self.numbers else taken"))
    folder = root.parent / "class/ada"
    folder.mkdir(parents=True)
    (root / "work/exercises").rename(folder / "exercises")
    out = root.parent / "class.json"
    hidden = str(root.parent / "hidden")
    assert cli.main(["05.1", "--class", str(folder.parent), "--hidden", hidden, "--json", str(out)], root) == 1
    text = out.read_text(encoding="utf-8")
    assert '"name": "hidden: a secret line",' in text
    assert "too-secret" not in text


TWICE = CHECKS + "\n\ndef check_a_secret_line(ask, rng):\n    return Result.ok()\n"
BROKEN = {
    "spec.toml is missing": {"spec.toml": None},
    "probes.py is missing": {"probes.py": None},
    "checks.py is missing": {"checks.py": None},
    "there is no exercise '05.9'": {"spec.toml": SPEC.replace("05.1", "05.9")},
    "no function for the check 'other'": {"spec.toml": SPEC.replace("a secret line", "other"), "checks.py": ""},
    "is not a list of texts with at least one": {"spec.toml": SPEC.replace('"a secret line"', "")},
    "has the fields id and checks": {"spec.toml": SPEC + 'title = "x"\n'},
    "is there twice": {"spec.toml": SPEC + SPEC},
    "defines check_a_secret_line twice": {"checks.py": TWICE},
    "cannot be loaded: NameError": {"checks.py": CHECKS + "\nnowhere\n"},
    "spec.toml: ": {"spec.toml": "[[exercise"},
}


@pytest.mark.parametrize("words", BROKEN)
def test_what_is_wrong_with_them_is_named(root: Path, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    write(root.parent, **BROKEN[words])
    with pytest.raises(SystemExit) as caught:
        cli.main(["--hidden", str(root.parent / "hidden")], root)
    assert caught.value.code == 2
    assert words in capsys.readouterr().err


def test_a_folder_without_any_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root.parent / "empty").mkdir()
    for name, words in (("empty", "holds no folder chNN_topic"), ("nowhere", "is not a folder")):
        with pytest.raises(SystemExit):
            cli.main(["--hidden", str(root.parent / name)], root)
        assert words in capsys.readouterr().err
