"""Ranks that fail where it is hard to notice, are stopped, forked, or given what they cannot have: told in seconds."""

from __future__ import annotations

import contextlib
import gc
import importlib
import importlib.machinery
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from functools import partial

import pytest

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.parallel.links import RankError
from tests.helpers.checkpoints import make_checkpoint
from workbook.tree import ROOT

SOON = 20.0  # seconds; a few on a quiet machine
LONG = SamplingParams(max_tokens=2_000, ignore_eos=True)
posix = pytest.mark.skipif(os.name != "posix", reason="signals and forks of POSIX")
in_rank = "minisgl_lite.parallel.rank" in sys.modules


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    make_checkpoint(folder, "llama", max_position_embeddings=16_384)
    return folder


def start(folder, **options):
    return LLM(folder, **{"device": "cpu", "tp_size": 2, "num_pages": 12_000, "max_running_req": 2, **options})


def pids_of(llm):
    return llm._parts.close.__self__._others.processes.pids


@contextlib.contextmanager
def soon():
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin < SOON


# ---- a forward pass that only one rank cannot make -----------------------------------------------------------------


class Failing:
    """A runner whose fourth batch raises, but not on rank 0."""

    def __init__(self, runner):
        self.runner, self.batches = runner, 0

    def forward_batch(self, batch):
        self.batches += 1
        if self.batches == 4 and in_rank:
            raise MemoryError("only this rank has no room")
        return self.runner.forward_batch(batch)

    def now(self):
        return self.runner.now()


@pytest.mark.parametrize("overlap", [False, True])
def test_a_forward_pass_that_fails_in_one_rank(folder, overlap):
    """With overlap a loop tells of it a step later: rank 0 must not wait for that in a sum."""
    llm = start(folder, overlap=overlap, custom=Custom(around_runner=Failing))
    with soon(), pytest.raises(RankError, match="rank 1 failed: MemoryError: only this rank has no room"):
        llm.generate([[5, 6, 7]], LONG)
    llm.close()


# ---- while the ranks meet ------------------------------------------------------------------------------------------


class Breaking:
    """A finder that has torch_comm's gloo group fail in another way than by saying so."""

    for_ranks = True

    def __init__(self, how):
        self.how = how

    def find_spec(self, name, path=None, target=None):
        if name != "minisgl_lite.parallel.torch_comm":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            module._gloo = self.fail

        spec.loader.exec_module = exec_module
        return spec

    def fail(self, *_):
        if self.how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "tells its pid":
            print(os.getpid(), flush=True)
        if self.how in ("stopped", "tells its pid"):
            time.sleep(3600)
        raise RuntimeError("no way to the others")


@pytest.mark.parametrize(("how", "told"), [("raises", "rank 1 failed: RuntimeError"), ("killed", "exit status -9")])
@posix
def test_a_rank_that_never_meets_the_others(folder, monkeypatch, how, told):
    importlib.import_module("minisgl_lite.parallel.group")  # this process has its own already
    monkeypatch.setattr(sys, "meta_path", [Breaking(how), *sys.meta_path])
    with soon(), pytest.raises(RankError, match=told):
        start(folder)


@pytest.mark.parametrize("how", ["raises", "stopped"])
@posix
def test_a_script_whose_ranks_never_meet_ends_as_scripts_do(folder, how):
    """Not by an abort: a thread that waits in C++ must be gone when the interpreter is taken apart."""
    script = f"""
import importlib, os, signal, sys, threading
importlib.import_module("minisgl_lite.parallel.group")
from minisgl_lite import LLM
from tests.ch13.test_troubles import Breaking
sys.meta_path.insert(0, Breaking({how!r}))
if {how!r} == "stopped":
    threading.Timer(6.0, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    LLM({str(folder)!r}, device="cpu", tp_size=2)
except (RuntimeError, KeyboardInterrupt) as error:
    print(type(error).__name__)
"""
    done = run_script(script)
    assert (done.returncode, done.stdout) == (0, "RankError\n" if how == "raises" else "KeyboardInterrupt\n"), (
        done.stderr
    )


@posix
def test_a_rank_ends_with_rank_0_whatever_it_does(folder):
    """It listens for nothing and waits for nobody, as in the middle of a kernel; only its standard input tells."""
    script = f"""
import importlib, sys
importlib.import_module("minisgl_lite.parallel.group")
from minisgl_lite import LLM
from tests.ch13.test_troubles import Breaking
sys.meta_path.insert(0, Breaking("tells its pid"))
LLM({str(folder)!r}, device="cpu", tp_size=2)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    pid = int(process.stdout.readline())
    process.kill()
    process.wait()
    assert ends_soon(pid)


def ends_soon(pid):
    """Whether a process ends by itself; if not, it is killed."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    return False


@posix
def test_ctrl_c_while_the_ranks_meet(folder, monkeypatch):
    importlib.import_module("minisgl_lite.parallel.group")
    monkeypatch.setattr(sys, "meta_path", [Breaking("stopped"), *sys.meta_path])
    threading.Timer(6.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with soon(), pytest.raises(KeyboardInterrupt):
        start(folder)


# ---- stopped, forked, dropped --------------------------------------------------------------------------------------


@posix
def test_ctrl_c_twice_while_a_rank_is_stopped(folder):
    """The first waits for the round, which will never end; the second does not."""
    llm = start(folder)
    llm.submit([1, 2, 3], LONG)
    for _ in range(5):
        llm.step()
    (pid,) = pids_of(llm)
    os.kill(pid, signal.SIGSTOP)
    for seconds in (1.0, 3.0):
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    with soon(), pytest.raises(KeyboardInterrupt):
        llm.generate([[4, 5, 6]], LONG)
    llm.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@posix
def test_ctrl_c_while_close_waits_for_a_stopped_rank(folder):
    """The wait ends, and so does the rank."""
    llm = start(folder)
    (pid,) = pids_of(llm)
    os.kill(pid, signal.SIGSTOP)
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    with soon(), pytest.raises(KeyboardInterrupt):
        llm.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@posix
def test_a_fork_does_not_touch_the_ranks(folder):
    """A worker that is forked ends as processes do, finalizers and all; it may not use the engine."""
    script = f"""
import os, sys
from minisgl_lite import LLM
llm = LLM({str(folder)!r}, device="cpu", tp_size=2)
first = llm.generate([[1, 2, 3]])[0].token_ids
if (child := os.fork()) == 0:
    try:
        llm.generate([[1, 2, 3]])
    except RuntimeError as error:
        sys.exit(0 if "belongs to process" in str(error) else 3)
    sys.exit(4)
assert os.waitpid(child, 0)[1] == 0
assert llm.generate([[1, 2, 3]])[0].token_ids == first
print("unharmed")
"""
    done = run_script(script)
    assert (done.returncode, done.stdout) == (0, "unharmed\n"), done.stderr


def run_script(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip


@posix
def test_an_engine_whose_rank_was_killed_is_freed(folder):
    llm = start(folder)
    pool = weakref.ref(llm._parts.engine.pool)
    os.kill(pids_of(llm)[0], signal.SIGKILL)
    with pytest.raises(RankError):
        llm.generate([[1, 2, 3]], LONG)
    llm.close()
    del llm
    until = time.monotonic() + SOON  # the thread that watched the rank may not have ended yet
    while pool() is not None:
        assert time.monotonic() < until
        gc.collect()
        time.sleep(0.1)


# ---- what other ranks cannot have ----------------------------------------------------------------------------------


def test_values_of_a_script_reach_the_ranks_as_plain_ones(folder):
    script = f"""
import enum
from minisgl_lite import LLM, SamplingParams
class Mine(SamplingParams): pass
class Words(str, enum.Enum): stop, cache, device = "no such text", "naive", "cpu"
for size in (1, 2):
    with LLM({str(folder)!r}, device=Words.device, tp_size=size, cache_type=Words.cache) as llm:
        print([out.token_ids for out in llm.generate([[1, 2, 3]], Mine(max_tokens=5))])
"""
    done = run_script(script)
    first, second = done.stdout.splitlines()
    assert first == second, done.stderr


def test_only_parts_of_a_script_are_refused(folder):
    """Not texts that happen to contain the name."""
    with start(folder, num_pages=100, custom=Custom(pages=partial(seven, note="x__main__y"))) as llm:
        assert llm._parts.engine.pool.k.shape[1] == 7


def test_parts_of_a_script_are_refused_by_name(folder):
    script = f"""
from minisgl_lite import LLM
from minisgl_lite.assembly import Custom
from minisgl_lite.scheduler.phase import PrefillFirst
class Mine(PrefillFirst): pass
LLM({str(folder)!r}, device="cpu", tp_size=2, custom=Custom(policy=Mine))
"""
    done = run_script(script)
    assert "ValueError: custom must reach the other ranks, which have no __main__" in done.stderr


def seven(most, note=""):
    return 7


def test_pages_of_ones_own_hold_on_all_ranks(folder):
    with start(folder, num_pages=100, custom=Custom(pages=seven)) as llm:
        assert llm._parts.engine.pool.k.shape[1] == 7
        llm.generate([[1, 2]], SamplingParams(max_tokens=3))


def test_devices_without_collectives_are_refused(folder):
    with pytest.raises(ValueError, match="device is 'meta'; it must be cpu or cuda"):
        start(folder, device="meta")


def test_a_path_that_is_no_text_is_passed_over(folder, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [*sys.path, tmp_path])
    with start(folder) as llm:
        (out,) = llm.generate([[1, 2]], SamplingParams(max_tokens=2, ignore_eos=True))
    assert len(out.token_ids) == 2
