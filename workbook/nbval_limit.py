"""A pytest plugin beside nbval: a cell that has run into the limit fails whatever it does, and its kernel ends."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Any

import pytest

_GRACE = 5.0  # seconds that nbval gets to interrupt the cell and to fetch its traceback


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Generator[None, object, object]:
    """Kill the kernel of a cell that neither ends at nbval's limit nor lets itself be interrupted.

    nbval reads a cell's outputs until there are none for some seconds: it would read for ever what such a cell prints.
    """
    if not hasattr(item, "cell"):
        return (yield)
    limit = float(item.config.option.nbval_cell_timeout)
    watchdog = threading.Timer(limit + _GRACE, _kill, [item.parent.kernel])
    watchdog.daemon = True
    watchdog.start()
    was_late = item.parent.timed_out
    try:
        result = yield
    finally:
        watchdog.cancel()
    if item.parent.timed_out and not was_late:  # a cell that is meant to raise does so when it is interrupted
        pytest.fail(f"Timeout of {limit:g} seconds exceeded executing cell", pytrace=False)
    return result


def _kill(kernel: Any) -> None:
    process = kernel.km.provisioner.process
    if process is not None:
        process.kill()
