"""How the answers are judged: chapter 02. Runs in the judge; attention is worked out again here, in plain Python."""

from __future__ import annotations

import math
from copy import deepcopy
from random import Random
from typing import Any

from workbook.judge.checklib import TIE_GAP, Ask, Result, compare_streams

LAYERS, ROWS, MAX_LEN = 2, 3, 10
HEADS, KV_HEADS, DIM = 4, 2, 4
ORACLE_TOKENS = 16
ORACLE_PROMPTS = 5


# ---- 02.1 ----


def numbers(rng: Random, *shape: int) -> Any:
    """Nested lists of random numbers."""
    if not shape:
        return round(rng.uniform(-2, 2), 3)
    return [numbers(rng, *shape[1:]) for _ in range(shape[0])]


def close(a: float, b: float) -> bool:
    """Equal up to what another order of float32 operations may change."""
    return abs(a - b) <= 1e-4 * max(1.0, abs(b))


def same(a: Any, b: Any) -> bool:
    """Whether two nested lists are close everywhere."""
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return close(a, b)


def new_call(rng: Random, layer: int, *entries: tuple[int, int, int]) -> dict[str, Any]:
    """A call of one layer, each entry (row, start, new positions)."""
    total = sum(n for _, _, n in entries)
    rows, starts, lens = (list(column) for column in zip(*entries, strict=True))
    sizes = {"q": HEADS, "k": KV_HEADS, "v": KV_HEADS}
    return {
        "layer": layer,
        "rows": rows,
        "starts": starts,
        "lens": lens,
        **{name: numbers(rng, total, heads, DIM) for name, heads in sizes.items()},
    }


def pieces(call: dict[str, Any]) -> list[tuple[int, int, int, int]]:
    """(row, start, n, where its first position lies in q) of each entry."""
    out, at = [], 0
    for row, start, n in zip(call["rows"], call["starts"], call["lens"], strict=True):
        out.append((row, start, n, at))
        at += n
    return out


def stored(cache: dict[str, Any], call: dict[str, Any]) -> dict[str, Any]:
    """The cache after a call."""
    after = {"k": deepcopy(cache["k"]), "v": deepcopy(cache["v"])}
    for row, start, n, at in pieces(call):
        for name in "kv":
            after[name][call["layer"]][row][start : start + n] = call[name][at : at + n]
    return after


def attend_one(query: Any, keys: Any, values: Any, tiled: bool = False) -> Any:
    """One position [H][D] over the keys and values [S][KV][D] that it sees -> [H][D]."""
    out = []
    for head, numbers_ in enumerate(query):
        kv = head % KV_HEADS if tiled else head // (HEADS // KV_HEADS)
        scores = [sum(a * b for a, b in zip(numbers_, key[kv], strict=True)) / math.sqrt(DIM) for key in keys]
        weights = [math.exp(score - max(scores)) for score in scores]
        total = sum(weights)
        out.append([sum(w * v[kv][d] for w, v in zip(weights, values, strict=True)) / total for d in range(DIM)])
    return out


def attended(cache: dict[str, Any], call: dict[str, Any], mistake: str = "") -> list[Any]:
    """The output of a call on a cache in which its positions are stored, or what a named mistake would make of it."""
    out: list[Any] = []
    for row, start, n, at in pieces(call):
        keys, values = (cache[name][call["layer"]][row] for name in "kv")
        if mistake == "history-ignored":
            keys, values = keys[start:], values[start:]
        if mistake == "requests-see-each-other":
            keys, values = call["k"], call["v"]
        for i in range(n):
            seen = {
                "mask-top-left": i + 1,
                "no-mask": start + n,
                "reads-beyond-the-end": MAX_LEN - n + i + 1,
                "own-position-hidden": max(start + i, 1),
                "history-ignored": i + 1,
                "requests-see-each-other": at + i + 1,
            }.get(mistake, start + i + 1)
            query = call["q"][i if mistake == "queries-of-the-first" else at + i]
            out.append(attend_one(query, keys[:seen], values[:seen], tiled=mistake == "heads-tiled"))
    return out


MISTAKES = {
    "attends-before-storing": "the new positions see what was in the cache before the new keys and values were stored",
    "mask-top-left": "query i sees keys 0 .. i; it must see 0 .. start + i: align the mask at the bottom right",
    "no-mask": "a new position sees those that come after it",
    "reads-beyond-the-end": "keys behind the new positions are read: what a former owner of the row left there",
    "own-position-hidden": "a position does not see itself",
    "history-ignored": "only the new keys are seen, not those that were kept",
    "requests-see-each-other": "the entries are taken for one sequence: they see each other's keys",
    "queries-of-the-first": "each entry is given the first entry's queries: move on by n after each",
    "heads-tiled": "query heads are matched to the wrong K/V heads: neighbours share one (0 0 1 1, not 0 1 0 1)",
}


def name_output(before: dict[str, Any], after: dict[str, Any], call: dict[str, Any], out: Any) -> tuple[str, str]:
    """The mistake that would give exactly this output, and what it means."""
    for mistake, meaning in MISTAKES.items():
        cache = before if mistake == "attends-before-storing" else after
        if same(attended(cache, call, mistake), out):
            return mistake, meaning
    return "wrong-attention", "no known mistake gives these numbers"


def name_storage(before: dict[str, Any], want: dict[str, Any], got: dict[str, Any], call: dict[str, Any]) -> str:
    """What a wrong cache says about the mistake."""
    layer, places = call["layer"], {(row, start + i) for row, start, n, _ in pieces(call) for i in range(n)}
    changed = {
        (at, row, position)
        for name in "kv"
        for at in range(LAYERS)
        for row in range(ROWS)
        for position in range(MAX_LEN)
        if not same(got[name][at][row][position], before[name][at][row][position])
    }
    if not changed:
        return "not-stored"
    if any(at != layer for at, _, _ in changed):
        return "wrong-layer"
    if {row for _, row, _ in changed} - {row for row, _ in places}:
        return "wrong-row"
    if {(row, position) for _, row, position in changed} - places:
        return "wrong-place"
    swapped = stored(before, {**call, "k": call["v"], "v": call["k"]})
    if all(same(got[name], swapped[name]) for name in "kv"):
        return "keys-and-values-swapped"
    return "not-all-stored" if len(changed) < len(places) else "wrong-values-stored"


def judge_calls(ask: Ask, rng: Random, *calls: dict[str, Any]) -> Result:
    """Cache and output after each call, the first difference named."""
    cache = {name: numbers(rng, LAYERS, ROWS, MAX_LEN, KV_HEADS, DIM) for name in "kv"}
    answers = ask("attend", {**cache, "calls": list(calls)})
    for call, seen in zip(calls, answers, strict=True):
        entries = ", ".join(f"row {row}: {n} new at {start}" for row, start, n, _ in pieces(call))
        where = f"layer {call['layer']}, {entries}"
        after = stored(cache, call)
        if any(not same(seen[name], after[name]) for name in "kv"):
            diagnosis = name_storage(cache, after, seen, call)
            return Result.failed(diagnosis, f"{where}: the cache afterwards is not as it should be")
        shape = [len(call["q"]), HEADS, DIM]
        if seen["kind"] or seen["shape"] != shape:
            what = seen["kind"] or f"shape {seen['shape']}"
            return Result.failed("wrong-shape", f"{where}: returned {what}; expected a tensor of shape {shape}")
        want = attended(after, call)
        if not same(seen["out"], want):
            row = next(i for i, (a, b) in enumerate(zip(seen["out"], want, strict=True)) if not same(a, b))
            diagnosis, meaning = name_output(cache, after, call, seen["out"])
            return Result.failed(diagnosis, f"{where}: row {row} of the output is wrong; {meaning}")
        cache = after
    return Result.ok(f"{len(calls)} calls")


def check_stores(ask: Ask, rng: Random) -> Result:
    """Are the new keys and values where they belong, and is everything else as it was?"""
    one = new_call(rng, 1, (2, 0, 3))
    return only_storage(ask, rng, one, new_call(rng, 1, (2, 3, 1)), new_call(rng, 0, (1, 4, 2), (0, 2, 3)))


def only_storage(ask: Ask, rng: Random, *calls: dict[str, Any]) -> Result:
    """judge_calls, but for the output: a wrong output is the next checks' matter."""
    result = judge_calls(ask, rng, *calls)
    about_output = result.diagnosis in {*MISTAKES, "wrong-attention", "wrong-shape"}
    return Result.ok() if about_output else result


def check_one_prompt(ask: Ask, rng: Random) -> Result:
    """A prompt on an empty row: the familiar triangle."""
    return judge_calls(ask, rng, new_call(rng, 0, (1, 0, 5)))


def check_next_token(ask: Ask, rng: Random) -> Result:
    """One query over everything that was kept, token after token."""
    steps = [new_call(rng, 0, (0, start, 1)) for start in range(4, 7)]
    return judge_calls(ask, rng, new_call(rng, 0, (0, 0, 4)), *steps)


def check_three_over_eight(ask: Ask, rng: Random) -> Result:
    """Five positions, then three more: 3 queries over 8 keys."""
    return judge_calls(ask, rng, new_call(rng, 1, (1, 0, 5)), new_call(rng, 1, (1, 5, 3)))


def check_ragged_batch(ask: Ask, rng: Random) -> Result:
    """Several sequences in one call, rows in any order, each at its own length."""
    first = new_call(rng, 0, (2, 0, 3), (0, 0, 2))
    return judge_calls(ask, rng, first, new_call(rng, 0, (0, 2, 2), (1, 0, 4), (2, 3, 1)))


def check_random_calls(ask: Ask, rng: Random) -> Result:
    """Random entries until the rows are full."""
    for _ in range(4):
        lengths, calls = [[0] * ROWS for _ in range(LAYERS)], []
        for _ in range(6):
            layer = rng.randrange(LAYERS)
            entries = []
            for row in rng.sample(range(ROWS), rng.randint(1, ROWS)):
                left = MAX_LEN - lengths[layer][row]
                if left:
                    n = rng.randint(1, min(left, 5))
                    entries.append((row, lengths[layer][row], n))
                    lengths[layer][row] += n
            if entries:
                calls.append(new_call(rng, layer, *entries))
        result = judge_calls(ask, rng, *calls)
        if result.verdict != "ok":
            return result
    return Result.ok("4 random sequences of calls")


# ---- 02.2 ----


VOCAB = 97


def expected_answer(prompt: list[int], most: int, eos: list[int], ignore_eos: bool) -> list[int]:
    """What the probes' SumDecoder answers."""
    total, answer = sum(prompt), []
    while len(answer) < most:
        token = (7 * total + 3) % VOCAB
        if token in eos and not ignore_eos:
            break
        answer.append(token)
        total += token
    return answer


def run(
    prompt: list[int], most: int, eos: tuple[int, ...] = (), ignore_eos: bool = False, **more: Any
) -> dict[str, Any]:
    """The arguments of one run."""
    return {
        "prompt": prompt,
        "max_tokens": most,
        "eos": list(eos),
        "ignore_eos": ignore_eos,
        "max_seq_len": 256,
        "tuple": False,
        "vocab": VOCAB,
        **more,
    }


def judge_run(args: dict[str, Any], got: dict[str, Any]) -> Result:
    """One run: its passes, its answer, the caller's prompt."""
    prompt, most, eos, ignore = args["prompt"], args["max_tokens"], args["eos"], args["ignore_eos"]
    want = expected_answer(prompt, most, eos, ignore)
    who = f"a prompt of {len(prompt)}, max_tokens {most}"
    if got["refused"]:
        too_far = "are not within" in got["refused"]
        diagnosis = "writes-past-the-end" if too_far else "refuses-what-fits"
        cause = ": a position, or a pass, too many" if too_far else ""
        return Result.failed(diagnosis, f"{who}: ValueError: {got['refused']}{cause}")
    if got["prompt"] != prompt:
        return Result.failed("prompt-changed", f"{who}: the caller's list has {len(got['prompt'])} ids afterwards")
    passes = len(want) + (len(want) < most)
    everything = expected_answer(prompt, most + 1, [], True)
    for step, call in enumerate(got["calls"][:passes]):
        new = prompt if step == 0 else [everything[step - 1]]
        start = 0 if step == 0 else len(prompt) + step - 1
        result = judge_pass(f"{who}: pass {step}", call, new, start, [*prompt, *everything])
        if result.verdict != "ok":
            return result
    answer = judge_answer(who, args, want, everything, got["answer"])
    if answer.verdict == "ok" and len(got["calls"]) > passes:
        message = f"{who}: {len(got['calls'])} passes for {passes} tokens; the last one is never fed back"
        return Result.failed("last-token-fed-back", message)
    return answer


def judge_pass(where: str, call: dict[str, Any], new: list[int], start: int, tokens: list[int]) -> Result:
    """One forward pass: the ids, their positions, what they saw, how many logits."""
    ids, positions = call["ids"], call["positions"]
    if len(ids) != len(new):
        if start:
            diagnosis = "recomputes-the-past"
        else:
            diagnosis = "prompt-in-pieces" if len(ids) < len(new) else "wrong-tokens-fed"
        return Result.failed(diagnosis, f"{where} computes {len(ids)} positions; expected {len(new)}")
    if ids != new:
        return Result.failed("wrong-tokens-fed", f"{where} computes the ids {ids}; expected {new}")
    want = list(range(start, start + len(new)))
    if positions != want:
        return Result.failed("wrong-position", f"{where} is given the positions {positions}; expected {want}")
    means = [sum(tokens[: p + 1]) / (p + 1) for p in want]
    if not all(map(close, call["seen"], means)):
        message = f"{where}: its queries do not see exactly positions 0 .. {want[-1]} of the cache"
        return Result.failed("history-lost", message)
    if call["rows"] != 1:
        return Result.failed("logits-for-every-position", f"{where} asks for {call['rows']} rows of logits; expected 1")
    return Result.ok()


def judge_answer(who: str, args: dict[str, Any], want: list[int], everything: list[int], got: Any) -> Result:
    """The answer itself."""
    if got == want:
        return Result.ok()
    if type(got) is not list or not all(type(token) is int for token in got):
        return Result.failed("no-list-of-ids", f"{who}: returned {str(got)[:80]}; expected a list of int")
    said = f"{who}: {len(got)} tokens; expected {len(want)}"
    if got == args["prompt"] + want:
        return Result.failed("prompt-in-the-answer", said)
    stopped = len(want) < args["max_tokens"]
    if stopped and got == everything[: len(want) + 1]:
        return Result.failed("eos-in-the-answer", f"{said}: the last is an EOS")
    if stopped and got[: len(want)] == want and len(got) > len(want):
        return Result.failed("eos-ignored", f"{said}, for an EOS follows")
    if args["ignore_eos"] and got == want[: len(got)] and want[len(got)] in args["eos"]:
        return Result.failed("ends-at-an-ignored-eos", said)
    if got == want[: len(got)]:
        return Result.failed("one-token-too-few", said)
    if got[: len(want)] == want:
        return Result.failed("one-token-too-many", said)
    return Result.failed("wrong-answer", f"{who}: {got[:8]}; expected {want[:8]}")


def judge_runs(ask: Ask, *runs: dict[str, Any]) -> Result:
    """Run after run; the first that is wrong."""
    for args in runs:
        result = judge_run(args, ask("generate", args))
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(runs)} runs")


def ids(rng: Random, n: int) -> list[int]:
    """A prompt."""
    return [rng.randrange(VOCAB) for _ in range(n)]


def check_prompt_once_then_one_a_step(ask: Ask, rng: Random) -> Result:
    """The whole prompt in the first pass, one position in each that follows; ids, positions and history of each."""
    return judge_runs(ask, run(ids(rng, 5), 6), run(ids(rng, 1), 4), run(ids(rng, 12), 9, tuple=True))


def ending(rng: Random, at: int) -> tuple[list[int], int]:
    """A prompt, and the token that its answer meets at step `at` for the first time."""
    while True:
        prompt = ids(rng, rng.randint(1, 8))
        answer = expected_answer(prompt, at + 1, [], True)
        if answer[at] not in answer[:at]:
            return prompt, answer[at]


def check_how_it_ends(ask: Ask, rng: Random) -> Result:
    """By length, at an EOS in the middle, at the first token, at the last allowed one; not at an EOS to ignore."""
    (middle, eos), (first, eos_first), (last, eos_last) = (ending(rng, at) for at in (4, 0, 5))
    return judge_runs(
        ask,
        run(ids(rng, 4), 1),
        run(middle, 9, (eos,)),
        run(middle, 9, (eos,), ignore_eos=True),
        run(first, 6, (eos_first,)),
        run(last, 6, (eos_last, VOCAB + 1)),
        run(last, 5, (eos_last,)),
    )


def check_what_cannot_run(ask: Ask, rng: Random) -> Result:
    """An empty prompt, no token to generate, more positions than the model has; and just as many as it has."""
    fits = judge_runs(ask, run(ids(rng, 12), 5, max_seq_len=16))
    if fits.verdict != "ok":
        return fits
    bad = {"an empty prompt": run([], 3), "max_tokens 0": run([5], 0), "one position too many": run(ids(rng, 12), 6)}
    for what, args in bad.items():
        if not ask("generate", {**args, "max_seq_len": 16})["refused"]:
            return Result.failed("no-refusal", f"{what} is not refused with a ValueError")
    return Result.ok()


def check_random_runs(ask: Ask, rng: Random) -> Result:
    """Random prompts, lengths and ends."""
    runs = []
    for _ in range(12):
        ends = tuple(rng.sample(range(VOCAB), 6))
        runs.append(run(ids(rng, rng.randint(1, 20)), rng.randint(1, 24), ends, rng.random() < 0.3))
    return judge_runs(ask, *runs)


# ---- both ----


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model: Hugging Face's greedy tokens."""
    prompts = rng.sample([p for p in ask.oracle() if len(p.ids) <= 64], ORACLE_PROMPTS)
    got = ask("greedy", {"prompts": [list(p.ids) for p in prompts], "max_tokens": ORACLE_TOKENS}, seconds=40.0)
    for number, answer in enumerate(got):
        if len(answer) != ORACLE_TOKENS:
            return Result.failed("wrong-tokens", f"prompt {number}: {len(answer)} tokens, expected {ORACLE_TOKENS}")
    return compare_streams(prompts, got, bound=TIE_GAP)
