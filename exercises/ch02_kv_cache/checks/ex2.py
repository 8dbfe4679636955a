"""How the answers to exercise 02.2 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result
from workbook.words import counted

from .common import check_end_to_end, close

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
    prompt: list[int], most: int, eos: tuple[int, ...] = (VOCAB + 1,), ignore_eos: bool = False, **more: Any
) -> dict[str, Any]:
    """The arguments of one run. Without `eos`, there is one that the model never says."""
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
    if got["refused"]:  # after the passes before it: what was wrong in them may have led here
        too_far = "are not within" in got["refused"]
        diagnosis = "writes-past-the-end" if too_far else "refuses-what-fits"
        cause = ": a position, or a pass, too many" if too_far else ""
        return Result.failed(diagnosis, f"{who}: pass {len(got['calls'])}: ValueError: {got['refused']}{cause}")
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
        return Result.failed(diagnosis, f"{where} computes {counted(len(ids), 'position')}; expected {len(new)}")
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
        if everything[len(want)] in args["eos"][1:]:
            message = f"{said}: it ends at {everything[len(want)]}, one of the EOS ids {args['eos']}"
            return Result.failed("only-the-first-eos", message)
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
    """By length, at any EOS in the middle, at the first token, at the last allowed one; not at an EOS to ignore.

    Also a model without any EOS.
    """
    (middle, eos), (first, eos_first), (last, eos_last) = (ending(rng, at) for at in (4, 0, 5))
    return judge_runs(
        ask,
        run(ids(rng, 4), 1),
        run(middle, 9, (eos,)),
        run(middle, 9, (eos,), ignore_eos=True),
        run(first, 6, (eos_first,)),
        run(last, 6, (eos_last, VOCAB + 1)),
        run(middle, 9, (VOCAB + 1, VOCAB + 2, eos)),
        run(last, 5, (eos_last,)),
        run(ids(rng, 4), 3, ()),
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


def check_memory(ask: Ask, rng: Random) -> Result:
    """One cache, no longer than prompt and answer need, in the model's dtype; all tensors on the model's device."""
    prompt, most, longest = 6, 5, 256
    got = ask("memory", {"prompt": ids(rng, prompt), "max_tokens": most, "max_seq_len": longest})
    for what, device in got["devices"].items():
        if device != "meta":
            message = f"checkpoint.device is meta (another than the CPU), but {what} is on {device}: pass the device"
            return Result.failed("wrong-device", message)
    if not got["caches"]:
        return Result.failed("no-dense-attention", "what the decoder was given to attend with is no DenseAttention")
    if len(got["caches"]) > 1:
        return Result.failed("more-than-one-cache", f"the passes of one answer use {len(got['caches'])} caches")
    (cache,) = got["caches"]
    if cache["dtype"] != "torch.bfloat16":
        message = f"checkpoint.dtype is torch.bfloat16, but the cache is in {cache['dtype']}: pass the dtype"
        return Result.failed("wrong-cache-dtype", message)
    needed = prompt + most - 1
    if cache["positions"] > needed + 1:
        message = f"{cache['positions']} positions for a prompt of {prompt} and max_tokens {most}; it needs {needed}"
        return Result.failed("cache-too-large", message)
    return Result.ok(f"{cache['positions']} positions")


def check_random_runs(ask: Ask, rng: Random) -> Result:
    """Random prompts, lengths and ends."""
    runs = []
    for _ in range(12):
        ends = tuple(rng.sample(range(VOCAB), 6))
        runs.append(run(ids(rng, rng.randint(1, 20)), rng.randint(1, 24), ends, rng.random() < 0.3))
    return judge_runs(ask, *runs)
