"""Triton kernels, each beside the torch operations that it replaces."""
