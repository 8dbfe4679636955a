"""The commands of `python -m minisgl_lite`."""
