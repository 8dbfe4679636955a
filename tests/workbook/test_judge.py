from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.helpers.judging import BLANK, FILE, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge import cli
from workbook.judge.report import exit_code, table
from workbook.judge.session import name_matches
from workbook.source import definition_source
from workbook.student import create_missing


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_toybook(tmp_path)


def test_fresh_nothing_attempted(root: Path) -> None:
    code, exercises = judge(root)
    assert code == 1
    assert {e["status"] for e in exercises.values()} == {"not attempted"}
    entry = exercises["05.1"]
    assert list(entry) == ["id", "title", "chapter", "file", "status", "score", "max_score", "seconds", "checks"]
    assert (entry["file"], entry["chapter"], entry["checks"]) == (FILE, 5, [])
    assert (root / FILE).is_file()


def test_reference_passes(root: Path) -> None:
    code, exercises = judge(root, "--reference")
    assert code == 0
    assert {e["status"] for e in exercises.values()} == {"passed"}
    assert [c["verdict"] for c in exercises["05.1"]["checks"]] == ["ok", "ok"]
    assert not (root / "work").exists()


def test_solution_reset_round_trip(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_missing(root)
    stub = (root / FILE).read_text(encoding="utf-8")
    assert cli.main(["--solution", "5.1"], root) == 0
    assert "+        while (n := self.head())" in capsys.readouterr().out
    assert (root / FILE).read_text(encoding="utf-8") == stub
    assert cli.main(["--solution", "05.1", "--apply"], root) == 0
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["status"], list(exercises)) == (0, "passed", ["05.1"])
    code, exercises = judge(root)
    assert (code, exercises["05.2"]["status"]) == (0, "not attempted")
    edit(root, "import Iterable", "import Iterable  # mine")
    assert cli.main(["--reset", "05.1"], root) == 0
    assert (root / FILE).read_text(encoding="utf-8") == stub.replace("import Iterable", "import Iterable  # mine")


def test_other_bodies_come_from_the_reference_and_the_table_says_so(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(root, BLANK, "return self.numbers[:0]")
    code, exercises = judge(root)
    assert code == 1
    assert exercises["05.1"]["status"] == "failed"
    assert exercises["05.1"]["checks"][0]["diagnosis"] == "wrong-prefix"
    assert exercises["05.2"]["status"] == "not attempted"
    out = capsys.readouterr().out
    assert "from the reference: total, Line.head" in out
    assert "python judge.py --hint 05.1" in out
    assert "First come, first served" in out


def test_a_wrong_neighbour_costs_only_itself(root: Path) -> None:
    cli.main(["--solution", "05.1", "--apply"], root)
    edit(root, 'raise NotImplementedError("exercise 05.2: write the body of total")', "return None")
    code, exercises = judge(root)
    assert code == 1
    assert [e["status"] for e in exercises.values()] == ["passed", "failed"]
    assert exercises["05.2"]["checks"] == [
        {"name": "sums", "verdict": "failed", "diagnosis": "wrong-sum", "message": "got None, expected 6"}
    ]


def test_traceback_shows_the_students_path_and_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    edit(root, BLANK, "return self.missing\n        # and so on")
    number = (root / FILE).read_text(encoding="utf-8").split("\n").index("        return self.missing") + 1
    _, exercises = judge(root, "05.1")
    message = exercises["05.1"]["checks"][0]["message"]
    assert f"({FILE}:{number} in take)" in message
    assert f"{FILE}:{number} in take: return self.missing" in capsys.readouterr().out


def test_a_file_that_does_not_parse_is_not_sent_to_the_chapter(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_missing(root)
    (root / FILE).write_text("def f(:\n", encoding="utf-8")
    assert cli.main(["05.1"], root) == 1
    out = capsys.readouterr().out
    assert "does not parse: line 1" in out
    assert "re-read" not in out
    assert "--hint" not in out


def test_hints_are_staged_and_recorded(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("Look at the head", "Stop at the first", "while head", "while head"):
        assert cli.main(["--hint", "05.1"], root) == 0
        assert text in capsys.readouterr().out
    assert json.loads((root / "work/progress.json").read_text(encoding="utf-8"))["hints"] == {"05.1": 3}


def test_mutants(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = root / "m.json"
    assert cli.main(["--mutants", "--json", str(out)], root) == 0, capsys.readouterr().out
    variants = json.loads(out.read_text(encoding="utf-8"))["variants"]
    assert [(v["name"], v["kind"], v["diagnosis"], v["ok"]) for v in variants] == [
        ("right_slices", "right", "", True),
        ("wrong_blank", "wrong", "not-implemented", True),
        ("wrong_skips", "wrong", "skips-the-head", True),
        ("wrong_max", "wrong", "wrong-sum", True),
    ]
    path = root / "exercises/ch05_line/variants/05.2/wrong_max.py"
    path.write_text(path.read_text(encoding="utf-8").replace("wrong-sum", "other"), encoding="utf-8")
    assert cli.main(["--mutants", "05.2", "--json", str(out)], root) == 1
    assert "should be failed [other]" in capsys.readouterr().out


@pytest.mark.parametrize(
    "args",
    [["09"], ["05.7"], ["--hint", "05"], ["--class", "x"], ["--csv", "x"], ["--apply"], ["--nonsense"], ["x"]],
)
def test_usage_errors_exit_2(root: Path, args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(args, root)
    assert caught.value.code == 2
    assert capsys.readouterr().err


def test_json_on_standard_output_is_alone_there(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--json", "-"], root)
    assert json.loads(capsys.readouterr().out)["version"] == 1


def test_gradescope(root: Path) -> None:
    cli.main(["--solution", "05.2", "--apply"], root)
    out = root / "g.json"
    assert cli.main(["--gradescope", str(out)], root) == 0
    report = json.loads(out.read_text(encoding="utf-8"))
    assert (report["score"], [t["score"] for t in report["tests"]]) == (1, [0, 1])


def test_reports_are_stable(root: Path) -> None:
    edit(root, BLANK, "return []")
    runs = [judge(root)[1] for _ in range(2)]
    for run in runs:
        for entry in run.values():
            entry["seconds"] = 0
    assert runs[0] == runs[1]


def test_a_seed_draws_other_inputs_and_the_same_again(root: Path) -> None:
    edit(root, BLANK, "return [1]")
    said = []
    for seed in ("0", "7", "7"):
        (_, drawn) = judge(root, "05.1", "--seed", seed)[1]["05.1"]["checks"]
        assert drawn["diagnosis"] == "loses-numbers"
        said.append(drawn["message"])
    assert said[0] != said[1] == said[2]
    assert [judge(root, "05.1")[1]["05.1"]["checks"][1]["message"]] == said[:1]


def test_colours_are_for_a_terminal_only(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    edit(root, BLANK, "return []")
    cli.main(["05.1"], root)
    assert "\033" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    cli.main(["05.1"], root)
    assert "\033[" in capsys.readouterr().out


def test_names_and_empty_reports() -> None:
    assert name_matches("5", "05.1")
    assert name_matches("5.1", "05.1")
    assert not name_matches("05.", "05.1")
    assert not name_matches("6", "05.1")
    assert exit_code([]) == 1
    assert table([]) == "0 of 0 points"


def test_a_students_file_is_never_overwritten(root: Path) -> None:
    edit(root, BLANK, "return []")
    text = (root / FILE).read_text(encoding="utf-8")
    assert create_missing(root) == []
    assert (root / FILE).read_text(encoding="utf-8") == text
    assert "def take" in definition_source(text, "Line.take")
