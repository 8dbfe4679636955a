"""Processes that the package starts for tensor-parallel ranks run the student's file too, behind the same fence."""

from __future__ import annotations

import base64
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbook.judge.job import Job, Part
from workbook.tree import ROOT

MODULE = "minisgl_lite.parallel.layers"
FILE = ROOT / "minisgl_lite/parallel/layers.py"
SHOWN = "work/exercises/ch13_parallel/parallel/layers.py"

GRADED = """
import sys
from pathlib import Path
from workbook.judge.desk import Desk
from workbook.judge.job import job_of_text

file = Path(sys.argv[1])
desk = Desk(job_of_text(file.read_text(encoding="utf-8")), file, lambda message: print("refused:", message))
from minisgl_lite import LLM, SamplingParams

with LLM("tiny", device="cpu", tp_size=2, num_pages=64) as llm:
    print("tokens:", len(llm.generate(["Once upon"], SamplingParams(max_tokens=3, ignore_eos=True))[0].token_ids))
"""


def graded(tmp_path: Path, extra: str) -> subprocess.CompletedProcess[str]:
    """The bundled model on two ranks in a process as the judge's; the student's file has some lines more."""
    text = FILE.read_text(encoding="utf-8") + extra
    code = base64.b64encode(marshal.dumps(compile(text, SHOWN, "exec", dont_inherit=True))).decode()
    own = tmp_path / "own"
    own.mkdir()
    job = Job(str(ROOT), [Part(MODULE, SHOWN, text, code)], 13, "", "probes.py", 8_000, prefix=sys.prefix)
    job.save(own / "job")
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    script = tmp_path / "graded.py"
    script.write_text(GRADED, encoding="utf-8")
    command = [sys.executable, str(script), str(own / "job")]
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=own, timeout=120)


def in_rank_1(does: str) -> str:
    return f"""
import sys

if "minisgl_lite.parallel.rank" in sys.modules:
    {does}
"""


def test_a_rank_runs_the_students_file(tmp_path: Path) -> None:
    done = graded(tmp_path, in_rank_1("print('the file of the student, in rank 1', flush=True)"))
    assert sorted(done.stdout.splitlines()) == ["the file of the student, in rank 1", "tokens: 3"], done.stderr


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (f"open({str(FILE)!r}).read()", f"graded code may not read {FILE}"),
        (f"open({str(ROOT / 'exercises' / 'new.py')!r}, 'w')", "graded code may not write to"),
    ],
)
def test_what_reaches_out_is_refused_in_a_rank(tmp_path: Path, does: str, words: str) -> None:
    """Else a student's file could start ranks to have done what it may not do itself."""
    done = graded(tmp_path, in_rank_1(does))
    assert done.returncode == 1
    assert "tokens" not in done.stdout
    assert f"OutsideError: {words}" in done.stderr
    assert not (ROOT / "exercises/new.py").exists()
