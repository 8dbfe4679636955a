"""Trees of single chapters: what is in them, and that a module which reaches ahead is found."""

import re
import threading
import time
from pathlib import Path

import pytest

from workbook import steps
from workbook.scratch import chapter_tree, copy_repository
from workbook.steps import main
from workbook.tree import ROOT, package_modules


def put(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8", newline="\n")


def test_a_tree_holds_nothing_of_later_chapters(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    chapter_tree(ROOT, tree, 3)
    modules = package_modules(tree)
    assert set(modules.values()) == {1, 2, 3}
    assert {name for name, chapter in package_modules().items() if chapter <= 3} == set(modules)
    assert not (tree / "minisgl_lite/scheduler").exists()
    assert (tree / "minisgl_lite/assets").is_dir()
    assert sorted(p.name for p in (tree / "tests").glob("ch*")) == ["ch01", "ch02", "ch03"]
    assert not (tree / "tests/workbook").exists()
    assert not list((tree / "exercises").glob("ch05*"))
    assert not list((tree / "chapters").glob("05*"))
    assert (tree / "judge.py").exists()


def test_the_composition_root_is_the_same_in_every_tree(tmp_path: Path) -> None:
    chapter_tree(ROOT, tmp_path / "tree", 5)
    name = "minisgl_lite/assembly.py"
    assert (tmp_path / "tree" / name).read_bytes() == (ROOT / name).read_bytes()


def test_a_copy_leaves_out_what_is_hidden_or_a_students(tmp_path: Path) -> None:
    for name in (
        "a.py",
        ".venv/x",
        ".git/y",
        "work/z.py",
        "site/i.html",
        "b/__pycache__/c.pyc",
        "b/d.py",
        "b/site/e.py",
    ):
        put(tmp_path / "from", name, "")
    copy_repository(tmp_path / "from", tmp_path / "to")
    copied = sorted(p.relative_to(tmp_path / "to").as_posix() for p in (tmp_path / "to").rglob("*") if p.is_file())
    assert copied == ["a.py", "b/d.py", "b/site/e.py"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    root = tmp_path / "small"
    put(root, "minisgl_lite/__init__.py", '"""E."""\n')
    put(root, "minisgl_lite/a.py", '"""A. Chapter 01."""\n')
    put(root, "minisgl_lite/b.py", '"""B. Chapter 02."""\n\nfrom . import a as a\n')
    put(root, "tests/ch01/test_a.py", "import minisgl_lite.a\n\n\ndef test_a():\n    assert minisgl_lite.a\n")
    put(root, "tests/ch02/test_b.py", "import minisgl_lite.b\n\n\ndef test_b():\n    assert minisgl_lite.b\n")
    return root


def test_trees_that_stand(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check"], small) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[-1] == "2 chapter trees stand on their own"
    wanted = [f"chapter {n:02d} {what}" for n in (1, 2) for what in ("exercises", "imports", "notebook", "tests")]
    assert [" ".join(line.split()[:3]) for line in sorted(lines[:-1])] == wanted
    assert sum(re.search(r" ok, \d+ s$", line) is not None for line in lines) == 4


def test_a_module_that_reaches_ahead_is_named(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    put(small, "minisgl_lite/a.py", '"""A. Chapter 01."""\n\nfrom . import b as b\n')
    assert main(["check", "1"], small) == 1
    said = capfd.readouterr().out
    assert said.splitlines()[-1] == "failed: chapter 01 imports, chapter 01 tests"
    assert "cannot import name 'b'" in said


def test_trees_run_at_the_same_time_and_an_interruption_ends_them(
    small: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wait = "import pathlib, time\n\n\ndef test_it():\n    pathlib.Path({!r}).touch()\n    time.sleep(600)\n"
    begun = [tmp_path / "first", tmp_path / "second"]
    for chapter, path in enumerate(begun, 1):
        put(small, f"tests/ch{chapter:02d}/test_wait.py", wait.format(str(path)))
    stop = threading.Event()
    monkeypatch.setattr(steps, "Event", lambda: stop)
    run = threading.Thread(target=main, args=(["check"], small))
    run.start()
    deadline = time.monotonic() + 120
    while not all(path.exists() for path in begun) and time.monotonic() < deadline:
        time.sleep(0.1)
    stop.set()
    run.join(60)
    assert all(path.exists() for path in begun)
    assert not run.is_alive()


def test_a_chapter_that_is_not_there(small: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["check", "7"], small)
    assert caught.value.code == 2
    assert "there is no chapter 07; there are 01 to 02" in capfd.readouterr().err
