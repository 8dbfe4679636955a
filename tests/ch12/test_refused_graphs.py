"""Graphs where they cannot be captured."""

from __future__ import annotations

import pytest

from minisgl_lite import LLM
from tests.helpers.scripts import scripted_llm


def test_graphs_without_a_gpu_are_refused_in_one_line():
    checkpoint = scripted_llm({})._parts.checkpoint
    with pytest.raises(ValueError, match="cuda_graph_max_bs is 8; graphs need a CUDA device"):
        LLM(checkpoint, num_pages=64, cuda_graph_max_bs=8)
