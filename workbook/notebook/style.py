"""One quiet look for every figure, with bytes that do not depend on the day or the run."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours: told apart by readers with any kind of colour vision.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999")


def set_figure_style(shell: Any) -> bool:
    """Give matplotlib, where it is installed, the workbook's style. Whether it is installed.

    Figures are SVG, and PNG beside it: a notebook that is not trusted shows no SVG.
    """
    try:
        import matplotlib
        from cycler import cycler
    except ImportError:
        return False
    matplotlib.rcParams.update(
        {
            "axes.prop_cycle": cycler(color=COLOURS),
            "axes.spines.right": False,
            "axes.spines.top": False,
            "figure.figsize": (7.0, 3.0),
            "figure.dpi": 96,
            "font.size": 10,
            "legend.frameon": False,
            "svg.fonttype": "none",
            "svg.hashsalt": "minisgl_lite",
        }
    )
    shell.run_line_magic("config", "InlineBackend.figure_formats = ['svg', 'png']")
    shell.run_line_magic("config", "InlineBackend.print_figure_kwargs = {'metadata': {'Date': None, 'Creator': None}}")
    return True
