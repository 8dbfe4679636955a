"""What the judge asks of the student's code: chapter 02. Runs in the graded process; returns plain values."""

from __future__ import annotations

import math
import traceback
from typing import Any

import torch

from minisgl_lite.attention.dense import DenseAttention, DenseCache
from minisgl_lite.models.checkpoint import Checkpoint, load
from minisgl_lite.models.decoder import Attend
from minisgl_lite.models.greedy import generate_greedy
from minisgl_lite.models.scripted import scripted_config
from workbook.judge.calls import call


def finite(value: Any) -> Any:
    """Nested lists of floats with None for whatever is no finite number."""
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value if math.isfinite(value) else None


def probe_attend(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Calls on one cache whose former owner left something everywhere; output and cache after each of them."""
    old_k, old_v = torch.tensor(args["k"]), torch.tensor(args["v"])
    layers, rows, max_len = old_k.shape[:3]
    dtype = getattr(torch, args.get("dtype", "float32"))
    cache = DenseCache(scripted_config(num_layers=layers), rows, max_len, dtype)
    cache.k.copy_(old_k)
    cache.v.copy_(old_v)
    seen = []
    for one in args["calls"]:
        attend = DenseAttention(cache, one["rows"], one["starts"], one["lens"])
        given = [torch.tensor(one[name], dtype=dtype) for name in "qkv"]
        before = [tensor.clone() for tensor in given]
        name = f"DenseAttention with (row, start, n) {attend.entries}: __call__"
        out = call(attend, one["layer"], *given, returns=torch.Tensor, name=name)
        seen.append(
            {
                "shape": list(out.shape),
                "dtype": str(out.dtype),
                "out": finite(out.tolist()),
                "k": cache.k.tolist(),
                "v": cache.v.tolist(),
                "changed": [
                    name for name, now, then in zip("qkv", given, before, strict=True) if not torch.equal(now, then)
                ],
            }
        )
    return seen


class SumDecoder:
    """A CausalLM whose next token follows from the sum of all tokens so far, which it learns through attention only.

    All keys are 0, so every query gives all that it sees the same weight, and the value of a token is its id: the
    output is the mean of the ids seen. It notes what it was asked.
    """

    def __init__(self, eos_ids: tuple[int, ...], max_seq_len: int, vocab_size: int) -> None:
        self.config = scripted_config(vocab_size, num_layers=2, max_seq_len=max_seq_len, eos_ids=eos_ids)
        self.calls: list[dict[str, Any]] = []

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """-> [T, 2]: the mean of what each position sees, and its position."""
        config, tokens = self.config, len(ids)
        values = ids.float()[:, None, None].expand(-1, config.num_kv_heads, config.head_dim).contiguous()
        q = torch.zeros(tokens, config.num_heads, config.head_dim)
        for layer in range(config.num_layers):
            out = attend(layer, q, torch.zeros_like(values), values)
        seen = out[:, 0, 0]
        self.calls.append({"ids": ids.tolist(), "positions": positions.tolist(), "seen": seen.tolist(), "rows": 0})
        return torch.stack((seen, positions.float()), 1)

    __call__ = forward

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """1 at the token that follows, 0 elsewhere."""
        total = (hidden[..., 0] * (hidden[..., 1] + 1)).round().long()
        self.calls[-1]["rows"] += total.numel()
        following = (7 * total + 3) % self.config.vocab_size
        return torch.nn.functional.one_hot(following, self.config.vocab_size).float()


class NotingDecoder:
    """A CausalLM on the meta device, where tensors have no numbers: it notes where its inputs are and never attends."""

    device = torch.device("meta")

    def __init__(self, max_seq_len: int) -> None:
        self.config = scripted_config(max_seq_len=max_seq_len)
        self.devices: dict[str, str] = {}
        self.caches: list[DenseCache] = []

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, attend: Attend) -> torch.Tensor:
        """-> [T, 1], all 0."""
        self.devices |= {"ids": ids.device.type, "positions": positions.device.type}
        cache = getattr(attend, "cache", None)
        if cache is not None and not any(known is cache for known in self.caches):
            self.caches.append(cache)
            self.devices["cache"] = cache.k.device.type
        return torch.zeros(len(ids), 1, device=self.device)

    __call__ = forward

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Always token 1, as numbers on the CPU."""
        out = torch.zeros(len(hidden), self.config.vocab_size)
        out[:, 1] = 1.0
        return out


def probe_memory(args: dict[str, Any]) -> dict[str, Any]:
    """The caches that one run makes, and where its tensors are: a forgotten device shows, the CPU being the default."""
    decoder = NotingDecoder(args["max_seq_len"])
    checkpoint = Checkpoint(decoder.config, decoder, None, torch.bfloat16, decoder.device)
    call(generate_greedy, checkpoint, args["prompt"], args["max_tokens"])
    caches = [
        {"positions": cache.k.shape[1] * cache.k.shape[2], "dtype": str(cache.k.dtype)} for cache in decoder.caches
    ]
    return {"caches": caches, "devices": decoder.devices}


def probe_generate(args: dict[str, Any]) -> dict[str, Any]:
    """One greedy run of the SumDecoder: the answer, every forward pass, and the prompt as the caller finds it then."""
    decoder = SumDecoder(tuple(args["eos"]), args["max_seq_len"], args["vocab"])
    prompt: Any = tuple(args["prompt"]) if args["tuple"] else list(args["prompt"])
    checkpoint = Checkpoint(decoder.config, decoder, None)
    refused, answer = "", None
    try:
        answer = call(generate_greedy, checkpoint, prompt, args["max_tokens"], args["ignore_eos"])
    except Exception as error:
        if is_refusal(error):
            refused = str(error) or "ValueError"
        elif not decoder.calls or decoder.calls[-1]["rows"] < 2:  # more rows of logits than asked for explain it better
            raise
    return {"answer": answer, "calls": decoder.calls, "prompt": list(prompt), "refused": refused}


def is_refusal(error: Exception) -> bool:
    """Whether a line `raise ...` has raised this ValueError, and not torch over something else."""
    line = traceback.extract_tb(error.__traceback__)[-1].line or ""
    return isinstance(error, ValueError) and line.startswith("raise")


def probe_greedy(args: dict[str, Any]) -> list[list[int]]:
    """Greedy tokens of the bundled model."""
    checkpoint = load("tiny", device="cpu")
    return [generate_greedy(checkpoint, p, args["max_tokens"], ignore_eos=True) for p in args["prompts"]]
