"""The extension in a shell: what a student types in a chapter's notebook."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.helpers.judging import BLANK, edit
from tests.helpers.toybook import make_toybook
from workbook.notebook import extension
from workbook.notebook.quote import quoted
from workbook.tree import ROOT, LaterChapters, module_files, package_modules

PHASE = "minisgl_lite.scheduler.decode"
TEST = "tests/workbook/test_magics.py"


def test_sample() -> None:
    """Run by the tests below, as a test of a chapter is run by its notebook."""
    assert 1 + 1 == 2


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    import sys

    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    made = InteractiveShell()
    made.run_cell("%load_ext workbook.notebook")
    yield made
    made.run_cell("%reset_edits")
    made.history_manager.end_session()


def test_edit_and_reset(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    source = quoted(module_files()[PHASE].read_text(encoding="utf-8"), "DecodeManager.add")
    assert shell.run_cell(f"%%edit {PHASE}:DecodeManager.add\n{source}").success
    assert capsys.readouterr().out == ""
    changed = source.partition("\n")[0] + "\n    raise KeyError('mine')\n"
    assert shell.run_cell(f"%%edit {PHASE}:DecodeManager.add\n{changed}").success
    assert "DecodeManager.add: edited in this notebook only" in capsys.readouterr().out
    assert not shell.run_cell(f"from {PHASE} import DecodeManager\nDecodeManager().add(None)").success
    assert "KeyError" in capsys.readouterr().out
    assert shell.run_cell("%reset_edits").success
    assert "DecodeManager.add: as in the package again" in capsys.readouterr().out
    shell.run_cell("DecodeManager().add(None)")
    assert "KeyError" not in capsys.readouterr().out


def test_a_broken_edit_is_one_line(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert not shell.run_cell(f"%%edit {PHASE}:DecodeManager.add\ndef add(self):\n    return (").success
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert "DecodeManager.add: line 2" in said.out + said.err


def test_run_a_test_as_it_is_and_edited(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    source = quoted(Path(ROOT / TEST).read_text(encoding="utf-8"), "test_sample")
    assert shell.run_cell(f"%%test {TEST}::test_sample\n{source}").success
    assert capsys.readouterr().out == "passed: test_sample\n"
    assert not shell.run_cell(f"%%test {TEST}::test_sample\n{source.replace('== 2', '== 3')}").success
    said = capsys.readouterr()
    assert "failed: test_sample" in said.out
    assert "assert (1 + 1) == 3" in said.out
    assert not shell.run_cell(f"%%test {TEST}::test_absent\n{source}").success


def test_chapter_hides_the_later_ones(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    last = max(package_modules().values())
    assert shell.run_cell(f"%chapter {last:02d}").success
    assert [f.chapter for f in sys.meta_path if isinstance(f, LaterChapters)] == [last]
    for wrong in ("five", "0", "99", ""):
        assert not shell.run_cell(f"%chapter {wrong}").success
        assert f"%chapter needs a number from 01 to {last:02d}" in capsys.readouterr().err


JUDGE = """import pathlib
from workbook.judge.cli import main
raise SystemExit(main(root=pathlib.Path(__file__).parent))
"""


def test_judge_shows_the_report(
    shell: InteractiveShell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    root = make_toybook(tmp_path)
    (root / "judge.py").write_text(JUDGE, encoding="utf-8")
    edit(root, BLANK, "return []")
    monkeypatch.setattr(extension, "ROOT", root)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert shell.run_cell("%judge 05.1").success
    said = capsys.readouterr()
    assert "✗ 05.1  Take from the front" in said.out
    assert "first failure: takes a prefix [wrong-prefix]" in said.out
    assert "Progress" in said.out
    assert said.err == ""
    assert not [name for name in sys.modules if name.startswith("toy.")]
    for line, words in {
        "%judge 09": "there is no exercise 09; chapters: 05",
        "%judge 05.7": "there is no exercise 05.7; chapter 05 has 05.1",
        "%judge --watch": "never ends",
        "%judge '": "quot",
    }.items():
        assert not shell.run_cell(line).success
        said = capsys.readouterr()
        assert words in said.out + said.err
        assert "Traceback" not in said.out + said.err
