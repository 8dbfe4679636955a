from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.helpers.judging import BLANK, FILE, around, edit, judge
from tests.helpers.toybook import make_toybook
from workbook.student import create_missing


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_toybook(tmp_path)


BODIES = {
    "return None": ("failed", "wrong-prefix"),
    "return type('E', (), {'__eq__': lambda *a: True, '__hash__': lambda *a: 0})()": ("failed", "not-a-value"),
    "return undefined_name": ("failed", "raised-NameError"),
    "import sys; sys.exit(0)": ("failed", "called-exit"),
    "import os; os._exit(0)": ("error", "exited"),
    "import os; os.kill(os.getpid(), 11)": ("error", "exited"),
    "while True: pass": ("timeout", "timeout"),
    "x = bytearray(10**11); return [len(x)]": ("failed", "memory"),
    "x = [bytearray(b'x' * 10**7) for _ in range(10**6)]; return x": ("error", "memory"),
    "import os; os.closerange(3, 50); return []": ("error", "exited"),
    "import os; [os.write(fd, b'{}x\\n') for fd in (3, 4, 5, 6) if _open(fd)]; return []": ("error", "garbled"),
    "import multiprocessing as m; return m.get_context('spawn').Pool(1).map(total, [[1]])": ("failed", "wrong-prefix"),
}
HELPER = """

def _open(fd):
    import os
    try:
        os.write(fd, b"")
    except OSError:
        return False
    return True
"""


@pytest.mark.parametrize("body", BODIES, ids=[str(i) for i in range(len(BODIES))])
def test_bad_bodies_never_pass_and_are_named(root: Path, body: str) -> None:
    edit(root, BLANK, body)
    with (root / FILE).open("a", encoding="utf-8") as file:
        file.write(HELPER)
    code, exercises = judge(root, "05.1")
    entry = exercises["05.1"]
    first = next(c for c in entry["checks"] if c["verdict"] == "failed")
    status, diagnosis = BODIES[body]
    if diagnosis == "memory":  # the system refuses it, or the judge sees it first
        assert entry["status"] in ("failed", "error"), first
    else:
        assert entry["status"] == status, first
    assert (code, entry["score"], first["diagnosis"]) == (1, 0, diagnosis), first


FILES = {
    "import os; os._exit(0)\n": "body-missing",
    "def f(:\n": "does-not-parse",
    "": "body-missing",
    "\x00": "does-not-parse",
    "while True: pass\n": "body-missing",
}


@pytest.mark.parametrize("text", FILES, ids=list(FILES.values()))
def test_files_that_cannot_be_graded(root: Path, text: str) -> None:
    create_missing(root)
    (root / FILE).write_text(text, encoding="utf-8")
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["status"]) == (1, "error")
    assert [c["verdict"] for c in exercises["05.1"]["checks"]] == ["failed", "not run", "not run"]
    assert exercises["05.1"]["checks"][0]["diagnosis"] == FILES[text]


TAILS = {
    "import sys; sys.exit(0)": ("error", "called-exit"),
    "import os; os._exit(0)": ("error", "exited"),
    "1 / 0": ("error", "raised-ZeroDivisionError"),
    "import builtins; builtins.print = lambda *a: None; builtins.any = lambda *a: True": ("failed", "wrong-prefix"),
    "import atexit, os; atexit.register(lambda: os._exit(0))": ("failed", "wrong-prefix"),
    'print(\'{"id": 1, "value": 6}\')': ("failed", "wrong-prefix"),
}


@pytest.mark.parametrize("tail", TAILS, ids=[str(i) for i in range(len(TAILS))])
def test_bad_module_code(root: Path, tail: str) -> None:
    create_missing(root)
    with (root / FILE).open("a", encoding="utf-8") as file:
        file.write("\n" + tail + "\n")
    assert judge(root, "05.1")[1]["05.1"]["status"] == "not attempted"
    edit(root, BLANK, "return []")
    code, exercises = judge(root, "05.1")
    status, diagnosis = TAILS[tail]
    assert (code, exercises["05.1"]["status"]) == (1, status)
    assert exercises["05.1"]["checks"][0]["diagnosis"] == diagnosis


def test_processes_left_behind_are_killed(root: Path) -> None:
    mark, script = root / "alive.txt", root / "stay.py"
    code = f"import time, pathlib\nwhile 1: time.sleep(.02), pathlib.Path({str(mark)!r}).write_text('x')\n"
    script.write_text(code, encoding="utf-8")
    stay = f"import subprocess, sys; subprocess.Popen([sys.executable, {str(script)!r}], start_new_session=True)"
    body = (
        "import pathlib\n"
        f"        {around(stay)}\n"
        f"        while not pathlib.Path({str(mark)!r}).exists(): pass\n"
        "        import threading, time; threading.Thread(target=time.sleep, args=(60,)).start(); return []"
    )
    edit(root, BLANK, body)
    assert judge(root, "05.1")[1]["05.1"]["checks"][0]["diagnosis"] == "wrong-prefix"
    mark.unlink()
    time.sleep(0.2)
    assert not mark.exists()


def test_what_is_too_deep_to_walk_is_an_answer_like_any(root: Path) -> None:
    edit(root, BLANK, "return [1" + " + 1" * 3000 + "]")
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["score"]) == (1, 0)
    assert exercises["05.1"]["status"] in ("error", "failed")


def test_no_number_is_no_answer(root: Path) -> None:
    """A tampered process sends what no comparison finds wrong."""
    fake = (
        "import json, sys\n        frame = sys._getframe()\n"
        "        while frame.f_code.co_name != 'main': frame = frame.f_back\n"
        "        frame.f_globals['plain'] = lambda value: value\n"
        "        frame.f_globals['encode'] = lambda message: json.dumps(message)\n        return [float('nan')]"
    )
    edit(root, BLANK, fake)
    code, exercises = judge(root, "05.1")
    assert (code, exercises["05.1"]["score"]) == (1, 0)
    assert [check["diagnosis"] for check in exercises["05.1"]["checks"]] == ["not-a-value", "garbled"]
