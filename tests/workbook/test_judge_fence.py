"""Code that reaches out of its process: refused where it happens, noticed where that is got around."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.judging import BLANK, FILE, around, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.judge.guard import Guard

RIGHT = """
        taken = []
        while self.numbers and sum(taken) + self.numbers[0] <= budget:
            taken.append(self.numbers.pop(0))
        return taken"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_toybook(tmp_path)


REACHES = {
    "open('{checks}', 'a').write('x')": "graded code may not write to",
    "import os; os.open('{checks}', os.O_RDWR)": "graded code may not write to",
    "import pathlib; pathlib.Path('{checks}').write_text('')": "graded code may not write to",
    "import os; os.remove('{checks}')": "may not change",
    "import os; os.rename('{checks}', '{checks}x')": "may not change",
    "import os; os.chmod('{checks}', 0)": "may not change",
    "import os; os.symlink('/', '{checks}.py')": "may not change",
    "import shutil; shutil.rmtree('{folder}')": "may not change",
    "import os; os.chdir('{folder}'); open('checks.py', 'w')": "graded code may not write to checks.py",
    "import sys; open(sys.prefix + '/pyvenv.cfg', 'a')": "graded code may not write to",
    "import os; os.kill(os.getppid(), 9)": "may not send signals to the judge",
    "import os; os.kill(-1, 9)": "may not send signals to the judge",
}


@pytest.mark.parametrize("body", REACHES)
@pytest.mark.skipif(sys.platform == "win32", reason="signals and links")
def test_what_reaches_out_is_refused(root: Path, body: str) -> None:
    folder = root / "exercises/ch05_line"
    before = {path: path.read_bytes() for path in folder.rglob("*.py")}
    line = body.format(checks=folder / "checks.py", folder=folder)
    edit(root, BLANK, f"try:\n            {line}\n        except Exception: pass" + RIGHT)
    code, exercises = judge(root, "05.1")
    first = exercises["05.1"]["checks"][0]
    assert (code, exercises["05.1"]["score"], first["diagnosis"]) == (1, 0, "reached-outside"), first
    assert REACHES[body] in first["message"]
    assert {path: path.read_bytes() for path in folder.rglob("*.py")} == before


def test_its_own_folder_is_free(root: Path) -> None:
    body = "import os, tempfile; open('a', 'w').write('x'); os.rename('a', 'b'); os.remove('b')\n"
    body += "        tempfile.TemporaryFile().close(); os.kill(os.getpid(), 0)"
    edit(root, BLANK, body + RIGHT)
    assert judge(root, "05.1")[0] == 0


@pytest.mark.skipif(sys.platform == "win32", reason="a shell")
def test_what_gets_around_it_is_noticed(root: Path) -> None:
    probes = root / "exercises/ch05_line/probes.py"
    edit(root, BLANK, around(f"import subprocess; subprocess.run(['sh', '-c', 'echo >> {probes}'])") + RIGHT)
    code, exercises = judge(root, "05.1")
    first = exercises["05.1"]["checks"][0]
    assert (code, exercises["05.1"]["status"], exercises["05.1"]["score"]) == (1, "error", 0)
    assert first["diagnosis"] == "changed-the-workbook"
    assert "exercises/ch05_line/probes.py changed while this was graded" in first["message"]


def test_the_guard_puts_back_what_changed_and_moves_away_what_is_new(root: Path) -> None:
    guard = Guard(root)
    assert (guard.changed(), guard.restore()) == ([], None)
    folder = root / "exercises/ch05_line"
    before = (folder / "checks.py").read_bytes()
    (folder / "checks.py").write_text("other", encoding="utf-8")
    (folder / "probes.py").unlink()
    (folder / "new.py").write_text("new", encoding="utf-8")
    (root / "torch.py").write_text("shadow", encoding="utf-8")
    (root / "torch").mkdir()
    (root / "torch/__init__.py").write_text("", encoding="utf-8")
    (root / "report.json").write_text("{}", encoding="utf-8")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__/checks.pyc").write_bytes(b"")
    names = [f"exercises/ch05_line/{name}.py" for name in ("checks", "new", "probes")]
    assert guard.changed() == [*names, "torch", "torch.py"]
    removed = guard.restore()
    assert removed is not None
    assert sorted(path.name for path in removed.iterdir()) == ["0-checks.py", "1-new.py", "2-torch", "3-torch.py"]
    assert (folder / "checks.py").read_bytes() == before
    assert (folder / "probes.py").exists()
    assert not (folder / "__pycache__/checks.pyc").exists()
    assert (root / "report.json").exists()
    assert guard.changed() == []


JUDGE = """import sys
sys.path.insert(0, {repository!r})
from pathlib import Path
from workbook.judge import cli
from workbook.judge.limits import adopt_orphans
adopt_orphans()
cli.main(["05.1"], Path({root!r}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs orphans to be adopted")
def test_a_process_that_hides_is_ended(root: Path) -> None:
    mark = root / "alive.txt"
    loop = f"while :; do echo x > {mark}; sleep 0.02; done"
    # another session, no environment, and no parent
    hide = f"""import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve('/bin/sh', ['sh', '-c', {loop!r}], {{}})
    os._exit(0)
while not os.path.exists({str(mark)!r}): time.sleep(0.01)"""
    edit(root, BLANK, around(hide) + RIGHT)
    script = JUDGE.format(repository=str(Path(__file__).resolve().parents[2]), root=str(root))
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert f"{FILE}" not in said.stderr
    assert "05.1  Take from the front  passed" in said.stdout, said
    mark.unlink()
    time.sleep(0.2)
    assert not mark.exists()
