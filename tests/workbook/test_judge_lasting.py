"""Texts of the workbook's own take turns in a process; each finds it as a student's text finds a new one."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tests.helpers.judging import BLANK, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge.bench import load_bench
from workbook.judge.desk import torch_state, torch_state_at_first
from workbook.judge.gone import ProbeRaised, ProcessGone
from workbook.judge.grade import job_of
from workbook.judge.job import Job
from workbook.judge.lasting import Shift
from workbook.student import workplaces

PROBES = """import os
import sys

from toy import line


def probe_who(args):
    return [os.getpid(), line.total([]), sorted(name for name in sys.modules if name.startswith("toy"))]


def probe_printed(args):
    print(args["text"])


def probe_run(args):
    exec(args["code"], {})
"""
MODULE = '''"""Numbers. Chapter 05."""


class Line:
    def take(self, budget):
        return []

    def head(self):
        return None


def total(numbers):
    return {number}
'''
Jobs = Callable[[int], Job]


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    root = make_toybook(tmp_path)
    (root / "exercises/ch05_line/probes.py").write_text(PROBES, encoding="utf-8")
    bench = load_bench(root, workplaces(root)[1])
    return lambda number: job_of(bench, MODULE.replace("{number}", str(number)), f"text{number}.py")


def ask(shift: Shift, job: Job, code: str = "") -> list[object]:
    with shift(job, 20.0) as child:
        child.load()
        answer: list[object] = child("who")
        if code:
            child("run", {"code": code})
        return answer


def test_each_text_is_imported_anew_in_the_same_process(jobs: Jobs) -> None:
    with Shift() as shift:
        answers = [ask(shift, jobs(number), "import toy; toy.left = 1") for number in range(3)]
    assert [answer[1] for answer in answers] == [0, 1, 2]
    assert len({answer[0] for answer in answers}) == 1
    assert all(answer[2] == ["toy", "toy.line"] for answer in answers)
    assert not Path(f"/proc/{answers[0][0]}").exists()


def test_nothing_that_was_left_is_found(jobs: Jobs) -> None:
    with Shift() as shift:
        ask(shift, jobs(1), "import toy, workbook.judge as j, workbook.judge.checklib; toy.left = j.checklib.left = 1")
        with shift(jobs(2), 20.0) as child:
            child.load()
            for code in ("import toy; toy.left", "import workbook.judge as j; j.checklib"):
                with pytest.raises(ProbeRaised, match="AttributeError"):
                    child("run", {"code": code})
            assert child("who")[1] == 2


@pytest.mark.parametrize(
    "code",
    [
        "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
        "import os, tempfile; os.chdir(tempfile.gettempdir())",
        "import torch; torch.set_default_dtype(torch.float64)",
    ],
    ids=["thread", "folder", "dtype"],
)
def test_a_process_that_is_not_as_new_is_replaced(jobs: Jobs, code: str) -> None:
    with Shift() as shift:
        first, second = ask(shift, jobs(1), code), ask(shift, jobs(2))
    assert first[0] != second[0]


def test_torchs_settings_are_known() -> None:
    assert torch_state(torch) == torch_state_at_first(torch)
    for settings in (torch.no_grad(), torch.inference_mode(), torch.device("meta")):
        with settings:
            assert torch_state(torch) != torch_state_at_first(torch)
    assert torch_state(torch) == torch_state_at_first(torch)


def test_torch_stays_and_its_seed_does_not(jobs: Jobs) -> None:
    with Shift() as shift:
        first = ask(shift, jobs(1), "import torch; torch.manual_seed(5); torch.get_default_dtype()")
        assert ask(shift, jobs(2), "import sys; assert sys.modules['torch'].initial_seed() != 5")[0] == first[0]


def test_an_end_costs_one_text_only(jobs: Jobs) -> None:
    with Shift() as shift:
        first = ask(shift, jobs(1))
        with pytest.raises(ProcessGone) as caught:
            ask(shift, jobs(2), "import os; os._exit(3)")
        assert caught.value.diagnosis == "exited"
        second = ask(shift, jobs(3))
    assert first[0] != second[0]
    assert second[1] == 3


def test_the_fence_moves_along(jobs: Jobs) -> None:
    job = jobs(1)
    with Shift() as shift:
        with shift(job, 20.0) as child:
            child.load()
            with pytest.raises(ProbeRaised, match="may not read"):
                child("run", {"code": f"open({job.root + '/toy/line.py'!r})"})
        with shift(jobs(2), 20.0) as child:  # a new process: this one has been told on
            child.load()
            with pytest.raises(ProbeRaised, match="may not read"):
                child("run", {"code": f"open({job.root + '/toy/line.py'!r})"})


def test_output_is_that_of_the_text(jobs: Jobs) -> None:
    said = []
    with Shift() as shift:
        for number in range(2):
            with shift(jobs(number), 20.0) as child:
                child.load()
                child("printed", {"text": f"number {number}"})
                said.append(child.printed())
    assert said == ["number 0\n", "number 1\n"]


def test_processes_are_replaced_after_so_many_texts(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbook.judge.lasting.MOST_JOBS", 3)
    with Shift() as shift:
        seen = [ask(shift, jobs(number))[0] for number in range(4)]
    assert len(set(seen[:-1])) == 1
    assert seen[-1] != seen[0]


def test_a_students_exercises_never_share_a_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_toybook(tmp_path)
    started: list[str] = []
    monkeypatch.setattr(Shift, "__init__", lambda self: started.append("shift"))
    edit(root, BLANK, "return self.numbers[:0]")
    edit(root, 'raise NotImplementedError("exercise 05.2: write the body of total")', "return sum(numbers)")
    _, exercises = judge(root)
    assert [entry["status"] for entry in exercises.values()] == ["failed", "passed"]
    assert started == []
