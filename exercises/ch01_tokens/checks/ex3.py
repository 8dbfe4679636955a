"""How the answers to exercise 01.3 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result, first_difference

from .common import Numbers, check_end_to_end

BASE: dict[str, Any] = {
    "vocab_size": 11,
    "hidden_size": 6,
    "intermediate_size": 10,
    "num_layers": 2,
    "num_heads": 4,
    "num_kv_heads": 2,
    "head_dim": 4,
}


CONFIGS: list[tuple[str, dict[str, Any]]] = [
    ("a Llama", {}),
    ("with a tied head", {"tie_word_embeddings": True}),
    ("with biases", {"qkv_bias": True, "o_bias": True, "mlp_bias": True}),
    ("a Qwen3", {"qk_norm": True, "tie_word_embeddings": True, "num_layers": 3}),
]


def expected_places(sizes: dict[str, Any]) -> dict[str, list[int]]:
    """Hugging Face's names and shapes."""
    hidden, wide, size = sizes["hidden_size"], sizes["intermediate_size"], sizes["head_dim"]
    queries, keys = sizes["num_heads"] * size, sizes["num_kv_heads"] * size
    linear = {
        "self_attn.q_proj": ([queries, hidden], "qkv_bias"),
        "self_attn.k_proj": ([keys, hidden], "qkv_bias"),
        "self_attn.v_proj": ([keys, hidden], "qkv_bias"),
        "self_attn.o_proj": ([hidden, queries], "o_bias"),
        "mlp.gate_proj": ([wide, hidden], "mlp_bias"),
        "mlp.up_proj": ([wide, hidden], "mlp_bias"),
        "mlp.down_proj": ([hidden, wide], "mlp_bias"),
    }
    places = {"model.embed_tokens.weight": [sizes["vocab_size"], hidden], "model.norm.weight": [hidden]}
    if not sizes.get("tie_word_embeddings"):
        places["lm_head.weight"] = [sizes["vocab_size"], hidden]
    for index in range(sizes["num_layers"]):
        layer = f"model.layers.{index}."
        for name, (shape, bias) in linear.items():
            places[f"{layer}{name}.weight"] = shape
            if sizes.get(bias):
                places[f"{layer}{name}.bias"] = shape[:1]
        for norm in ("input_layernorm", "post_attention_layernorm"):
            places[f"{layer}{norm}.weight"] = [hidden]
        for norm in ("q_norm", "k_norm") if sizes.get("qk_norm") else ():
            places[f"{layer}self_attn.{norm}.weight"] = [size]
    return places


def check_names(ask: Ask, rng: Random) -> Result:
    """Every name that the checkpoint uses, and no other."""
    for told, changed in CONFIGS:
        sizes = {**BASE, **changed}
        want, got = expected_places(sizes), ask("targets", {"sizes": sizes})
        missing = [name for name in want if name not in got]
        extra = [name for name in got if name not in want]
        if not missing and not extra:
            continue
        message = f"{told}: " + "; ".join(
            f"{len(names)} {kind}, the first is {names[0]}"
            for kind, names in (("missing", missing), ("too many", extra))
            if names
        )
        return Result.failed(name_names(missing, extra), message)
    return Result.ok(f"{len(CONFIGS)} configs")


def name_names(missing: list[str], extra: list[str]) -> str:
    """What do the names that are missing or too many say about the mistake?"""
    if extra == ["lm_head.weight"] and not missing:
        return "tied-head-asked-for"
    if any(name.startswith("model.lm_head") for name in extra):
        return "head-with-prefix"
    if any("qkv_proj" in name or "gate_up_proj" in name for name in extra):
        return "fused-not-split"
    if missing and all(name.endswith(".bias") for name in missing):
        return "biases-forgotten"
    if missing and {name.removeprefix("model.") for name in missing} <= set(extra):
        return "prefix-missing"
    return "wrong-names"


def check_shapes(ask: Ask, rng: Random) -> Result:
    """Each place has the shape of its tensor."""
    for told, changed in CONFIGS:
        sizes = {**BASE, **changed}
        got = ask("targets", {"sizes": sizes})
        for name, shape in expected_places(sizes).items():
            if got[name] != shape:
                message = f"{told}: the place of {name} has the shape {got[name]}, the tensor {shape}"
                if cut := cut_at_its_length(sizes, name, got):
                    return Result.failed("slice-ends-at-its-length", f"{message}; {cut}")
                fused = any(part in name for part in ("q_proj", "k_proj", "v_proj"))
                return Result.failed("grouped-heads-forgotten" if fused else "wrong-shape", message)
    return Result.ok(f"{len(CONFIGS)} configs")


def cut_at_its_length(sizes: dict[str, Any], name: str, got: dict[str, list[int]]) -> str:
    """What a slice [start : n] in the place of [start : start + n] means, if all parts of this layer look like it."""
    queries, keys = (sizes[heads] * sizes["head_dim"] for heads in ("num_heads", "num_kv_heads"))
    wide = sizes["intermediate_size"]
    parts = {"q_proj": (0, queries), "k_proj": (queries, keys), "v_proj": (queries + keys, keys)}
    parts |= {"gate_proj": (0, wide), "up_proj": (wide, wide)}
    mine = next((part for part in parts if part in name), "")
    group = ("gate_proj", "up_proj") if mine in ("gate_proj", "up_proj") else ("q_proj", "k_proj", "v_proj")
    if not mine or any(got[name.replace(mine, part)][0] != max(0, parts[part][1] - parts[part][0]) for part in group):
        return ""
    start, n = parts[mine]
    return f"rows [{start} : {n}] are not {n} rows: a slice ends at start + n, here {start + n}"


def expected_rows(sizes: dict[str, Any], numbers: dict[str, int]) -> dict[str, Numbers]:
    """Our parameter -> the number that each of its rows holds, when each place was filled with a number of its own."""
    fused = {"q_proj": "qkv_proj", "k_proj": "qkv_proj", "v_proj": "qkv_proj"}
    fused |= {"gate_proj": "gate_up_proj", "up_proj": "gate_up_proj"}
    rows: dict[str, Numbers] = {}
    for name, shape in expected_places(sizes).items():  # lists the parts in the order of their rows
        ours = ".".join(fused.get(part, part) for part in name.removeprefix("model.").split("."))
        rows.setdefault(ours, []).extend([float(numbers[name])] * shape[0])
    return rows


def check_rows(ask: Ask, rng: Random) -> Result:
    """What is copied into a place arrives in the decoder, in the right rows."""
    for told, changed in CONFIGS:
        sizes = {**BASE, **changed}
        names = list(expected_places(sizes))
        numbers = dict(zip(names, rng.sample(range(1000), len(names)), strict=True))
        got = ask("rows", {"sizes": sizes, "numbers": numbers})
        for parameter, want in expected_rows(sizes, numbers).items():
            row = first_difference(want, got[parameter])
            if row is None:
                continue
            holds = next((name for name, n in numbers.items() if n == got[parameter][row]), None)
            owner = next(name for name, n in numbers.items() if n == want[row])
            text = f"{told}: row {row} of {parameter} belongs to {owner}"
            if holds is None:
                return Result.failed("copies-not-views", f"{text}, but nothing that was copied there arrived")
            return Result.failed("rows-in-the-wrong-place", f"{text}, but is filled by {holds}")
    return Result.ok(f"{len(CONFIGS)} configs")
