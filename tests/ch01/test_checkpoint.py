"""Where checkpoints are looked for, and in which precision they run."""

from __future__ import annotations

import logging
from pathlib import Path

import huggingface_hub
import pytest
import torch

from minisgl_lite.models.checkpoint import as_device, as_dtype, load, locate
from minisgl_lite.models.hf_json import CheckpointError
from minisgl_lite.models.weights import first_dtype
from tests.helpers.checkpoints import edit_json, make_checkpoint, read_tensors, write_tensors


def test_a_folder_is_itself(tmp_path: Path) -> None:
    assert locate(tmp_path) == locate(str(tmp_path)) == tmp_path


@pytest.mark.parametrize("name", ["missing", "a/b/c", "./missing"])
def test_a_missing_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(CheckpointError, match="there is no such folder"):
        locate(tmp_path / name)
    with pytest.raises(CheckpointError, match="there is no such folder"):
        locate("./" + name)


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"model.gguf: this is a file; a checkpoint is a folder"):
        locate(path)


def test_a_folder_that_may_not_be_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", refuse)
    with pytest.raises(CheckpointError, match="no permission to read it"):
        locate(tmp_path / "closed")


def test_a_hub_id_is_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    there = ["config.json", "model-00001-of-00002.safetensors", "chat_template.jinja"]
    others = ["pytorch_model.bin", "original/model.safetensors", "onnx/config.json", "consolidated.safetensors"]

    def download(name: str, **options: list[str]) -> str:
        asked.append((name, list(huggingface_hub.utils.filter_repo_objects([*there, *others], **options))))
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    assert locate("someone/some-model") == tmp_path
    assert asked == [("someone/some-model", there)]


def test_a_hub_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def download(name: str, **_: object) -> str:
        raise ConnectionError("no route\nto host")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    with pytest.raises(CheckpointError, match=r"someone/some-model: .*Hub did not deliver it") as caught:
        locate("someone/some-model")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "stored"),
    [
        ({"dtype": "bfloat16"}, torch.bfloat16),
        ({"torch_dtype": "bfloat16"}, torch.bfloat16),
        ({"dtype": "bfloat16", "torch_dtype": "bfloat16"}, torch.float32),
        ({}, torch.float32),
        ({}, torch.bfloat16),
    ],
)
def test_a_cpu_computes_in_float32_unless_told_otherwise(
    tmp_path: Path, fields: dict[str, str], stored: torch.dtype
) -> None:
    make_checkpoint(tmp_path)
    write_tensors(tmp_path, {name: t.to(stored) for name, t in read_tensors(tmp_path).items()})
    edit_json(tmp_path / "config.json", **{"dtype": ..., "torch_dtype": ..., **fields})
    assert first_dtype(tmp_path) == stored
    for dtype, expected in ((None, torch.float32), ("bfloat16", torch.bfloat16), (torch.float16, torch.float16)):
        checkpoint = load(tmp_path, dtype=dtype, device="cpu")
        assert checkpoint.dtype == expected
        assert {p.dtype for p in checkpoint.decoder.parameters()} == {expected}


def test_dtypes_and_devices_by_name() -> None:
    assert as_dtype("torch.bfloat16") is as_dtype("bfloat16") is torch.bfloat16
    with pytest.raises(ValueError, match="dtype is 'int8'; it must be one of float32"):
        as_dtype("int8")
    assert as_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match="device is 'abacus'"):
        as_device("abacus")


def test_no_cuda_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert as_device(None) == torch.device("cpu")
    with pytest.raises(ValueError, match="no CUDA device"):
        as_device("cuda")


def test_a_gpu_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert as_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(ValueError, match="device is 'cuda:2'; the CUDA devices here are 0 to 1"):
        as_device("cuda:2")


def test_a_text_beyond_the_context_is_encoded_without_a_word():
    """The engine refuses it with its own numbers; the tokenizer's warning speaks of another program."""
    said = []
    listener = logging.Handler()
    listener.emit = said.append
    logging.getLogger("transformers").addHandler(listener)
    try:
        assert len(load("tiny").encode("x " * 3000)) > 2048
    finally:
        logging.getLogger("transformers").removeHandler(listener)
    assert [record.getMessage() for record in said] == []
