"""Wrong and right variants of an exercise: small Python files whose functions replace the reference's.

The docstring's first line is `wrong: <diagnosis>` or `right: <what is different>`. Functions and methods replace those
of the same qualname or are added; imports are added to the module's.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..source import SourceError, Span, has_definition, parse, put_definition, replace_span
from ..spec import SpecError
from ..stubs import read_text
from .bench import Bench
from .grade import Oracle, grade
from .lasting import Shift
from .verdicts import Report


@dataclass(frozen=True)
class Variant:
    """One variant, applied to the reference. named: the diagnosis that a wrong one must get; empty for a right one."""

    exercise: str
    name: str
    kind: Literal["wrong", "right"]
    named: str
    text: str


@dataclass(frozen=True)
class Outcome:
    """A graded variant. diagnosis: what its first failing check said, empty when it passed."""

    variant: Variant
    diagnosis: str
    report: Report

    @property
    def ok(self) -> bool:
        """A wrong one fails with the diagnosis it names, a right one passes."""
        if self.variant.kind == "right":
            return self.report.status == "passed"
        return self.report.status in ("failed", "error", "timeout") and self.diagnosis == self.variant.named


def apply_variant(reference: str, variant: str) -> str:
    """The reference's text with the variant's definitions and imports. Raises SourceError."""
    imports: list[str] = []
    text = reference
    for node in parse(variant).body:
        if isinstance(node, ast.ClassDef) and not has_definition(text, node.name):
            text = put_definition(text, variant, node.name)
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef)):
                    text = put_definition(text, variant, f"{node.name}.{method.name}")
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            text = put_definition(text, variant, node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)) and getattr(node, "module", "") != "__future__":
            imports.append(ast.unparse(node))
        elif not isinstance(node, (ast.Expr, ast.ImportFrom)):
            raise SourceError(f"line {node.lineno}: a variant holds imports, functions and classes of functions only")
    last = max((n.end_lineno or 0 for n in parse(text).body if isinstance(n, (ast.Import, ast.ImportFrom))), default=0)
    return replace_span(text, Span(last, last), imports)


def load_variants(root: Path, bench: Bench) -> list[Variant]:
    """The variants of one exercise, in order of name. Raises SpecError."""
    exercise = bench.place.exercise
    found: list[Variant] = []
    for path in sorted((root / exercise.variants_folder).glob("*.py")):
        name = path.relative_to(root).as_posix()
        try:
            text = read_text(path)
            kind, _, rest = (ast.get_docstring(parse(text)) or "").split("\n")[0].partition(": ")
            if kind not in ("wrong", "right") or not rest.strip():
                raise SpecError(f"{name}: its docstring must start with `wrong: <diagnosis>` or `right: <words>`")
            applied = apply_variant(bench.place.reference, text)
        except SourceError as error:
            raise SpecError(f"{name}: {error}") from error
        wrong = kind == "wrong"
        named = rest.strip() if wrong else ""
        found.append(Variant(exercise.id, path.stem, "wrong" if wrong else "right", named, applied))
    return found


def run_variants(
    root: Path, benches: Sequence[Bench], *, seed: int, oracle: Oracle, say: Callable[[str], None]
) -> list[Outcome]:
    """Grade every variant, two exercises at a time; the order of the answer and of what is said is fixed.

    The variants of an exercise take turns in one process. The first of them, in order of name a right one, finds it
    new, as a student's text does: what only imports of another exercise would make pass does not pass here.
    """
    loaded = [(bench, load_variants(root, bench)) for bench in benches]
    total = sum(len(variants) for _, variants in loaded)

    def run(bench: Bench, variant: Variant, shift: Shift) -> Outcome:
        stop, shown = variant.kind == "wrong", f"{bench.place.exercise.variants_folder}/{variant.name}.py"
        report = grade(bench, variant.text, seed=seed, oracle=oracle, shown=shown, stop=stop, start_child=shift)
        failed = report.first_failure
        return Outcome(variant, failed.diagnosis if failed else "", report)

    def run_all(job: tuple[Bench, Sequence[Variant]]) -> list[Outcome]:
        with Shift() as shift:
            return [run(job[0], variant, shift) for variant in job[1]]

    outcomes: list[Outcome] = []
    with ThreadPoolExecutor(2) as pool:
        for some in pool.map(run_all, loaded):
            for outcome in some:
                outcomes.append(outcome)
                name = f"{outcome.variant.exercise} {outcome.variant.name}"
                say(f"[{len(outcomes):>3}/{total}] {name}: {describe(outcome)}")
    return outcomes


def describe(outcome: Outcome) -> str:
    """One line on a variant."""
    seen = f"{outcome.report.status} [{outcome.diagnosis}]" if outcome.diagnosis else outcome.report.status
    if outcome.ok:
        return f"{seen}, as it should"
    failed = outcome.report.first_failure
    wanted = f"failed [{outcome.variant.named}]" if outcome.variant.kind == "wrong" else "passed"
    where = f" at {outcome.report.trace[-1]}" if outcome.report.trace else ""
    return f"WRONG: {seen}, should be {wanted}" + (f" ({failed.message}{where})" if failed else "")


def variants_json(outcomes: Sequence[Outcome]) -> str:
    """The report that other programs read."""
    rows = [
        {
            "exercise": o.variant.exercise,
            "name": o.variant.name,
            "kind": o.variant.kind,
            "diagnosis": o.diagnosis,
            "ok": o.ok,
        }
        for o in outcomes
    ]
    return json.dumps({"variants": rows}, indent=2, ensure_ascii=False) + "\n"
