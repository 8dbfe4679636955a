"""Lines between ranks: votes, last words, strangers."""

from __future__ import annotations

import socket
import threading
from multiprocessing import AuthenticationError, Pipe

import pytest

from minisgl_lite.core import Req, SamplingParams
from minisgl_lite.kvcache.pages import OutOfPages
from minisgl_lite.parallel.calls import accept, call
from minisgl_lite.parallel.lead import Lead, LeadingLoop, LeadingScheduler
from minisgl_lite.parallel.links import FollowerLink, LeaderLink, RankError
from minisgl_lite.parallel.torch_comm import CollectiveError
from tests.helpers.ranks import Alone
from tests.helpers.schedules import run, shadow


@pytest.fixture
def lines():
    """Rank 0's link and those of ranks 1 and 2."""
    pipes = [Pipe() for _ in range(2)]
    links = LeaderLink([ours for ours, _ in pipes]), *(FollowerLink(theirs) for _, theirs in pipes)
    yield links
    for link in links:
        link.close()


def test_everybody_hears_what_rank_0_makes_of_all_votes(lines):
    leader, one, two = lines
    heard = []
    threads = [
        threading.Thread(target=lambda link=link, n=n: heard.append(link.exchange(n, min)))
        for link, n in ((one, 5), (two, 3))
    ]
    for thread in threads:
        thread.start()
    assert leader.exchange(4, sorted) == [3, 4, 5]
    for thread in threads:
        thread.join(10)
    assert heard == [[3, 4, 5]] * 2


def test_who_fails_counts_more_than_who_is_gone_or_has_lost_touch(lines):
    leader, one, two = lines
    one.report("lost", "connection closed by peer")
    one.close()
    two.report("failed", "ValueError: no")
    two.close()
    found = leader.failure(5.0)
    assert isinstance(found, RankError)
    assert (found.rank, found.cause, str(found)) == (2, "failed", "rank 2 failed: ValueError: no")


def test_who_is_gone_counts_more_than_who_has_lost_touch(lines):
    leader, one, two = lines
    one.report("lost", "connection closed by peer")
    two.close()
    found = leader.failure(5.0)
    assert found is not None
    assert (found.rank, found.cause) == (2, "ended")


def test_all_alive_is_no_failure(lines):
    assert lines[0].failure(0.05) is None


def test_strangers_are_turned_away():
    server = socket.create_server(("127.0.0.1", 0))
    address, refused, links = server.getsockname(), [], []
    silent = socket.create_connection(address)  # says nothing, and stays

    def callers():
        socket.create_connection(address).close()
        try:
            call(address, b"another key", 1, 5)
        except (AuthenticationError, EOFError, OSError) as error:
            refused.append(error)
        links.append(call(address, b"key", 1, 5))

    thread = threading.Thread(target=callers)
    thread.start()
    leader = accept(server, b"key", 1, 20)
    thread.join(10)
    leader.tell("hello")
    assert (len(refused), links[0].receive()) == (1, "hello")
    leader.close()
    with pytest.raises(EOFError):
        links[0].receive()
    links[0].close()
    silent.settimeout(5)
    while silent.recv(1000):  # the challenge, and then nothing more: it has been cut off
        continue
    silent.close()


def test_ranks_that_do_not_call_are_counted():
    with pytest.raises(TimeoutError, match=r"ranks \[1, 2\] have not called within 0\.2 s"):
        accept(socket.create_server(("127.0.0.1", 0)), b"key", 2, 0.2)


class Recording(Alone):
    """The others, who are ended."""

    def __init__(self):
        self.ended = []

    def end(self, orderly):
        self.ended.append(orderly)


@pytest.fixture
def led(lines):
    """A schedule on the shadow engine, led; the commands that rank 1 gets can be read from its link."""
    leader, one, _ = lines
    schedule, others = shadow(16), Recording()
    lead = Lead(leader, others)
    return LeadingScheduler(schedule.scheduler, lead), LeadingLoop(schedule.loop, lead), lead, others, one, schedule


def test_commands_go_out_in_order_with_the_next_step(led):
    scheduler, loop, lead, others, one, _ = led
    req = Req(3, [1, 2], SamplingParams(max_tokens=2, ignore_eos=True))
    scheduler.submit(req)
    scheduler.abort(99)
    loop.step()
    scheduler.end(3, "stop")
    scheduler.take_notes()
    loop.step()
    lead.close()
    first = one.receive()
    assert [command[0] for command in first] == ["submit", "abort", "step"]
    sent = first[0][1]
    assert (sent.uid, sent.input_ids, sent.cached_len, sent.table_idx) == (3, [1, 2], 0, None), "as it was submitted"
    assert req.cached_len == 2
    assert one.receive() == [("end", 3, "stop"), ("take_notes",), ("step",)]
    assert one.receive() == [("close",)]
    assert others.ended == [True]
    assert scheduler.launched == 1, "everything else is the scheduler's"


def test_a_scheduler_that_carries_out_the_commands_is_in_the_same_state(led):
    scheduler, loop, _, _, one, mine = led
    theirs = shadow(16)
    for uid in (5, 2, 9):
        scheduler.submit(Req(uid, [uid, 1, 2], SamplingParams(max_tokens=4, ignore_eos=True)))
    for step in range(6):
        if step == 2:
            scheduler.abort(2)
        loop.step()
        for name, *args in one.receive():
            theirs.loop.step() if name == "step" else getattr(theirs.scheduler, name)(*args)
    rounds = [
        [(r.phase, r.uids, r.starts, r.finished, r.free_pages) for r in s.recorder.rounds] for s in (mine, theirs)
    ]
    assert rounds[0] == rounds[1]
    assert run(mine) == run(theirs)


def test_too_few_pages_is_no_reason_to_end(led):
    _, loop, lead, others, _, _ = led

    def starved():
        raise OutOfPages("1 pages wanted, 0 of 8 free")

    loop.loop.step = starved
    with pytest.raises(OutOfPages):
        loop.step()
    assert (lead.over, others.ended) == ("", [])


def test_a_failed_collective_is_told_as_what_another_rank_says(led, lines):
    _, loop, lead, others, one, _ = led

    def cut():
        raise CollectiveError("connection reset")

    loop.loop.step = cut
    one.report("failed", "ZeroDivisionError: division by zero")
    with pytest.raises(RankError, match="rank 1 failed: ZeroDivisionError") as caught:
        loop.step()
    assert isinstance(caught.value.__cause__, CollectiveError)
    assert others.ended == [False]
    with pytest.raises(RuntimeError, match="this LLM is closed: rank 1 failed"):
        loop.step()
    lead.close()
    assert others.ended == [False]


def test_an_interrupt_stays_an_interrupt(led):
    _, loop, lead, others, _, _ = led

    def interrupted():
        raise KeyboardInterrupt

    loop.loop.step = interrupted
    with pytest.raises(KeyboardInterrupt):
        loop.step()
    assert (lead.over, others.ended) == ("KeyboardInterrupt", [False])
