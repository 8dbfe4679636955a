"""What the judge asks of the student's code: chapter 01. Runs in the graded process; returns plain values."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from minisgl_lite.attention.causal import CausalAttention, attention
from minisgl_lite.models.checkpoint import load
from minisgl_lite.models.config import Llama3Scaling, ModelConfig, RopeConfig
from minisgl_lite.models.decoder import Decoder
from minisgl_lite.models.rope import Rope, frequencies, rotate
from minisgl_lite.models.weights import targets
from workbook.judge.calls import call
from workbook.judge.watching import Calls

CPU = torch.device("cpu")


def finite(value: Any) -> Any:
    """Nested lists of floats with None for whatever is no finite number."""
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value if math.isfinite(value) else None


def rope_config(args: dict[str, Any]) -> RopeConfig:
    scaling = args.get("scaling")
    return RopeConfig(args["base"], None if scaling is None else Llama3Scaling(*scaling))


def probe_frequencies(args: dict[str, Any]) -> list[float]:
    """The frequencies of a rope."""
    return finite(call(frequencies, rope_config(args), args["head_dim"], returns=torch.Tensor).tolist())


def probe_rotate(args: dict[str, Any]) -> dict[str, Any]:
    """Heads turned for tokens at some positions, through a table made from the given frequencies."""
    dtype = getattr(torch, args["dtype"])
    x = torch.tensor(args["x"], dtype=dtype)
    angles = torch.outer(torch.arange(args["length"], dtype=torch.float32), torch.tensor(args["frequencies"]))
    rope = Rope.__new__(Rope)  # its tables are given, so that only rows and rotate are asked here
    rope.cos, rope.sin = angles.cos(), angles.sin()
    before = x.clone()
    rows = call(rope.rows, torch.tensor(args["positions"]), dtype, returns=tuple, name="Rope.rows")
    out = call(rotate, x, *rows, returns=torch.Tensor)
    return {
        "out": finite(out.tolist()),
        "shape": list(out.shape),
        "kept": torch.equal(x, before),
        "dtype": str(out.dtype),
        "rows": [{"shape": list(part.shape), "dtype": str(part.dtype)} for part in rows],
    }


class Precision(TorchDispatchMode):
    """Notes the dtypes in which softmax, or exp, was computed."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in ("_softmax", "_log_softmax", "exp", "exp_"):
            self.seen.append(str(args[0].dtype))
        return func(*args, **(kwargs or {}))


def probe_attention(args: dict[str, Any]) -> dict[str, Any]:
    """One attention, in a dtype."""
    dtype = getattr(torch, args.get("dtype", "float32"))
    q, k, v = (torch.tensor(args[name], dtype=dtype) for name in "qkv")
    before = [part.clone() for part in (q, k, v)]
    with Calls() as calls, Precision() as precision:
        out = call(attention, q, k, v, returns=torch.Tensor)
    changed = [name for name, now, then in zip("qkv", (q, k, v), before, strict=True) if not torch.equal(now, then)]
    ready_made = any("dot_product_attention" in name for name in calls.names)
    seen = {"ready_made": ready_made, "softmax": precision.seen, "changed": changed}
    return {**seen, "out": finite(out.float().tolist()), "shape": list(out.shape), "dtype": str(out.dtype)}


def small_decoder(sizes: dict[str, Any]) -> Decoder:
    return Decoder(ModelConfig(architecture="LlamaForCausalLM", max_seq_len=16, **sizes), torch.float32, CPU)


def probe_targets(args: dict[str, Any]) -> dict[str, list[int]]:
    """Name -> shape of every place."""
    return {str(name): list(place.shape) for name, place in targets(small_decoder(args["sizes"])).items()}


def probe_rows(args: dict[str, Any]) -> dict[str, list[float]]:
    """Every place filled with a number of its own; then what stands in each parameter, row by row."""
    decoder = small_decoder(args["sizes"])
    for parameter in decoder.parameters():
        parameter.data.fill_(-1.0)
    places = targets(decoder)
    for name, number in args["numbers"].items():
        places[name].fill_(float(number))
    return {name: finite(p.data.reshape(p.shape[0], -1)[:, 0].tolist()) for name, p in decoder.named_parameters()}


@torch.inference_mode()
def probe_generate(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model, everything computed anew for each."""
    decoder, answers = load("tiny", device="cpu").decoder, []
    for prompt in args["prompts"]:
        ids = list(prompt)
        for _ in range(args["max_tokens"]):
            hidden = decoder.forward(torch.tensor(ids), torch.arange(len(ids)), CausalAttention())
            ids.append(int(decoder.logits(hidden[-1:]).argmax()))
        answers.append(ids[len(prompt) :])
    return answers
