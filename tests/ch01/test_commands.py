"""python -m minisgl_lite: what each command says and how it exits."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from minisgl_lite.__main__ import main
from minisgl_lite.cli import doctor, fetch
from minisgl_lite.models.checkpoint import CheckpointError, locate


@pytest.mark.parametrize(("command", "chapter"), [("serve", "15"), ("shell", "15"), ("bench", "16")])
def test_later_commands_name_their_chapter(command, chapter, capsys):
    assert main([command, "--any", "thing"]) == 2
    assert f"chapter {chapter}" in capsys.readouterr().err


def test_unknown_commands(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["dance"])
    with pytest.raises(SystemExit, match="2"):
        main(["fetch", "gpt-5"])


def test_doctor_tells_what_is_here(capsys):
    assert doctor.doctor() == 0
    said = capsys.readouterr().out
    assert "ok       torch" in said
    wanted = ["torch", "bundled checkpoint", "JupyterLab", "notebook kernel", "smollm2", "CUDA GPU", "FlashInfer"]
    for name in [*wanted, "Triton", "Chromium"]:
        assert re.search(rf"^  (ok|missing) +{name} +\S", said, re.MULTILINE), name
    chapters = sorted(path.name[:2] for path in (doctor.ROOT / "chapters").glob("[0-9][0-9]_*.ipynb"))
    assert f"chapters that run here: {', '.join(chapters)} " in said


def test_doctor_tells_what_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(doctor.BUNDLED, "tiny", tmp_path)
    assert doctor.doctor() == 1
    said = capsys.readouterr().out
    assert "missing  bundled checkpoint  git checkout minisgl_lite/assets" in said
    assert "no chapter runs" in said


def test_doctor_runs_without_torch():
    code = (
        "import sys; sys.modules['torch'] = sys.modules['transformers'] = None\n"
        "from minisgl_lite.__main__ import main; sys.exit(main(['doctor']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 1
    assert "missing  torch               make setup" in done.stdout
    assert "no chapter runs" in done.stdout
    assert done.stderr == ""


def test_a_broken_driver_does_not_hide_the_rest():
    def broken() -> str:
        raise RuntimeError("driver")

    fine, _, remedy = doctor._guarded(broken, "buy one")
    assert not fine
    assert remedy == "buy one (RuntimeError: driver)"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    target = tmp_path / "cache" / "smollm2"
    monkeypatch.setattr(fetch, "SMOLLM2", target)
    return target


def run_as(monkeypatch, *steps):
    """Let each subprocess be one of `steps`, a function of its command."""
    calls = iter(steps)
    monkeypatch.setattr(fetch.subprocess, "run", lambda command, **_: next(calls)(command))


def installs(command):
    assert "--no-deps" in command, "what is only read once must not change what is installed"
    folder = Path(command[command.index("--target") + 1])
    folder.mkdir()
    (folder / "model.gguf").write_bytes(b"x")
    return subprocess.CompletedProcess(command, 0, "", "")


def converts(command):
    (Path(command[-1]) / "config.json").write_text("{}", encoding="utf-8")
    return subprocess.CompletedProcess(command, 0, "", "")


def fails(command):
    return subprocess.CompletedProcess(command, 1, "", "long story\nno such package")


def interrupted(command):
    raise KeyboardInterrupt


def test_fetch_makes_the_folder_once(cache, monkeypatch, capsys):
    run_as(monkeypatch, installs, converts)
    assert fetch.fetch_smollm2() == 0
    assert [p.name for p in cache.parent.iterdir()] == ["smollm2"]
    assert fetch.fetch_smollm2() == 0
    assert "there already" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("steps", "status", "said"),
    [
        ((fails,), 1, "could not be downloaded: no such package"),
        ((installs, fails), 1, "could not be converted: no such package"),
        ((interrupted,), 130, "nothing was kept"),
        ((installs, interrupted), 130, "nothing was kept"),
    ],
)
def test_a_fetch_that_fails_leaves_nothing(cache, monkeypatch, capsys, steps, status, said):
    run_as(monkeypatch, *steps)
    assert fetch.fetch_smollm2() == status
    assert said in capsys.readouterr().err
    assert list(cache.parent.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_one_line(monkeypatch, capsys, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setattr(fetch, "SMOLLM2", tmp_path / "file" / "minisgl_lite" / "smollm2")
    assert fetch.fetch_smollm2() == 1
    said = capsys.readouterr().err
    assert said.startswith("error: cannot write to the cache: ")
    assert str(tmp_path / "file") in said
    assert said.count("\n") == 1


def test_smollm2_before_it_is_fetched(monkeypatch, tmp_path):
    monkeypatch.setattr("minisgl_lite.models.checkpoint.SMOLLM2", tmp_path / "absent")
    with pytest.raises(CheckpointError, match="fetch smollm2"):
        locate("smollm2")
