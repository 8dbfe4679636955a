"""Chapters of modules, the drawing, and hiding what comes later."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from workbook.tree import ROOT, chapter_of_source, docstring_of, module_files, package_modules, render_tree


def test_the_chapter_is_read_from_the_docstring_alone() -> None:
    assert chapter_of_source('"""Things. Chapter 07."""\n') == 7
    assert chapter_of_source('"""Chapter 12: more.\n\nSee Chapter 03."""\n') == 12
    assert chapter_of_source('"""No number: Chapter 7."""\n') is None
    assert chapter_of_source("# Chapter 07\n") is None
    assert chapter_of_source('x = 1\n"""Chapter 07."""\n') is None


def test_a_docstring_is_what_python_takes_for_it() -> None:
    for path in (*module_files().values(), *(ROOT / "workbook").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert docstring_of(text) == (ast.get_docstring(ast.parse(text)) or ""), path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# no\n",
        '"""a"""',
        '"""a""" + b\n',
        '"""a"""; b = 1\n',
        '"""a"""  # a comment\n',
        '"""a"""\n"""b"""\n',
        '"""a" "b\n"""\n',
        '"""a\\"""b"""\n',
        'r"""a"""\n',
        'f"""a"""\n',
        '"""a""" \\\n"""b"""\n',
        '# -*- coding: utf-8 -*-\n"""a"""\n',
        '\n\n"""a\n    b\n    """\n',
        "'''a'''\n",
        '"a"\n',
    ],
)
def test_docstrings_of_all_forms(text: str) -> None:
    assert docstring_of(text) == (ast.get_docstring(ast.parse(text)) or "")


def test_modules_have_their_chapters() -> None:
    chapters = package_modules()
    assert chapters["minisgl_lite.core"] == 3
    assert chapters["minisgl_lite.scheduler.prefill"] == 5
    assert list(chapters) == sorted(chapters)


def make(root: Path) -> Path:
    package = root / "minisgl_lite"
    (package / "late").mkdir(parents=True)
    (package / "__init__.py").write_text('"""The engine."""\n', encoding="utf-8")
    (package / "early.py").write_text('"""First things. Chapter 01."""\n', encoding="utf-8")
    (package / "new.py").write_text('"""新 things: Chapter 05.\n\nMore."""\n', encoding="utf-8")
    (package / "late" / "__init__.py").write_text('"""Later."""\n', encoding="utf-8")
    (package / "late" / "far.py").write_text('"""Far away. Chapter 09."""\n', encoding="utf-8")
    (package / "blank.py").write_text("", encoding="utf-8")
    return package


def test_the_drawing(tmp_path: Path) -> None:
    package = make(tmp_path)
    assert render_tree(package, 5, 5).splitlines() == [
        "minisgl_lite/       The engine.",
        "├── early.py        First things.",
        "└── new.py     new  新 things:",
    ]
    assert "└── far.py  Far away." in render_tree(package)
    assert "late" not in render_tree(package, 5)
    new = render_tree(package, 5, 5, only_new=True)
    assert new.splitlines() == ["minisgl_lite/       The engine.", "└── new.py     new  新 things:"]


def test_a_long_line_goes_on_below_under_the_bars(tmp_path: Path) -> None:
    package = make(tmp_path)
    (package / "late" / "last.py").write_text('"""One two three four. Chapter 09."""\n', encoding="utf-8")
    assert render_tree(package, columns=26).splitlines() == [
        "minisgl_lite/    The",
        "│                engine.",
        "├── early.py     First",
        "│                things.",
        "├── new.py       新 things:",
        "└── late/        Later.",
        "    ├── far.py   Far away.",
        "    └── last.py  One two",
        "                 three",
        "                 four.",
    ]


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_later_chapters_are_hidden() -> None:
    assert run(
        "from workbook.tree import limit_to\n"
        "limit_to(3)\n"
        "limit_to(3)\n"
        "import sys, minisgl_lite.core\n"
        "try:\n    import minisgl_lite.kvcache.pages\n"
        "except ModuleNotFoundError as error:\n    print(error.name)\n"
        "try:\n    from minisgl_lite.kvcache import pages\n"
        "except ImportError as error:\n    print('no pages')\n"
        "print(sum(type(f).__name__ == 'LaterChapters' for f in sys.meta_path))\n"
        "limit_to(4)\n"
        "from minisgl_lite.kvcache import pages\n"
        "print(pages.__name__)"
    ).splitlines() == ["minisgl_lite.kvcache.pages", "no pages", "1", "minisgl_lite.kvcache.pages"]


def test_what_was_imported_cannot_be_hidden() -> None:
    assert "minisgl_lite.kvcache.pages" in run(
        "import minisgl_lite.kvcache.pages\n"
        "from workbook.tree import limit_to\n"
        "try:\n    limit_to(3)\n"
        "except RuntimeError as error:\n    print(error)"
    )
