"""Executing a chapter's notebook, so that its outputs do not depend on the day, the machine or the run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

from .. import fingerprint
from ..scratch import environment
from .master import BuildError
from .notebooks import NAMESPACE

_QUIET = ["--IPKernelApp.log_level=40"]  # errors only: the kernel's own advice is not the notebook's output


def execute(notebook: Any, root: Path, name: str, say: Callable[[str], None], timeout: int) -> Any:
    """A copy of the notebook with fresh outputs and fingerprint. `say` hears of each cell.

    Raises BuildError when a cell raises or takes too long, or an output names a path of this machine.
    """
    probe_cell: Any = nbformat.v4.new_code_cell
    copy = deepcopy(notebook)
    copy.cells.append(probe_cell(fingerprint.PROBE))
    client = NotebookClient(
        copy,
        timeout=timeout,
        kernel_name="python3",
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=_QUIET,
        resources={"metadata": {"path": str(root / "chapters")}},
    )
    with client.setup_kernel(env=environment(root)):
        for number, cell in enumerate(copy.cells):
            if cell.cell_type == "code":
                say(f"{name}: cell {number + 1} of {len(copy.cells)}")
            try:
                client.execute_cell(cell, number)
            except (CellExecutionError, CellTimeoutError) as error:
                first = cell.source.partition("\n")[0]
                raise BuildError(f"{name}, cell {number + 1} ({first}): {error}") from error
    probe = copy.cells.pop()
    modules = "".join(output.text for output in probe.outputs if output.output_type == "stream").split()
    _clean(copy, root, name)
    copy.metadata[NAMESPACE]["fingerprint"] = fingerprint.take(copy, root, modules)
    copy.metadata.pop("widgets", None)
    copy.metadata["language_info"] = notebook.metadata["language_info"]
    return copy


def _clean(notebook: Any, root: Path, name: str) -> None:
    for number, cell in enumerate(notebook.cells, 1):
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.pop("transient", None)
            # a live widget is gone with its kernel, and its name is random; what stands beside it in the output stays
            output.get("data", {}).pop("application/vnd.jupyter.widget-view+json", None)
            text = output.get("text") or str(output.get("data", ""))
            if cell.source.startswith("%%edit"):
                raise BuildError(f"{name}, cell {number}: the package changed while the notebook ran; run it again")
            for private in (str(root), sys.prefix, str(Path.home() / "x")[:-1], str(Path(gettempdir()) / "ipykernel_")):
                if private in text:
                    raise BuildError(f"{name}, cell {number}: its output names a path of this machine, {private}")
