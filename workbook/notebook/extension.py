"""The magics of a chapter's notebook."""

from __future__ import annotations

import os
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class

from ..tree import ROOT, limit_to, package_modules
from .edit import Editor
from .judging import judged
from .recompile import EditError
from .style import set_figure_style
from .testing import run_test

# no progress bars and advice, which would differ from run to run
_SETTINGS = {
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    # the bundled model is so small that two threads spend more time meeting than computing
    "OMP_NUM_THREADS": "1",
}


@magics_class
class WorkbookMagics(Magics):
    """`%chapter`, `%%edit`, `%reset_edits`, `%%test` and `%judge`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self.editor = Editor()

    @line_magic
    def chapter(self, line: str) -> None:
        """Work in chapter NN's tree: `%chapter 05` hides the modules of later chapters and sets the figures' style."""
        last = max(package_modules().values())
        if not line.strip().isdigit() or not 1 <= int(line) <= last:
            raise UsageError(f"%chapter needs a number from 01 to {last:02d}, for example: %chapter 05")
        if str(ROOT) not in sys.path:
            sys.path.insert(0, str(ROOT))
        try:
            limit_to(int(line))
        except RuntimeError as error:
            raise UsageError(str(error)) from error
        for name, value in _SETTINGS.items():
            os.environ.setdefault(name, value)
        set_figure_style(self.shell)

    @cell_magic
    def edit(self, line: str, cell: str) -> None:
        """`%%edit module:Qualname` over one whole function: unchanged it does nothing, edited it takes effect here."""
        try:
            said = self.editor.apply(line.strip(), cell)
        except EditError as error:
            raise UsageError(str(error)) from error
        if said:
            print(said)

    @line_magic
    def reset_edits(self, line: str) -> None:
        """Restore every function that `%%edit` changed."""
        restored = self.editor.reset_all()
        for target in restored:
            print(f"{target.partition(':')[2]}: as in the package again")
        if not restored:
            print("nothing was edited")

    @cell_magic
    def test(self, line: str, cell: str) -> None:
        """`%%test tests/chNN/test_x.py::test_name` over a test: runs it, as the cell has it, in this kernel."""
        passed, report = run_test(ROOT, line.strip(), cell)
        print(report)
        if not passed:
            raise UsageError("the test did not pass")

    @line_magic
    def judge(self, line: str) -> None:
        """`%judge 05.1` shows what `python judge.py 05.1` reports on work/exercises; `%judge` alone grades it all."""
        report, right_use = judged(ROOT, line)
        if not right_use:
            raise UsageError(report)
        print(report)


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext workbook.notebook`."""
    shell.register_magics(WorkbookMagics)
