"""However it ends, nothing is left: no process, no port, and whoever waits is told why."""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.parallel.links import RankError
from minisgl_lite.scheduler.phase import PrefillFirst
from tests.helpers.checkpoints import make_checkpoint, read_tensors, write_tensors
from workbook.tree import ROOT

LONG = SamplingParams(max_tokens=2_000, ignore_eos=True)
SOON = 20.0  # seconds; a few on a quiet machine
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    make_checkpoint(folder, "llama", max_position_embeddings=16_384)
    return folder


def start(folder, **options):
    return LLM(folder, **{"device": "cpu", "tp_size": 2, "num_pages": 12_000, "max_running_req": 2, **options})


def pids_of(llm):
    return llm._parts.close.__self__._others.processes.pids


def port_of(llm):
    return llm._parts.close.__self__._others.port


def gone(pid):
    try:
        os.kill(pid, 0)
    except OSError:
        return True
    return False


def wait_until_gone(pids):
    until = time.monotonic() + SOON
    while not all(map(gone, pids)):
        assert time.monotonic() < until, f"still there: {[pid for pid in pids if not gone(pid)]}"
        time.sleep(0.05)


def step_on(llm):
    while True:
        llm.step()


def is_free(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("overlap", [False, True])
@posix
def test_a_killed_rank_ends_all_with_an_error(folder, overlap):
    """In the middle of the work; the requests' books are sound afterwards, and the engine says that it is closed."""
    llm = start(folder, tp_size=4 if overlap else 2, overlap=overlap)
    pids, port = pids_of(llm), port_of(llm)
    llm.submit([1, 2, 3], LONG)
    for _ in range(5):
        llm.step()
    os.kill(pids[-1], signal.SIGKILL)
    begin = time.monotonic()
    with pytest.raises(RankError, match=rf"rank {len(pids)} has ended without a word"):
        step_on(llm)
    assert time.monotonic() - begin < SOON
    wait_until_gone(pids)
    with pytest.raises(RuntimeError, match=r"this LLM is closed: rank \d has ended"):
        llm.generate([[1]], LONG)
    llm.close()
    assert is_free(port)


@posix
def test_a_rank_that_dies_while_nobody_asks(folder):
    llm = start(folder, tp_size=4)
    pids = pids_of(llm)
    os.kill(pids[1], signal.SIGKILL)
    wait_until_gone(pids)
    with pytest.raises(RankError, match=r"rank . has ended without a word"):
        llm.generate([[1, 2]], LONG)
    llm.close()


class Stumbling(PrefillFirst):
    """A policy that raises at the fourth round, but not on rank 0."""

    rounds = 0

    def choose(self, prefill, decode):
        self.rounds += 1
        if self.rounds == 4 and "minisgl_lite.parallel.rank" in sys.modules:
            raise LookupError("a bug that only this rank has")
        return super().choose(prefill, decode)


def test_an_exception_in_a_rank_is_told_with_its_traceback(folder):
    llm = start(folder, custom=Custom(policy=Stumbling))
    pids = pids_of(llm)
    with pytest.raises(RankError, match=r"rank 1 failed: LookupError: a bug that only this rank has") as caught:
        llm.generate([[1, 2, 3]], LONG)
    assert "in choose" in str(caught.value)
    wait_until_gone(pids)
    llm.close()


def test_an_exception_of_rank_0_ends_the_others(folder):
    llm = start(folder)
    pids = pids_of(llm)

    def broken(*_):
        raise ValueError("out of something")

    llm._parts.engine.tables.build = broken
    with pytest.raises(ValueError, match="out of something"):
        llm.generate([[1, 2, 3]], LONG)
    wait_until_gone(pids)
    with pytest.raises(RuntimeError, match="this LLM is closed: out of something"):
        llm.generate([[1, 2, 3]], LONG)


def test_a_checkpoint_that_is_broken(tmp_path):
    make_checkpoint(tmp_path, "llama")
    tensors = read_tensors(tmp_path)
    del tensors["model.norm.weight"]
    write_tensors(tmp_path, tensors)
    with pytest.raises(ValueError, match=r"1 missing: model\.norm\.weight"):
        start(tmp_path)


class Missing:
    """A finder to which `minisgl_lite.parallel.follow` does not exist."""

    for_ranks = True

    def find_spec(self, name, path=None, target=None):
        if name == "minisgl_lite.parallel.follow":
            raise ModuleNotFoundError("the finder came along")
        return None


def test_finders_that_hide_or_replace_modules_come_along(folder, monkeypatch, capfd):
    """A student's file, and the border of a chapter, hold in every rank; and a rank that cannot start is noticed."""
    importlib.import_module("minisgl_lite.parallel.group")  # this process has its own already
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(ChildProcessError, match="the process of rank 1 has ended, with status 1"):
        start(folder)
    assert "the finder came along" in capfd.readouterr().err


def test_close_ends_the_ranks_and_frees_the_port(folder):
    llm = start(folder)
    pids, port = pids_of(llm), port_of(llm)
    assert not is_free(port)
    llm.submit([1, 2, 3], LONG)
    llm.step()
    llm.close()
    llm.close()
    assert all(map(gone, pids))
    assert is_free(port)
    with pytest.raises(RuntimeError, match="this LLM is closed"):
        llm.step()


def test_an_engine_that_is_dropped_takes_its_ranks_along(folder):
    llm = start(folder)
    pids = pids_of(llm)
    del llm
    gc.collect()
    wait_until_gone(pids)


SCRIPT = """
import json, sys
from minisgl_lite import LLM, SamplingParams
llm = LLM(sys.argv[1], device="cpu", tp_size=int(sys.argv[2]), num_pages=12000, max_running_req=2)
others = getattr(getattr(llm._parts.close, "__self__", None), "_others", None)
pids, port = (others.processes.pids, others.port) if others else ([], 0)
llm.generate([[1, 2, 3]], SamplingParams(max_tokens=2))
print(json.dumps([pids, port]), flush=True)
if sys.argv[3] == "work":
    llm.generate([[1, 2, 3]], SamplingParams(max_tokens=10000, ignore_eos=True))
elif sys.argv[3] == "wait":
    input()
"""


def run(folder, tmp_path, size, mode):
    """Start the script, which has no `if __name__ == "__main__"`; its process, the ranks' pids, the port."""
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, str(path), str(folder), str(size), mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True, env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    pids, port = json.loads(process.stdout.readline())
    assert len(pids) == size - 1
    return process, pids, port


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("whom", ["rank 0", "the terminal's processes"])
@posix
def test_ctrl_c_in_the_middle_of_a_generation(folder, tmp_path, size, whom):
    process, pids, port = run(folder, tmp_path, size, "work")
    time.sleep(0.5)
    (os.kill if whom == "rank 0" else os.killpg)(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=SOON)
    assert process.returncode not in (0, None)
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "Error" not in err, "nothing else is told"
    wait_until_gone(pids)
    assert not port or is_free(port)


@pytest.mark.parametrize("how", ["killed", "terminated", "its input ends", "it ends by itself"])
@posix
def test_the_ranks_end_when_rank_0_ends(folder, tmp_path, how):
    process, pids, _ = run(folder, tmp_path, 2, "wait" if how != "it ends by itself" else "end")
    if how in ("killed", "terminated"):
        process.send_signal(signal.SIGKILL if how == "killed" else signal.SIGTERM)
    _, err = process.communicate(timeout=SOON)
    wait_until_gone(pids)
    if how == "it ends by itself":
        assert (process.returncode, err) == (0, "")


INTERRUPTED = """
import os, signal, sys, threading
from minisgl_lite import LLM, SamplingParams
with LLM(sys.argv[1], device="cpu", tp_size=2, num_pages=12000, max_running_req=2) as llm:
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        llm.generate([[1, 2, 3]], SamplingParams(max_tokens=10000, ignore_eos=True))
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    llm.check_invariants()
    print(len(llm.generate([[1, 2, 3]], SamplingParams(max_tokens=5, ignore_eos=True))[0].token_ids))
    llm.check_invariants()
"""


@posix
def test_after_ctrl_c_the_engine_goes_on(folder, tmp_path):
    """As in a notebook: the round is finished on all ranks, then the interrupt is told."""
    path = tmp_path / "script.py"
    path.write_text(INTERRUPTED, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(path), str(folder)], capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT), "MINISGL_LITE_CHECK_RANKS": "1"},
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()) == (0, ["interrupted", "5"]), done.stderr
