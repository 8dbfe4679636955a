"""Random streams with aborts on two ranks that torchrun has started, each with a hash seed of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from minisgl_lite import LLM, SamplingParams
from tests.helpers.checkpoints import TIE_GAP, hf_greedy, make_checkpoint, random_prompts
from workbook.tree import ROOT

NEW = 10
STREAM = """
import json, os, random, sys
rank = os.environ["RANK"]
if os.environ.get("PYTHONHASHSEED") != str(int(rank) + 1):  # sets are ordered differently on each rank
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"PYTHONHASHSEED": str(int(rank) + 1)})
from minisgl_lite import LLM, SamplingParams
job = json.loads(open(sys.argv[1]).read())
draw, events, prompts, aborted = random.Random(job["seed"]), [], {}, set()
with LLM(job["folder"], device="cpu", tp_size=2, page_size=2, num_pages=40, max_running_req=3,
         max_extend_tokens=9, max_seq_len=48) as llm:
    for step in range(job["steps"]):
        if step % 50 < 35:  # then idle for a while
            for _ in range(draw.choice([0, 0, 1, 2])):
                index, new = draw.randrange(len(job["prompts"])), draw.randint(1, job["new"])
                uid = llm.submit(job["prompts"][index], SamplingParams(max_tokens=new))
                prompts[uid] = index, new
            if draw.random() < 0.15 and prompts:
                uid = draw.choice(list(prompts)[-6:])
                llm.abort(uid)
                aborted.add(uid)
        events += llm.step()
        if step % 20 == 0:
            llm.check_invariants()
    while llm.has_work:
        events += llm.step()
    llm.check_invariants()
    hits = sum(start > 0 for r in llm.trace if r.phase == "prefill" for start in r.starts)
print(json.dumps({"events": events, "prompts": prompts, "aborted": sorted(aborted), "hits": hits, "rank": rank}))
"""


def torchrun(tmp_path, script, *arguments, size=2, **variables):
    """Run a script on `size` ranks as torchrun does; (status, stdout, stderr)."""
    path = tmp_path / "script.py"
    path.write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", **variables}
    done = subprocess.run(
        [*command, str(path), *map(str, arguments)], capture_output=True, text=True, env=environment, timeout=240
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    folder = tmp_path_factory.mktemp("qwen2")
    model = make_checkpoint(folder, "qwen2", vocab_size=129)
    prompts = random_prompts(6, 3, 12, seed=5)
    prompts += [prompt + tail for prompt in prompts[:3] for tail in random_prompts(2, 2, 9, seed=8)]
    answers = [hf_greedy(model, prompt, NEW) for prompt in prompts]
    return folder, prompts, [(ids, gap >= TIE_GAP) for ids, gap in answers]


def test_a_random_stream_with_aborts_idle_spells_and_prefix_hits(tmp_path, known):
    folder, prompts, answers = known
    job = {"folder": str(folder), "prompts": prompts, "new": NEW, "seed": 11, "steps": 200}
    path = tmp_path / "job.json"
    path.write_text(json.dumps(job), encoding="utf-8")
    status, out, err = torchrun(tmp_path, STREAM, path, MINISGL_LITE_CHECK_RANKS="1")
    assert status == 0, err[-3000:]
    (told,) = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert told["rank"] == "0", "in other ranks nothing below the LLM runs"
    assert told["hits"] > 20
    tokens = {uid: [] for uid in told["prompts"]}
    reasons = {}
    for uid, token, reason in told["events"]:
        if token is not None and reason != "stop":
            tokens[str(uid)].append(token)
        if reason:
            assert str(uid) not in reasons
            reasons[str(uid)] = reason
    assert reasons.keys() == tokens.keys()
    assert len(reasons) > 60
    assert sum(reason == "abort" for reason in reasons.values()) > 5
    for uid, (index, new) in told["prompts"].items():
        want, sure = answers[index]
        if not sure:
            continue
        got = tokens[uid]
        assert got == want[: len(got)], f"request {uid}"
        if reasons[uid] != "abort":
            assert len(got) == min(new, len(want)), f"request {uid}: {reasons[uid]}"


NODE = """
import os, sys
from minisgl_lite import LLM, SamplingParams
with LLM(sys.argv[1], device="cpu", tp_size=2, num_pages=64) as llm:
    outs = llm.generate([[5, 9, 7], [3] * 20], SamplingParams(max_tokens=8, ignore_eos=True))
    llm.check_invariants()
print(os.environ["LOCAL_WORLD_SIZE"], [out.token_ids for out in outs])
"""


@pytest.mark.slow
def test_two_nodes(tmp_path, known):
    """Two torchruns of one rank each, as on two machines: nothing is taken for this machine's own."""
    path = tmp_path / "script.py"
    path.write_text(NODE, encoding="utf-8")
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
    command += ["--master-addr=127.0.0.1", f"--master-port={port}"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    if loopback := {"linux": "lo", "darwin": "lo0"}.get(sys.platform):
        environment["GLOO_SOCKET_IFNAME"] = loopback  # the machine's own name need not lead anywhere
    nodes = [
        subprocess.Popen(
            [*command, f"--node-rank={rank}", str(path), str(known[0])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )
        for rank in range(2)
    ]  # fmt: skip
    try:
        told = [node.communicate(timeout=200) for node in nodes]
    finally:
        for node in nodes:
            node.kill()
    assert [node.returncode for node in nodes] == [0, 0], told[0][1][-2000:] + told[1][1][-2000:]
    with LLM(known[0], device="cpu", num_pages=64) as llm:
        outs = llm.generate([[5, 9, 7], [3] * 20], SamplingParams(max_tokens=8, ignore_eos=True))
    assert [out for out, _ in told] == [f"1 {[out.token_ids for out in outs]}\n", ""]


def test_torchrun_must_start_as_many_ranks_as_tp_size(tmp_path, known):
    script = "import sys; from minisgl_lite import LLM; LLM(sys.argv[1], device='cpu', tp_size=4)"
    status, _, err = torchrun(tmp_path, script, known[0])
    assert status != 0
    assert "tp_size is 4, but WORLD_SIZE is 2" in err


@pytest.mark.slow
def test_ranks_with_other_options_are_refused(tmp_path, known):
    script = (
        "import os, sys; from minisgl_lite import LLM\n"
        "LLM(sys.argv[1], device='cpu', tp_size=2, max_running_req=4 + int(os.environ['RANK']))"
    )
    status, _, err = torchrun(tmp_path, script, known[0])
    assert status != 0
    assert "rank 1 was given other options (EngineConfig(" in err


@pytest.mark.slow
def test_ranks_with_other_parts_of_their_own_are_refused(tmp_path, known):
    """Their books would part ways, and one rank wait for a batch that the other does not run."""
    script = (
        "import os, sys; from minisgl_lite import LLM\n"
        "from minisgl_lite.assembly import Custom; from minisgl_lite.scheduler.cache import CacheManager\n"
        "custom = Custom(cache=CacheManager) if os.environ['RANK'] == '1' else None\n"
        "LLM(sys.argv[1], device='cpu', tp_size=2, custom=custom)"
    )
    status, _, err = torchrun(tmp_path, script, known[0])
    assert status != 0
    assert "rank 1 was given other parts of its own (cache=minisgl_lite.scheduler.cache.CacheManager) than" in err


def test_ranks_with_another_model_are_refused(tmp_path, known):
    """Of the same sizes: nothing else would tell, the tokens would be nonsense."""
    make_checkpoint(tmp_path / "other", "qwen2", seed=77, vocab_size=129)
    script = (
        "import os, sys; from minisgl_lite import LLM\n"
        "LLM(sys.argv[1 + int(os.environ['RANK'])], device='cpu', tp_size=2)"
    )
    status, _, err = torchrun(tmp_path, script, known[0], tmp_path / "other")
    assert status != 0
    assert "rank 1 was given other model (" in err


def test_a_second_engine_is_refused(tmp_path, known):
    """The other ranks served the first one and are gone: nobody would ever come."""
    script = (
        "import sys; from minisgl_lite import LLM\n"
        "for _ in range(2):\n"
        "    with LLM(sys.argv[1], device='cpu', tp_size=2) as llm: print(llm.generate([[1, 2]])[0].token_ids)"
    )
    status, out, err = torchrun(tmp_path, script, known[0])
    assert status != 0
    assert len(out.splitlines()) == 1
    assert "under torchrun a script can have one LLM with tp_size above 1" in err


WORK = """
import sys
import time
from minisgl_lite import LLM, SamplingParams
with LLM(sys.argv[1], device="cpu", tp_size=2) as llm:
    for turn in range(10_000_000):
        llm.generate([[1, 2, 3]], SamplingParams(max_tokens=40, ignore_eos=True))
        if turn == 2:
            print("at work", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_ctrl_c_ends_all(tmp_path, known):
    """The terminal sends it to every process; rank 0 alone says that it was interrupted."""
    path = tmp_path / "script.py"
    path.write_text(WORK, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", path, known[0]],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert process.stdout.readline() == "at work\n"
    begin = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert time.monotonic() - begin < 20, "torchrun kills after 30 seconds what does not end"
    assert "KeyboardInterrupt" in err
    assert "RankError" not in err
