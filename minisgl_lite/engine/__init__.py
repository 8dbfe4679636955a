"""Decisions become tensors."""
