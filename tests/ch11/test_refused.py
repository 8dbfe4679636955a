"""FlashInfer where its kernels cannot run."""

from __future__ import annotations

import pytest

from minisgl_lite import LLM
from tests.helpers.scripts import scripted_llm


def test_flashinfer_without_a_gpu_is_refused_in_one_line():
    checkpoint = scripted_llm({})._parts.checkpoint
    with pytest.raises(
        ValueError, match="attention_backend is 'flashinfer', the model is float32 on cpu; it needs 16 bits"
    ):
        LLM(checkpoint, num_pages=64, attention_backend="flashinfer")
