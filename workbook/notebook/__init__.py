"""The notebook extension: `%load_ext workbook.notebook`, then `%chapter NN`, `%%edit`, `%reset_edits`, `%%test`."""

from .extension import load_ipython_extension

__all__ = ["load_ipython_extension"]
