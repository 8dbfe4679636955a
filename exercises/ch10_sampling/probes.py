"""What the judge asks of the student's code: chapter 10. Runs in the graded process; returns plain values."""

from __future__ import annotations

import math
from typing import Any

import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.core import Batch, Req
from minisgl_lite.engine.draw import draw, draw_filtered, probabilities
from minisgl_lite.engine.sampler import Sampler
from minisgl_lite.tokenizer.stops import StopStrings
from workbook.judge.calls import call
from workbook.judge.model import bundled_model
from workbook.judge.watching import Calls, Operations


def finite(value: Any) -> Any:
    """Nested lists of floats with None for whatever is no finite number."""
    if isinstance(value, list):
        return [finite(item) for item in value]
    return value if math.isfinite(value) else None


def numbers(rows: list[list[Any]]) -> torch.Tensor:
    """Rows of numbers, some of them written as "nan", "inf", "-inf"."""
    return torch.tensor([[float(x) for x in row] for row in rows])


def probe_probabilities(args: dict[str, Any]) -> Any:
    """Rows of logits with a temperature each -> rows of probabilities; null where one is not a number."""
    logits = numbers(args["logits"]).to(getattr(torch, args["dtype"]))
    given, temperature = logits.clone(), torch.tensor(args["temperature"])
    probs = call(probabilities, given, temperature, returns=torch.Tensor)
    return {
        "shape": list(probs.shape),
        "dtype": str(probs.dtype),
        "probs": finite(probs.tolist()),
        "changed": not torch.equal(given, logits),
    }


def probe_draw(args: dict[str, Any]) -> Any:
    """Rows of probabilities and a number each -> what `draw` returns."""
    tokens = call(draw, numbers(args["probs"]), torch.tensor(args["u"]), returns=torch.Tensor)
    return {"shape": list(tokens.shape), "tokens": tokens.tolist()}


def probe_filtered(args: dict[str, Any]) -> Any:
    """Rows (probabilities, top_k, top_p), each with all the numbers `u`, in one call -> the tokens of each row."""
    rows, n = args["rows"], len(args["u"])
    probs = numbers([row for row, _, _ in rows]).repeat_interleave(n, 0)
    top_k = torch.tensor([k for _, k, _ in rows]).repeat_interleave(n)
    top_p = torch.tensor([p for _, _, p in rows]).repeat_interleave(n)
    u = torch.tensor(args["u"]).repeat(len(rows))
    tokens = call(draw_filtered, probs, top_k, top_p, u, returns=torch.Tensor)
    return {"shape": list(tokens.shape), "tokens": tokens.view(len(rows), -1).tolist() if tokens.dim() == 1 else []}


def probe_sampling_work(args: dict[str, Any]) -> list[dict[str, Any]]:
    """For each of the three functions, with so many rows: the operations it took, and what waits for the device."""
    n, size = args["rows"], 6
    probs = torch.full((n, size), 1 / size)
    u, top_k, top_p = torch.full((n,), 0.5), torch.full((n,), 4), torch.full((n,), 0.9)
    seen = []
    for function, given in ((probabilities, (probs, u)), (draw, (probs, u)), (draw_filtered, (probs, top_k, top_p, u))):
        with Operations() as operations, Calls() as calls:
            call(function, *given)
        waits = calls.waits + operations.waits
        seen.append({"function": function.__name__, "operations": len(operations.names), "waits": waits})
    return seen


def batch_of(args: dict[str, Any]) -> Batch:
    """entries: [params, prompt tokens, first position computed, how many], uids from 0."""
    batch = Batch("prefill", index=args["index"])
    for uid, (params, prompt, start, n) in enumerate(args["entries"]):
        req = Req(uid, [5] * prompt, SamplingParams(**params))
        req.table_idx, req.cached_len = uid, start
        batch.add(req, n)
    if args.get("phase") == "decode":
        return Batch("decode", batch.reqs, batch.starts, batch.lens, batch.rows, index=batch.index)
    return batch


def probe_sampler(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Batches through one sampler. logits: rows, or the size of a vocabulary of equally likely tokens."""
    sampler, seen = Sampler(args["entropy"]), []
    for one in args["batches"]:
        batch = batch_of(one)
        if isinstance(args["logits"], int):
            logits = torch.zeros(1, args["logits"]).expand(len(batch.emitting), -1)
        else:
            logits = numbers(args["logits"])
        phase = f"a {batch.phase} batch of {len(batch.reqs)} entries, {len(batch.emitting)} of which emit"
        arrived = call(sampler, logits, batch, returns=tuple, name=f"{phase}: Sampler.__call__")
        asking = sum(req.logprobs is not None for req in batch.emitting)
        reported = len(arrived[1]) if len(arrived) > 1 else 0
        if reported in (0, asking):
            tokens = call(sampler.read, batch, arrived, name=f"{phase}: read, of what Sampler.__call__ returned,")
        else:  # `read` finds rows by those who ask
            tokens = arrived[0].tolist()
        told = [
            None if req.logprobs is None else [sorted(entry.items()) for entry in req.logprobs]
            for req in batch.emitting
        ]
        rows = {"reported": reported, "asking": asking}
        seen.append({"tokens": tokens, "logprobs": told, "tensors": len(arrived), **rows})
    return seen


def probe_generate(args: dict[str, Any]) -> list[list[int]]:
    """The bundled model through the whole engine: token ids, params one a prompt."""
    params = [SamplingParams(**{"ignore_eos": True, **each}) for each in args["params"]]
    with LLM(bundled_model(), num_pages=2048, page_size=4, **args.get("options", {})) as llm:
        outputs = llm.generate(args["prompts"], params)
        llm.check_invariants()
    return [out.token_ids for out in outputs]


def probe_stops(args: dict[str, Any]) -> Any:
    """Texts in pieces: what each push let through, whether it was found by then, and what flush gave."""
    seen = []
    for stops, pieces in args["texts"]:
        stop, out = StopStrings(stops), []
        for piece in pieces:
            name = f"StopStrings({stops}), {''.join(pieces[: len(out)])!r} pushed so far: push"
            text = call(stop.push, piece, returns=str, name=name)
            out.append([text, bool(stop.found)])
        seen.append({"pushes": out, "flush": stop.flush()})
    return seen


def probe_stopped(args: dict[str, Any]) -> list[dict[str, Any]]:
    """The bundled model with a stop string for each prompt: as a whole, and streamed."""
    seen = []
    with LLM(bundled_model(), num_pages=2048) as llm:
        each = [SamplingParams(max_tokens=args["max_tokens"], stop=tuple(stop)) for stop in args["stops"]]
        outputs = llm.generate(args["prompts"], each)
        llm.check_invariants()
        for prompt, params, out in zip(args["prompts"], each, outputs, strict=True):
            pieces = list(llm.stream(prompt, params))
            streamed = ["".join(piece[0] for piece in pieces), pieces[-1][2]]
            seen.append({"text": out.text, "reason": out.finish_reason, "streamed": streamed})
        plain = SamplingParams(max_tokens=args["max_tokens"])
        for one, out in zip(seen, llm.generate(args["prompts"], plain), strict=True):
            one["plain"] = out.text
    return seen
