"""How the answers are judged: chapter 01. Runs in the judge: every expectation is computed here, in plain Python.

Where an answer is wrong, it is compared with what well-known mistakes would give, and the mistake is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams, first_difference

Numbers = list[float]
Heads = list[list[Numbers]]  # [tokens][heads][head_dim]
ORACLE_TOKENS = 12
ORACLE_PROMPTS = 6


def flat(value: Any) -> list[Any]:
    """The numbers of nested lists in order."""
    return [number for item in value for number in flat(item)] if isinstance(value, list) else [value]


def close(got: Any, want: Any, relative: float = 1e-4) -> bool:
    """Whether two nestings of numbers are equal but for rounding."""
    have, expected = flat(got), flat(want)
    return len(have) == len(expected) and all(
        a is not None and abs(a - b) <= relative * max(1.0, abs(b)) for a, b in zip(have, expected, strict=True)
    )


def draw(rng: Random, tokens: int, heads: int, size: int) -> Heads:
    """Random heads."""
    return [[[rng.gauss(0, 1) for _ in range(size)] for _ in range(heads)] for _ in range(tokens)]


def where(got: Heads, want: Heads) -> str:
    """`token 1, head 0: [0.1, 0.2], expected [0.3, 0.4]`, for the first head that differs."""
    for t, (mine, theirs) in enumerate(zip(got, want, strict=True)):
        for h, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            if not close(a, b):
                return f"token {t}, head {h}: {show(a)}, expected {show(b)}"
    return "no head differs"


def show(numbers: Sequence[float | None]) -> str:
    """Four numbers of a list, to three decimals."""
    shown = ["nan" if n is None else f"{n:.3f}" for n in numbers[:4]]
    return f"[{', '.join(shown)}{', ...' if len(numbers) > 4 else ''}]"


# ---- 01.1 ----

LLAMA3 = [8.0, 1.0, 4.0, 16]  # factor, low, high, original length


def plain_frequencies(base: float, head_dim: int) -> Numbers:
    """Radians a position, from fast to slow."""
    return [base ** (-2 * i / head_dim) for i in range(head_dim // 2)]


def stretched(plain: Numbers, scaling: Sequence[float]) -> Numbers:
    """Llama 3's rule: slow pairs divided by the factor, fast ones kept, those between mixed."""
    factor, low, high, length = scaling
    out = []
    for frequency in plain:
        turns = length * frequency / (2 * math.pi)
        kept = min(1.0, max(0.0, (turns - low) / (high - low)))
        out.append(kept * frequency + (1 - kept) * frequency / factor)
    return out


def check_frequencies(ask: Ask, rng: Random) -> Result:
    """base ** (-2 i / head_dim), stretched where the config says so."""
    for base, size, scaling in ((10_000.0, 8, None), (1e6, 64, None), (10_000.0, 64, LLAMA3)):
        plain = plain_frequencies(base, size)
        want = plain if scaling is None else stretched(plain, scaling)
        got = ask("frequencies", {"base": base, "head_dim": size, "scaling": scaling})
        if close(got, want, 1e-5):
            continue
        told = f"base {base:g}, head_dim {size}, {'llama3 scaling' if scaling else 'no scaling'}: "
        if len(flat(got)) != size // 2:
            return Result.failed("wrong-shape", f"{told}{len(flat(got))} frequencies, expected {size // 2}")
        message = f"{told}{show(got)}, expected {show(want)}"
        return Result.failed(name_frequencies(got, plain, base, size, scaling is not None), message)
    return Result.ok("3 ropes")


def name_frequencies(got: Numbers, plain: Numbers, base: float, size: int, scaled: bool) -> str:
    """Which mistake gives these frequencies?"""
    mistakes = {
        "scaling-ignored": plain if scaled else [],
        "exponent-not-doubled": [base ** (-i / size) for i in range(size // 2)],
        "exponent-over-half": [base ** (-4 * i / size) for i in range(size // 2)],
        "base-ignored": plain_frequencies(10_000.0, size) if base != 10_000.0 else [],
        "slow-to-fast": plain[::-1],
        "not-inverted": [1 / frequency for frequency in plain],
    }
    return next((name for name, wrong in mistakes.items() if wrong and close(got, wrong, 1e-5)), "wrong-frequencies")


def turned(
    x: Heads,
    positions: Sequence[int],
    speeds: Numbers,
    *,
    pair: Callable[[int, int], tuple[int, int]] = lambda i, half: (i, i + half),
    sign: int = 1,
    shuffled: bool = False,
) -> Heads:
    """Every head turned, pair by pair. pair: which two numbers are point i. shuffled: angles laid out in twos."""
    half, out = len(speeds), []
    for heads, position in zip(x, positions, strict=True):
        out.append([list(head) for head in heads])
        for new, head in zip(out[-1], heads, strict=True):
            for i in range(half):
                a, b = pair(i, half)
                at, bt = (sign * position * speeds[j] for j in ((a // 2, b // 2) if shuffled else (i, i)))
                new[a] = head[a] * math.cos(at) - head[b] * math.sin(at)
                new[b] = head[b] * math.cos(bt) + head[a] * math.sin(bt)
    return out


def neighbours(i: int, half: int) -> tuple[int, int]:
    """The paper's pairs."""
    return 2 * i, 2 * i + 1


def compare_turned(ask: Ask, x: Heads, positions: list[int], speeds: Numbers) -> Result:
    """Turned heads beside the ones turned by hand."""
    args = {"x": x, "positions": positions, "frequencies": speeds, "length": max(positions) + 1}
    seen = ask("rotate", args)
    shape = [len(x), len(x[0]), len(x[0][0])]
    if seen["shape"] != shape:
        return Result.failed("wrong-shape", f"x of shape {shape} came back with shape {seen['shape']}")
    if not seen["kept"]:
        return Result.failed("input-changed", "rotate changed the tensor that it was given")
    got, want = seen["out"], turned(x, positions, speeds)
    if close(got, want):
        return Result.ok()
    mistakes = {
        "positions-ignored": turned(x, range(len(x)), speeds),
        "pairs-neighbours": turned(x, positions, speeds, pair=neighbours),
        "turns-backwards": turned(x, positions, speeds, sign=-1),
        "angles-in-twos": turned(x, positions, speeds, shuffled=True),
        "not-turned": x,
    }
    slug = next((name for name, wrong in mistakes.items() if close(got, wrong)), "wrong-values")
    return Result.failed(slug, f"positions {positions}: {where(got, want)}")


def check_turned_by_hand(ask: Ask, rng: Random) -> Result:
    """Tokens at 0, 1, 2, ...: each pair turned by its own angle."""
    quarter = compare_turned(ask, [[[1.0, 0.0]], [[1.0, 0.0]]], [0, 1], [math.pi / 2])  # (1, 0) -> (0, 1)
    if quarter.verdict != "ok":
        return quarter
    return compare_turned(ask, draw(rng, 5, 3, 8), [0, 1, 2, 3, 4], plain_frequencies(100.0, 8))


def check_positions_in_any_order(ask: Ask, rng: Random) -> Result:
    """Tokens of several requests: positions start again, repeat and jump."""
    for positions in ([7], [0, 1, 2, 0, 1], [40, 3, 3, 17], [rng.randrange(60) for _ in range(9)]):
        result = compare_turned(ask, draw(rng, len(positions), 2, 16), positions, plain_frequencies(10_000.0, 16))
        if result.verdict != "ok":
            return result
    return Result.ok("4 batches")


# ---- 01.2 ----


def attended(
    q: Heads,
    k: Heads,
    v: Heads,
    *,
    last: Callable[[int, int, int], int] = lambda i, new, total: total - new + i,
    share: Callable[[int, int, int], int] = lambda h, heads, kv: h * kv // heads,
    scale: float | None = None,
    over_queries: bool = False,
) -> Heads | None:
    """Attention by hand. last: the newest key that query i sees; None when some query sees no key at all."""
    new, total, heads, kv, size = len(q), len(k), len(q[0]), len(k[0]), len(q[0][0])
    factor = size**-0.5 if scale is None else scale
    out: Heads = [[[] for _ in range(heads)] for _ in range(new)]
    for h in range(heads):
        g = share(h, heads, kv)
        scores = [[factor * sum(map(float.__mul__, q[i][h], k[s][g])) for s in range(total)] for i in range(new)]
        raised = [
            [math.exp(x) if s <= last(i, new, total) else 0.0 for s, x in enumerate(row)]
            for i, row in enumerate(scores)
        ]
        sums = [sum(row) for row in raised]
        columns = [sum(row[s] for row in raised) for s in range(total)]
        if not all(sums) or (over_queries and not all(columns)):
            return None
        for i, row in enumerate(raised):
            weights = [x / (columns[s] if over_queries else sums[i]) for s, x in enumerate(row)]
            out[i][h] = [sum(w * v[s][g][d] for s, w in enumerate(weights)) for d in range(size)]
    return out


def compare_attention(ask: Ask, rng: Random, new: int, total: int, heads: int, kv: int, size: int = 4) -> Result:
    """One attention beside the one by hand."""
    q, k, v = draw(rng, new, heads, size), draw(rng, total, kv, size), draw(rng, total, kv, size)
    seen = ask("attention", {"q": q, "k": k, "v": v})
    told = f"T={new}, S={total}, {heads} query heads on {kv} key heads"
    if seen["shape"] != [new, heads, size]:
        return Result.failed("wrong-shape", f"{told}: the shape is {seen['shape']}, expected {[new, heads, size]}")
    want = attended(q, k, v)
    assert want is not None
    if close(seen["out"], want):
        return Result.ok()
    return Result.failed(name_attention(seen["out"], q, k, v), f"{told}: {where(seen['out'], want)}")


def name_attention(got: Heads, q: Heads, k: Heads, v: Heads) -> str:
    """Which mistake gives this answer?"""
    size = len(q[0][0])
    mistakes: dict[str, dict[str, Any]] = {
        "future-visible": {"last": lambda i, new, total: total},
        "mask-aligned-top-left": {"last": lambda i, new, total: i},
        "own-key-hidden": {"last": lambda i, new, total: total - new + i - 1},
        "next-key-visible": {"last": lambda i, new, total: total - new + i + 1},
        "heads-tiled": {"share": lambda h, heads, kv: h % kv},
        "scale-missing": {"scale": 1.0},
        "scale-without-root": {"scale": 1 / size},
        "softmax-over-queries": {"over_queries": True},
    }
    for name, change in mistakes.items():
        wrong = attended(q, k, v, **change)
        if wrong is not None and close(got, wrong):
            return name
    return "a-query-sees-no-key" if None in flat(got) else "wrong-values"


def check_one_head(ask: Ask, rng: Random) -> Result:
    """One head over one token, then over a whole sequence: scale, mask, softmax."""
    for tokens in (1, 6):
        result = compare_attention(ask, rng, tokens, tokens, 1, 1)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_grouped_heads(ask: Ask, rng: Random) -> Result:
    """Which key head does each query head use?"""
    for heads, kv in ((2, 2), (4, 2), (8, 4), (6, 1)):
        result = compare_attention(ask, rng, 5, 5, heads, kv)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_last_positions(ask: Ask, rng: Random) -> Result:
    """Fewer queries than keys: the queries are the last positions."""
    for new, total in ((1, 7), (3, 8)):
        result = compare_attention(ask, rng, new, total, 4, 2)
        if result.verdict != "ok":
            return result
    return Result.ok()


def check_same_dtype(ask: Ask, rng: Random) -> Result:
    """bfloat16 in, bfloat16 out, and close to the exact values."""
    q, k, v = draw(rng, 4, 4, 8), draw(rng, 4, 2, 8), draw(rng, 4, 2, 8)
    seen = ask("attention", {"q": q, "k": k, "v": v, "dtype": "bfloat16"})
    if seen["dtype"] != "torch.bfloat16":
        return Result.failed("dtype-changed", f"bfloat16 went in, {seen['dtype']} came out")
    if not close(seen["out"], attended(q, k, v), 0.05):
        return Result.failed("wrong-values", f"in bfloat16: {where(seen['out'], attended(q, k, v) or [])}")
    return Result.ok()


def check_random_shapes(ask: Ask, rng: Random) -> Result:
    """Twelve random shapes."""
    for _ in range(12):
        total, kv = rng.randint(1, 9), rng.choice([1, 2, 3])
        new, heads = rng.randint(1, total), kv * rng.choice([1, 2, 4])
        result = compare_attention(ask, rng, new, total, heads, kv, rng.choice([2, 4, 6]))
        if result.verdict != "ok":
            return result
    return Result.ok("12 shapes")


# ---- 01.3 ----

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
                fused = any(part in name for part in ("q_proj", "k_proj", "v_proj"))
                return Result.failed("grouped-heads-forgotten" if fused else "wrong-shape", message)
    return Result.ok(f"{len(CONFIGS)} configs")


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


# ---- all ----


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model without a cache: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], ORACLE_PROMPTS)
    got = ask("generate", {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS}, seconds=40.0)
    for number, ids in enumerate(got):
        if len(ids) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"prompt {number}: {len(ids)} tokens, expected {ORACLE_TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
