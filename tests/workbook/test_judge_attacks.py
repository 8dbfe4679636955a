"""Code that attacks the judge itself: what it did is named, and nothing it says counts."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.judging import BLANK, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge import autopsy
from workbook.judge.limits import end_family, family, start
from workbook.judge.memory import OPTIONS, START, packed
from workbook.judge.paths import digest_of
from workbook.judge.session import Session
from workbook.judge.values import clean, plain
from workbook.judge.verdicts import Report
from workbook.judge.write import make_room, write

RIGHT = """
        taken = []
        while self.numbers and sum(taken) + self.numbers[0] <= budget:
            taken.append(self.numbers.pop(0))
        return taken"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="/proc and its like")

ATTACKS = {
    "os.open('{root}', os.O_RDONLY)": "graded code may not open the folder",
    "os.open('{root}/exercises', os.O_RDONLY | os.O_DIRECTORY)": "graded code may not open the folder",
    "open('{root}/toy/line.py').read()": "graded code may not read",
    "sys.meta_path.pop(0)": "may not change how modules are found",
    "sys.modules['toy.line'] = sys": "may not put another module in the place of toy.line",
}
LINUX_ATTACKS = {
    "open(f'/proc/{{os.getppid()}}/environ', 'rb')": "graded code may not read /proc/",
    "open(f'/proc/{{os.getppid()}}/mem', 'r+b')": "graded code may not write to /proc/",
    "open(f'/proc/{{os.getppid()}}/fd/1', 'w')": "graded code may not write to /proc/",
    "signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)": "may not send signals through descriptors",
    "os.kill(1, 0)": "may not send signals to the judge, or to any process but its own",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_toybook(tmp_path)


@pytest.mark.parametrize(
    "line", [*ATTACKS, *(pytest.param(a, marks=linux) for a in LINUX_ATTACKS)], ids=lambda line: line[:40]
)
def test_what_reaches_for_the_judge_is_named(root: Path, line: str) -> None:
    told = {**ATTACKS, **LINUX_ATTACKS}[line]
    cover = "sys.modules['__main__'].__dict__.get('_refused', []).clear()"
    body = (
        f"import os, signal, sys\n        try:\n            {line.format(root=root)}\n        except Exception: {cover}"
    )
    edit(root, BLANK, body + RIGHT)
    code, exercises = judge(root, "05.1")
    first = exercises["05.1"]["checks"][0]
    assert (code, exercises["05.1"]["score"], first["diagnosis"]) == (1, 0, "reached-outside"), first
    assert told in first["message"]


def test_what_was_refused_is_remembered_outside_the_process(root: Path) -> None:
    """The process forgets it, and answers as if nothing had been."""
    forget = """for o in gc.get_objects():
            if type(o).__name__ == 'Fence':
                for cell in o.refused.__closure__: cell.cell_contents.clear()"""
    line = f"import gc\n        try: open('{root}/exercises/x', 'w')\n        except OSError: pass\n        {forget}"
    edit(root, BLANK, line + RIGHT)
    _, exercises = judge(root, "05.1")
    first = exercises["05.1"]["checks"][0]
    assert (first["diagnosis"], "graded code may not write to" in first["message"]) == ("reached-outside", True)


def test_the_answer_is_not_in_the_process(root: Path) -> None:
    """No object in it holds the text of the reference, and the job is in no file."""
    held = "[s for o in gc.get_objects() for s in gc.get_referents(o) if type(s) is str]"
    count = "[any('()'.join([name, '']) in s for s in held) for name in ('self.head', 'gc.get_objects')]"
    there = "os.path.exists(os.environ['MINISGL_JUDGE_JOB'])"
    body = f"import gc, os\n        held = {held}\n        raise ValueError(({count}, {there}))"
    edit(root, BLANK, body)
    _, exercises = judge(root, "05.1")
    assert "ValueError: ([False, True], False)" in exercises["05.1"]["checks"][0]["message"]


def test_a_variable_of_the_caller_is_not_handed_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    edit(root, BLANK, "import os; raise ValueError((os.environ.get('MY_TOKEN'), 'PATH' in os.environ))")
    _, exercises = judge(root, "05.1")
    assert "ValueError: (None, True)" in exercises["05.1"]["checks"][0]["message"]


def test_half_a_surrogate_pair_is_spelt_out(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert plain({"a\ud800": ["\udfff"]}) == {"a\\ud800": ["\\udfff"]}
    assert clean("é€😀") == "é€😀"
    edit(root, BLANK, "raise ValueError('x\\ud800y')")
    _, exercises = judge(root, "05.1")
    assert "x\\ud800y" in exercises["05.1"]["checks"][0]["message"]
    assert "x\\ud800y" in capsys.readouterr().out


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text("an earlier one", encoding="utf-8")
    make_room(str(file))
    assert not file.exists()

    def fails() -> str:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write(str(file), fails)
    assert list(tmp_path.iterdir()) == []
    write(str(file), lambda: '"\ud800"')
    assert json.loads(file.read_text(encoding="utf-8")) == "\ud800"
    assert list(tmp_path.iterdir()) == [file]


def test_what_goes_wrong_in_the_findings_ends_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any) -> Report:
        raise UnicodeEncodeError("utf-8", "x", 0, 1, "no")

    monkeypatch.setattr(autopsy, "_with_findings", breaks)
    edit(root, BLANK, "return 3")
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["status"]) == (1, "failed")


def test_names_of_private_folders_are_not_told(root: Path, tmp_path: Path) -> None:
    from workbook.judge.grade import job_of

    secret = tmp_path / "secret-name"
    bench = Session(root, 0, lambda: (), print, (str(secret),)).benches(["05.1"])[0]
    text = job_of(bench, bench.place.reference, "x").as_text()
    assert "secret-name" not in text
    assert digest_of(secret) in text


ENDLESS = """import ctypes, threading, time
threading.Thread(target=time.sleep, args=(60,)).start()
print("up", flush=True)
ctypes.CDLL(None).syscall(60, 0)
"""


@linux
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the number of a system call")
def test_a_process_whose_first_thread_has_ended_is_alive() -> None:
    process = start([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    stat = Path(f"/proc/{process.pid}/stat")
    until = time.monotonic() + 10
    while " Z " not in stat.read_text(encoding="utf-8") and time.monotonic() < until:
        time.sleep(0.01)
    assert family(process.pid, "") == [process.pid]
    end_family(process)
    process.stdout.close()
    assert not stat.exists()


def test_a_worker_runs_from_what_was_read_before(tmp_path: Path) -> None:
    (tmp_path / "workbook").mkdir()
    (tmp_path / "workbook/__init__.py").write_text("", encoding="utf-8")
    file = tmp_path / "workbook/job.py"
    file.write_text(
        "import sys\nmain = lambda: print(sys.stdin.readline(), __file__, '' in sys.path)", encoding="utf-8"
    )
    line = json.dumps(packed(tmp_path, "workbook.job", [str(tmp_path)]))
    file.write_text("main = lambda: print('another')", encoding="utf-8")
    command = [sys.executable, *OPTIONS, "-c", START]
    said = subprocess.run(
        command, input=f"{line}\nhello", cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    assert said.stdout == f"hello {file} False\n"
