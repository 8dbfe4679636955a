"""Rank 0's tokens are everybody's; a round that ranks plan differently is named before it is computed."""

from __future__ import annotations

import re
import threading
from multiprocessing import Pipe

import pytest
import torch

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams
from minisgl_lite.engine.sampler import Sampler
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.parallel.agree import SharedChoice, checked, described, first_difference
from minisgl_lite.parallel.links import FollowerLink, LeaderLink, RankError
from minisgl_lite.scheduler.decode import DecodeManager
from minisgl_lite.scheduler.scheduler import Scheduler
from tests.helpers.checkpoints import make_checkpoint, random_prompts
from tests.helpers.ranks import on_threads, ranks_in_threads


def batch(temperature: float) -> Batch:
    made = Batch("prefill")
    for uid in range(3):
        req = Req(uid, [1, 2], SamplingParams(temperature=temperature, logprobs=2))
        req.table_idx = uid
        made.add(req, 2)
    return made


def test_every_rank_takes_the_tokens_that_rank_0_has_drawn():
    """Each rank's sampler has entropy of its own, as in an engine."""
    logits, planned = torch.zeros(3, 50), batch(1.0)

    def choose(comm):
        choice = SharedChoice(Sampler(entropy=comm.rank + 1), comm)
        found = choice(logits, planned)
        return found[0].tolist(), choice.read(planned, found), len(found)

    (ids, read, width), *others = on_threads(3, choose)
    assert ids == read
    assert width > 1, "rank 0 keeps the log-probabilities"
    assert others == [(ids, ids, 1)] * 2
    assert Sampler(entropy=2)(logits, planned)[0].tolist() != ids, "the other ranks would have drawn other tokens"


def test_a_batch_in_which_nobody_samples_needs_no_exchange():
    planned = batch(0.0)
    planned.emits = []

    def choose(comm):
        return SharedChoice(Sampler(), comm)(torch.zeros(0, 50), planned)[0].shape

    assert on_threads(2, choose) == [(0,)] * 2


PLAN = described(Batch("decode", starts=[4, 7], lens=[1, 1], rows=[0, 1], new_pages=([0], [4], [9]), uids=[], index=3))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, ""),
        ({"starts": [4, 8]}, r"starts\[1\] is 7 on rank 0 and 8 on rank 2"),
        ({"rows": [1, 0], "new pages": [8]}, r"rows\[0\] is 0 on rank 0 and 1 on rank 2"),
        ({"lens": [1]}, "lens has 2 entries on rank 0 and 1 on rank 2"),
        ({"new pages": [8]}, r"new pages\[0\] is 9 on rank 0 and 8 on rank 2"),
        ({"emits": [0]}, r"emits is None on rank 0 and \[0\] on rank 2"),
        ({"phase": None}, "phase is decode on rank 0 and None on rank 2"),
    ],
)
def test_the_first_difference_is_named(change, words):
    assert re.fullmatch(words, first_difference([PLAN, dict(PLAN), PLAN | change]))


class BySet(DecodeManager):
    """The decode set in an order that differs between ranks, as a set of objects has it: here, backwards."""

    def _set(self, running):
        super()._set(running[::-1])


class DisorderedScheduler(Scheduler):
    def __init__(self, table, cache, prefill, decode, policy):
        disordered = BySet()
        policy_choose = policy.choose
        policy.choose = lambda prefill, _: policy_choose(prefill, disordered)
        super().__init__(table, cache, prefill, disordered, policy)


def drive(ranks, prompts, new=6):
    """Generate on rank 0's schedule; the tokens of each prompt."""
    scheduler, loop = ranks.parts.schedule.scheduler, ranks.parts.schedule.loop
    for uid, prompt in enumerate(prompts):
        scheduler.submit(Req(uid, prompt, SamplingParams(max_tokens=new, ignore_eos=True)))
    tokens = {uid: [] for uid in range(len(prompts))}
    while loop.has_work:
        for uid, token, _ in loop.step():
            tokens[uid].append(token)
    return list(tokens.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("llama")
    make_checkpoint(folder, "llama")
    return folder


PROMPTS = random_prompts(4, 3, 12, seed=2)


def test_a_set_ordered_batch_gives_wrong_tokens_and_no_error(folder):
    """Rank 1 decodes in another order: the sums mix requests. Nothing says so."""
    options = {"overlap": False, "max_extend_tokens": 64}
    with ranks_in_threads(folder, **options) as ranks:
        right = drive(ranks, PROMPTS)
    with ranks_in_threads(folder, customs={1: Custom(scheduler=DisorderedScheduler)}, **options) as ranks:
        wrong = drive(ranks, PROMPTS)
    assert [len(ids) for ids in wrong] == [6] * 4
    assert wrong != right
    assert [ids[0] for ids in wrong] == [ids[0] for ids in right], "the prefill was the same"


@pytest.mark.parametrize("overlap", [False, True])
def test_the_check_names_the_round_and_the_first_difference(folder, monkeypatch, overlap):
    from minisgl_lite.parallel import agree

    class Checking(agree.AgreeingScheduler, DisorderedScheduler):
        pass

    made = agree.checked

    def checked(link):
        return made(link) if isinstance(link, LeaderLink) else lambda *parts: Checking(link, *parts)

    monkeypatch.setattr("minisgl_lite.parallel.parts.checked", checked)
    with ranks_in_threads(folder, compare=True, overlap=overlap) as ranks:
        with pytest.raises(InvariantError, match=r"round 2: .* uids\[0\] is 0 on rank 0 and 3 on rank 1"):
            drive(ranks, PROMPTS)
        with pytest.raises(RuntimeError, match="closed: round 2"):
            ranks.parts.schedule.loop.step()
    assert ranks.ended == {1: 1}


def test_with_the_check_on_the_tokens_are_the_same(folder):
    with ranks_in_threads(folder, compare=True) as ranks:
        checked = drive(ranks, PROMPTS)
    with ranks_in_threads(folder) as ranks:
        assert drive(ranks, PROMPTS) == checked


class Hungry:
    """Parts for a scheduler whose plan raises OutOfPages."""

    def choose(self, prefill, decode):
        return Batch("decode")

    def grow(self, batch):
        raise OutOfPages("1 pages wanted, 0 of 8 free")


def test_all_ranks_run_out_of_pages_together_or_one_is_named():
    for starved, error in ((True, OutOfPages), (False, InvariantError)):
        ours, theirs = Pipe()
        leader = checked(LeaderLink([ours]))(None, Hungry(), None, DecodeManager(), Hungry())
        cache = Hungry() if starved else type("Fed", (), {"grow": lambda self, batch: None})()
        follower = checked(FollowerLink(theirs))(None, cache, None, DecodeManager(), Hungry())
        raised = []

        def plan(follower=follower, raised=raised):
            try:
                follower.plan()
            except Exception as problem:
                raised.append(type(problem))

        thread = threading.Thread(target=plan)
        thread.start()
        with pytest.raises(error):
            leader.plan()
        thread.join(10)
        assert raised == [error]


def test_pages_are_agreed_by_the_minimum(folder, monkeypatch):
    def room(*_):
        return 30 if threading.current_thread() is threading.main_thread() else 29

    monkeypatch.setattr("minisgl_lite.assembly.default_pages", room)
    with ranks_in_threads(folder, num_pages=None) as ranks:
        ranks.parts.schedule.scheduler.check()
        for parts in (ranks.parts, ranks.followers[1]):
            assert parts.schedule.scheduler.cache.allocator.num_pages == 29
            assert parts.engine.pool.k.shape[1:3] == (29 * 4, 1)


def test_a_rank_whose_books_are_wrong_is_named(folder):
    with ranks_in_threads(folder) as ranks:
        ranks.parts.schedule.scheduler.check()
        ranks.followers[1].schedule.scheduler.table.take()
        with pytest.raises(RankError, match=r"rank 1 failed: .*InvariantError: a row is lost"):
            ranks.parts.schedule.scheduler.check()
