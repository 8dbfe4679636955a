"""What the judge asks of the student's code: chapter 11. Runs in the graded process; returns plain values."""

from __future__ import annotations

import math
from typing import Any

import torch

from minisgl_lite import LLM, SamplingParams
from minisgl_lite.assembly import Custom
from minisgl_lite.attention import layout
from minisgl_lite.attention.layout import PageLayout, page_indices, page_layout
from minisgl_lite.attention.merge import Partial, SplitAttention, merge, partial_attention
from minisgl_lite.core import InvariantError
from minisgl_lite.engine.inputs import upload
from minisgl_lite.engine.slots import StepInputs
from workbook.judge.calls import call
from workbook.judge.model import bundled_model
from workbook.judge.watching import MAKERS, WAITING_OPERATIONS, Calls, Operations

MOST_STEPS = 400

# ---- 11.1 and 11.2: the layout --------------------------------------------------------------------------------------


def plain(field: Any) -> Any:
    """A list of integers as it is, anything else as text."""
    if isinstance(field, (list, tuple)) and all(type(value) is int for value in field):
        return list(field)
    return repr(field)[:200]


def probe_layout(args: dict[str, Any]) -> dict[str, Any]:
    """The three lists of a layout."""
    found = call(page_layout, args["starts"], args["lens"], args["page_size"], returns=PageLayout)
    return {name: plain(getattr(found, name)) for name in PageLayout._fields}


def step_inputs(rows: list[int], counts: list[int], table: torch.Tensor, device: str) -> StepInputs:
    """A decode step of entries that have `counts` pages of four positions, the last one full."""
    here = torch.device(device)
    starts = [4 * count - 1 for count in counts]
    positions = torch.tensor(starts, device=here)
    return StepInputs(
        ids=torch.zeros(len(rows), dtype=torch.int64, device=here),
        positions=positions,
        out_loc=torch.zeros(len(rows), dtype=torch.int64, device=here),
        rows=torch.tensor(rows, device=here),
        page_table=table.to(here),
        kv_lens=positions + 1,
        starts=starts,
        lens=[1] * len(rows),
        last=None,
        emit_rows=torch.tensor(rows, device=here),
        emit_cols=positions + 1,
    )


def probe_indices(args: dict[str, Any]) -> dict[str, Any]:
    """The flat list over a table that is given as rows of numbers."""
    table = torch.tensor(args["table"])
    inputs = step_inputs(args["rows"], args["counts"], table.clone(), "cpu")
    found = call(page_indices, inputs, args["counts"], returns=torch.Tensor)
    return {
        "shape": list(found.shape),
        "dtype": str(found.dtype),
        "pages": found.flatten().tolist(),
        "changed": not torch.equal(inputs.page_table, table),
    }


class Sent(Calls):
    """Calls, and how many numbers the tensors hold that are made of what the host has."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Count what was made."""
        on, made = self.on, super().__torch_function__(func, types, args, kwargs)
        if on and getattr(func, "__name__", "") in MAKERS:
            self.numbers += made.numel()
        return made


class Watching(Operations):
    """Operations, and which of them select by a boolean mask."""

    def __init__(self) -> None:
        super().__init__()
        self.masks: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Look at the indices first."""
        if self.on and func.overloadpacket.__name__ in ("index", "_unsafe_index"):
            masks = [i for i in args[1] if i is not None and i.dtype in (torch.bool, torch.uint8)]
            self.masks += ["indexing by a boolean mask"] * bool(masks)
        return super().__torch_dispatch__(func, types, args, kwargs)


def probe_work(args: dict[str, Any]) -> dict[str, Any]:
    """What a list for some entries of some 20 pages costs.

    Copies from the host and the numbers in them, calls that wait, operations; where tensors are made.
    """
    calls, operations, uploads = Sent(), Watching(), []

    def counted(*parts: Any) -> Any:
        uploads.append(sum(map(len, parts[1:])))
        calls.on = operations.on = False
        try:
            return upload(*parts)
        finally:
            calls.on = operations.on = True

    rows = list(range(args["entries"]))
    counts = [20 + row % 5 for row in rows]
    inputs = step_inputs(rows, counts, torch.zeros(64, 32, dtype=torch.int64), args["device"])
    layout.upload = counted
    raised = ""
    try:
        with operations, calls:
            page_indices(inputs, counts)
    except RuntimeError as error:  # on the device meta: two devices in one operation, for instance
        raised = str(error)
    finally:
        layout.upload = upload
    waits = calls.waits + [n for n in operations.names if n in (*WAITING_OPERATIONS, "nonzero")] + operations.masks
    return {
        "numbers": sum(uploads) + calls.numbers,
        "copies": len(uploads) + sum(name in MAKERS for name in calls.names),
        "waits": waits,
        "operations": len(operations.names),
        "devices": sorted(operations.devices),
        "raised": raised,
    }


# ---- 11.3: attention in pieces --------------------------------------------------------------------------------------


def told(value: Any) -> Any:
    """Nested lists of floats; what is no finite number as text."""
    if isinstance(value, list):
        return [told(item) for item in value]
    return value if math.isfinite(value) else str(value)


def described(part: Partial, given: list[torch.Tensor], before: list[torch.Tensor]) -> dict[str, Any]:
    """A Partial as plain values, and whether what was given is still as it was."""
    return {
        "out": told(part.out.tolist()),
        "lse": told(part.lse.tolist()),
        "shapes": [list(part.out.shape), list(part.lse.shape)],
        "dtypes": [str(part.out.dtype), str(part.lse.dtype)],
        "changed": not all(map(torch.equal, given, before)),
    }


def probe_partial(args: dict[str, Any]) -> dict[str, Any]:
    """partial_attention of lists of numbers, in a dtype."""
    dtype = getattr(torch, args["dtype"])
    given = [torch.tensor(args[name], dtype=dtype) for name in "qkv"]
    seen = torch.tensor(args["seen"])
    before = [tensor.clone() for tensor in given]
    return described(call(partial_attention, *given, seen, returns=Partial), given, before)


def numbers(value: Any) -> Any:
    """Nested lists of floats, some of them written as "-inf"."""
    return [numbers(item) for item in value] if isinstance(value, list) else float(value)


def probe_merge(args: dict[str, Any]) -> dict[str, Any]:
    """merge of parts that are given as [out, lse]."""
    parts = [Partial(torch.tensor(numbers(out)), torch.tensor(numbers(lse))) for out, lse in args["parts"]]
    given = [tensor for part in parts for tensor in part]
    before = [tensor.clone() for tensor in given]
    return described(call(merge, parts, returns=Partial), given, before)


# ---- all: the engine, with attention over the layout ----------------------------------------------------------------


def probe_stream(args: dict[str, Any]) -> dict[str, Any]:
    """The bundled model with SplitAttention: tokens a request, and what the invariants said first, if anything.

    arrivals: [before step, prompt, max_tokens], uids from 0. aborts: [before step, uid].
    """
    arrivals, ids, step = args["arrivals"], {uid: [] for uid in range(len(args["arrivals"]))}, 0

    def split(engine: Any) -> Any:
        engine.attention = SplitAttention(engine.pool, args["blocks"])
        return engine

    with LLM(bundled_model(), attention_backend="torch", custom=Custom(around_runner=split), **args["options"]) as llm:
        while (llm.has_work or any(at >= step for at, *_ in arrivals)) and step < MOST_STEPS:
            for uid, (at, prompt, most) in enumerate(arrivals):
                if at == step:
                    llm.submit(prompt, SamplingParams(max_tokens=most, ignore_eos=True), uid=uid)
            for at, uid in args["aborts"]:
                if at == step:
                    llm.abort(uid)
            for uid, token, _ in call(llm.step, name="LLM.step, with SplitAttention"):
                ids[uid] += [] if token is None else [token]
            try:
                llm.check_invariants()
            except InvariantError as error:
                return {"broken": f"after step {step}: {error}", "ids": []}
            step += 1
    return {"broken": "", "ids": list(ids.values())}
