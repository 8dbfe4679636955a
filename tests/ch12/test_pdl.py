"""Kernels that start early, as source text: nothing but weights is touched before the wait. No GPU, no Triton."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import minisgl_lite

FOLDER = Path(minisgl_lite.__file__).parent / "kernels"
WEIGHTS = {"weight", "bias", "q_weight", "k_weight"}
"""Parameters that no kernel writes."""
READS = {"tl.load", "_piece"}
HARMLESS = {"program_id", "arange", "to"}
"""Calls that touch no memory."""
KERNELS = {
    node.name: node
    for file in sorted(FOLDER.glob("*.py"))
    for node in ast.parse(file.read_text(encoding="utf-8")).body
    if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "triton.jit" for d in node.decorator_list)
}


def calls(node: ast.AST) -> list[ast.Call]:
    """In the order in which they are made: an argument's before the call that takes it."""
    found = [each for each in ast.walk(node) if isinstance(each, ast.Call)]
    return sorted(found, key=lambda call: (call.end_lineno, call.end_col_offset))


def name(call: ast.Call) -> str:
    return ast.unparse(call.func)


def takes(kernel: ast.FunctionDef, parameter: str) -> bool:
    return any(arg.arg == parameter for arg in kernel.args.args)


def early(kernel: ast.FunctionDef) -> list[ast.Call] | None:
    """What is called before the wait, or before the kernel that waits is; None without any that is always come to."""
    before = []
    for statement in kernel.body:
        for call in calls(statement):
            if any(isinstance(arg, ast.Name) and arg.id == "PDL" for arg in call.args):
                callee = name(call)
                waits = callee == "inputs_ready" or (callee in KERNELS and takes(KERNELS[callee], "PDL"))
                return before if waits and isinstance(statement, ast.Expr | ast.Assign | ast.Return) else None
            before.append(call)
        if any(isinstance(node, ast.Return) for node in ast.walk(statement)):
            return None
    return None


def base(node: ast.AST) -> str:
    """What an address begins with: `weight` of `weight + lane`; "" where it is no name."""
    while isinstance(node, ast.BinOp):
        node = node.left
    return node.id if isinstance(node, ast.Name) else ""


def addresses_of_weights(kernel: ast.FunctionDef) -> set[str]:
    """Weights, and what is never anything but an address in one: `at = weight + ...`."""
    found, others = set(WEIGHTS), set()
    for node in ast.walk(kernel):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
            split = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
            pairs = zip(target.elts, node.value.elts, strict=True) if split else [(target, node.value)]
            for to, value in pairs:
                named = {each.id for each in ast.walk(to) if isinstance(each, ast.Name)}
                (found if base(value) in WEIGHTS else others).update(named)
    return found - others


WAITING = sorted({n for n, kernel in KERNELS.items() if takes(kernel, "PDL")} - {"inputs_ready"})


@pytest.mark.parametrize("kernel", WAITING)
def test_before_the_wait_only_weights_are_read(kernel):
    before = early(KERNELS[kernel])
    assert before is not None, f"{kernel} has PDL and does not wait, or not always"
    for call in before:
        if name(call) in READS:
            place = call.args[0]
            assert base(place) in addresses_of_weights(KERNELS[kernel]), f"{kernel} reads {ast.unparse(place)} early"
        else:
            assert name(call).split(".")[-1] in HARMLESS, f"{kernel} calls {name(call)} before it waits"


def test_the_wait_comes_before_the_signal():
    assert [name(call) for call in calls(KERNELS["inputs_ready"])] == ["gdc_wait", "gdc_launch_dependents"]


def test_who_is_launched_early_waits():
    """`**pdl.options()` and the PDL of the kernel go together."""
    launched = {
        ast.unparse(call.func).split("[")[0]
        for file in sorted(FOLDER.glob("*.py"))
        for call in calls(ast.parse(file.read_text(encoding="utf-8")))
        if any(word.arg is None and "pdl.options" in ast.unparse(word.value) for word in call.keywords)
    }
    inner = {name(call) for kernel in KERNELS.values() for call in calls(kernel)}
    assert launched >= {"kernel", "_add_rms_norm", "_rope_store", "_silu_mul"}
    assert set(WAITING) - inner == (launched - {"kernel"}) | {"_linear", "_gated"}
