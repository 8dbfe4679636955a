"""Every other rank: carries out what rank 0 says, on a scheduler and a part of the model of its own. Chapter 13."""

from __future__ import annotations

import traceback
from collections.abc import Callable

from ..assembly import Parts
from ..kvcache.pages import OutOfPages
from .lead import Command, Others
from .links import FollowerLink
from .torch_comm import CollectiveError


def serve(parts: Parts, link: FollowerLink) -> None:
    """Carry out commands until rank 0 closes. Raises EOFError when it is gone."""
    while True:
        for command in link.receive():
            if command == ("close",):
                return
            carry_out(command, parts, link)


def carry_out(command: Command, parts: Parts, link: FollowerLink) -> None:
    """One command."""
    scheduler, (name, *args) = parts.schedule.scheduler, command
    if name == "step":
        try:
            parts.schedule.loop.step()
        except OutOfPages:
            return  # rank 0 has come to the same end and tells its caller
        if (error := parts.books.untold) is not None:
            # with overlap it would be raised by the next step; but rank 0 is waiting for this one's part of a sum
            raise error
    elif name == "check":
        scheduler.check()
        parts.engine.check(scheduler.cache.accounts)
        link.exchange(None, len)
    else:
        getattr(scheduler, name)(*args)


def follow(link: FollowerLink, others: Others, build: Callable[[], Parts]) -> int:
    """Build a rank's parts and serve rank 0; whatever goes wrong is told to it. Returns an exit status."""
    try:
        serve(build(), link)
    except EOFError:
        return 1  # rank 0 is gone, and with it whoever could be told
    except CollectiveError as error:
        link.report("lost", str(error))
        return 1
    except BaseException as error:
        told = "".join(traceback.format_exception_only(error)).strip()
        link.report("failed", f"{told}\n\n{traceback.format_exc()}")
        return 1
    finally:
        link.close()
        others.end(orderly=True)
    return 0
