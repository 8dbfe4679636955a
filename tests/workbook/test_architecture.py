"""The order of the chapters, the border of torch, and the sizes that keep files readable."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workbook.tree import PACKAGE, ROOT, module_files, package_modules

FILES = module_files()
CHAPTERS = package_modules()
# the table of choices names later modules as strings; the command line hands over to later commands
UNORDERED = {f"{PACKAGE}.choices", f"{PACKAGE}.__main__"}
TORCH_FREE = (
    "core",
    "config",
    "trace",
    "scheduler",
    "kvcache.pages",
    "kvcache.radix",
    "output_processor",
    "engine.lanes",
    "engine.virtual",
    "engine.shadow",
)
MAX_FILE, MAX_FUNCTION = 200, 40
# the public interface spells out every option: splitting it would hide them
LONGER = {"minisgl_lite/llm.py": 210}


def imports_of(module: str) -> Iterator[str]:
    """Every dotted name that a module imports, at its top or inside a function, as absolute names."""
    path = FILES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def test_every_module_names_its_chapter() -> None:
    unnamed = [name for name, path in FILES.items() if path.name != "__init__.py" and name not in CHAPTERS]
    assert unnamed == []


def test_no_module_imports_a_later_chapter() -> None:
    late = [
        f"{module} (chapter {CHAPTERS[module]:02d}) imports {name} (chapter {CHAPTERS[name]:02d})"
        for module in CHAPTERS
        if module not in UNORDERED
        for name in imports_of(module)
        if CHAPTERS.get(name, 0) > CHAPTERS[module]
    ]
    assert late == []


def test_the_engine_never_imports_the_classroom() -> None:
    assert [(m, n) for m in FILES for n in imports_of(m) if n.partition(".")[0] in ("workbook", "tests", "judge")] == []


def test_packages_hold_a_docstring_only() -> None:
    for name, path in FILES.items():
        if path.name == "__init__.py" and name != PACKAGE:
            body = ast.parse(path.read_text(encoding="utf-8")).body
            assert len(body) == 1, f"{name} holds more than a docstring"
            assert isinstance(body[0], ast.Expr), name


def test_decisions_import_without_torch_and_numpy() -> None:
    wanted = [f"{PACKAGE}.{part}" for part in TORCH_FREE]
    names = [name for w in wanted for name in FILES if name == w or name.startswith(f"{w}.")]
    assert {w for w in wanted if w in FILES} == set(wanted), "a name that is no module's"
    code = (
        "import importlib, sys\n"
        "sys.modules['torch'] = sys.modules['numpy'] = sys.modules['transformers'] = None\n"
        "for name in sys.argv[1:]:\n    importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *names], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def source_files() -> list[Path]:
    return [p for folder in (PACKAGE, "workbook", "tools") for p in sorted((ROOT / folder).rglob("*.py"))]


def test_files_are_short() -> None:
    sizes = {p.relative_to(ROOT).as_posix(): len(p.read_text(encoding="utf-8").splitlines()) for p in source_files()}
    assert {name: size for name, size in sizes.items() if size > LONGER.get(name, MAX_FILE)} == {}


@pytest.mark.parametrize("path", source_files(), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_functions_are_short(path: Path) -> None:
    """Lines of a function without its docstring and decorators."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node) is not None
            docstring = (node.body[0].end_lineno or 0) - node.body[0].lineno + 1 if documented else 0
            size = (node.end_lineno or 0) - node.lineno + 1 - docstring
            assert size <= MAX_FUNCTION, f"{path.name}: {node.name} has {size} lines"
