"""`%%edit`: every holder of a function sees the edit, a broken edit changes nothing, a reset restores."""

import importlib
import inspect
import itertools
import sys
import traceback
from pathlib import Path
from types import ModuleType

import pytest

from workbook.notebook.edit import Editor
from workbook.notebook.quote import quoted
from workbook.notebook.recompile import EditError

SOURCE = '''"""A module to edit."""

from __future__ import annotations

import contextlib
import functools
from dataclasses import dataclass

STEP = 1


def shout(text: str) -> str:
    """Loud."""
    return text.upper()


class Base:
    size = 3

    def greet(self) -> str:
        return "base"

    def plain(self) -> str:
        return "plain"


class Child(Base):
    def greet(self) -> str:
        return "child of " + super().greet()

    def plain(self) -> str:
        return "own plain"

    @property
    def name(self) -> str:
        return "child"

    @name.setter
    def name(self, value: str) -> None:
        self.given = value

    @staticmethod
    def fixed(n: int) -> int:
        return n

    @classmethod
    def made(cls, n: int = STEP) -> str:
        return f"{cls.__name__} {n}"

    def counted(self, n: int = 1, *, times: int = 2) -> int:
        return n * times

    def numbers(self):
        yield 1
        yield 2

    @contextlib.contextmanager
    def opened(self):
        yield "open"

    @functools.cached_property
    def cached(self) -> int:
        return 1


class Slotted:
    __slots__ = ("value",)

    def read(self) -> int:
        return self.value


@dataclass(frozen=True, slots=True)
class Data:
    value: int

    def doubled(self) -> int:
        """Twice."""
        return self.value * 2


class Outer:
    class Inner:
        def deep(self) -> str:
            text = """
a line at the margin
"""
            return text
'''
_count = itertools.count()


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    name = f"edited_module_{next(_count)}"
    (tmp_path / f"{name}.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return importlib.import_module(name)


def edit(editor: Editor, module: ModuleType, qualname: str, old: str, new: str) -> str | None:
    cell = quoted(SOURCE, qualname)
    assert old in cell
    return editor.apply(f"{module.__name__}:{qualname}", cell.replace(old, new))


def test_an_unchanged_cell_does_nothing(module: ModuleType) -> None:
    editor, code = Editor(), module.Child.greet.__code__
    assert editor.apply(f"{module.__name__}:Child.greet", quoted(SOURCE, "Child.greet")) is None
    assert module.Child.greet.__code__ is code
    assert editor.edited == []


def test_names_imported_elsewhere_follow(module: ModuleType) -> None:
    held, holders = module.shout, [module.shout]
    editor = Editor()
    assert "edited" in str(edit(editor, module, "shout", "text.upper()", "text + '!'"))
    assert (held("a"), holders[0]("a"), module.shout("a")) == ("a!", "a!", "a!")
    assert editor.reset_all() == [f"{module.__name__}:shout"]
    assert held("a") == "A"
    assert held.__doc__ == "Loud."


def test_bound_methods_and_super_follow(module: ModuleType) -> None:
    editor, bound = Editor(), module.Child().greet
    edit(editor, module, "Base.greet", '"base"', '"new base"')
    assert bound() == "child of new base"
    edit(editor, module, "Child.greet", '"child of "', '"kid of "')
    assert bound() == "kid of new base"
    editor.reset_all()
    assert bound() == "child of base"


def test_super_may_go_and_come(module: ModuleType) -> None:
    editor, without, with_it = Editor(), module.Child().greet, module.Child().plain
    edit(editor, module, "Child.greet", '"child of " + super().greet()', '"alone"')
    assert without() == "alone"
    edit(editor, module, "Child.plain", '"own plain"', '"under " + super().plain()')
    assert with_it() == "under plain"
    edit(editor, module, "Child.plain", '"own plain"', '"again " + super().plain()')
    assert with_it() == "again plain"
    editor.reset_all()
    assert (without(), with_it()) == ("child of base", "own plain")


def test_property_static_class_cached_and_context_manager(module: ModuleType) -> None:
    editor, child = Editor(), module.Child()
    edit(editor, module, "Child.name", "self.given = value", "self.given = value * 2")
    child.name = "ab"
    assert (child.given, child.name) == ("abab", "child")
    edit(editor, module, "Child.fixed", "return n", "return n + 1")
    edit(editor, module, "Child.made", "{n}", "<{n}>")
    edit(editor, module, "Child.cached", "return 1", "return 5")
    edit(editor, module, "Child.opened", '"open"', '"ajar"')
    with child.opened() as state:
        assert (child.fixed(1), child.made(), child.cached, state) == (2, "Child <1>", 5, "ajar")


def test_defaults_and_annotations(module: ModuleType) -> None:
    editor, bound = Editor(), module.Child().counted
    edit(editor, module, "Child.counted", "n: int = 1, *, times: int = 2", "n: float = STEP + 4, *, times: int = 3")
    assert bound() == 15
    assert inspect.signature(module.Child.counted).parameters["n"].annotation == "float"
    edit(editor, module, "Base.greet", "(self) -> str:\n    return", "(self, n=size):\n    return n or")
    assert module.Base().greet() == 3  # a name of the class body, as where the function stands
    with pytest.raises(EditError, match="nowhere"):
        edit(editor, module, "Child.made", "STEP", "nowhere")
    editor.reset_all()
    assert bound() == 2


def test_generator_slots_dataclass_and_nested(module: ModuleType) -> None:
    editor, data, slotted = Editor(), module.Data(2), module.Slotted()
    slotted.value = 7
    edit(editor, module, "Child.numbers", "yield 2", "yield 3")
    edit(editor, module, "Slotted.read", "self.value", "self.value + 1")
    edit(editor, module, "Data.doubled", "* 2", "* 3")
    edit(editor, module, "Outer.Inner.deep", "a line", "one line")
    assert list(module.Child().numbers()) == [1, 3]
    assert (slotted.read(), data.doubled()) == (8, 6)
    assert module.Outer.Inner().deep() == "\none line at the margin\n"


def test_the_original_text_restores_one_function(module: ModuleType) -> None:
    editor = Editor()
    edit(editor, module, "shout", "text.upper()", "text")
    said = editor.apply(f"{module.__name__}:shout", quoted(SOURCE, "shout"))
    assert "again" in str(said)
    assert module.shout("a") == "A"


def test_a_traceback_shows_the_edited_line(module: ModuleType) -> None:
    edit(Editor(), module, "Base.plain", 'return "plain"', "return 1 / 0  # mine")
    try:
        module.Base().plain()
    except ZeroDivisionError:
        assert "return 1 / 0  # mine" in traceback.format_exc()


@pytest.mark.parametrize(
    ("qualname", "cell", "message"),
    [
        ("shout", "def shout(text):\n    return (", "was never closed"),
        ("shout", "def whisper(text):\n    return text\n", "defines whisper, not shout"),
        ("shout", "def shout(text):\n    return text\n\n\ndef more():\n    pass\n", "exactly one function"),
        ("shout", "x = 1\n", "exactly one function"),
        ("shout", "", "exactly one function"),
        ("shout", "def shout(text):\nreturn text\n", "expected an indented block"),
        ("shout", "def shout(text):\n    return text\n    yield from await x\n", "nothing was changed"),
        ("shout", "def shout(text=nowhere):\n    return text\n", "nowhere"),
        ("shout", "def shout(text):\n    break\n", "outside loop"),
        ("Child.fixed", "def fixed(n):\n    return n\n", "decorators"),
        ("absent", "def absent():\n    pass\n", "not defined"),
        ("Child", "class Child:\n    pass\n", "not a function"),
    ],
)
def test_a_broken_edit_says_why_in_one_line_and_changes_nothing(
    module: ModuleType, qualname: str, cell: str, message: str
) -> None:
    editor, before = Editor(), (module.shout.__code__, module.Child.fixed.__code__)
    with pytest.raises(EditError, match=message) as caught:
        editor.apply(f"{module.__name__}:{qualname}", cell)
    assert "\n" not in str(caught.value)
    assert (module.shout.__code__, module.Child.fixed.__code__) == before
    assert editor.edited == []


@pytest.mark.parametrize("target", ["", "nothing", "no.such.module:f", ":f"])
def test_a_target_that_is_not_there(target: str) -> None:
    with pytest.raises(EditError):
        Editor().apply(target, "def f():\n    pass\n")


def test_every_function_of_the_package_can_be_edited() -> None:
    """Quoted, changed by a comment and recompiled: its own code, constant for constant."""
    import ast

    from workbook.tree import module_files

    editor, count = Editor(), 0
    for name in ("minisgl_lite.scheduler.scheduler", "minisgl_lite.scheduler.prefill", "minisgl_lite.core"):
        importlib.import_module(name)
        text = module_files()[name].read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            methods = [f"{node.name}.{m.name}" for m in node.body if isinstance(m, ast.FunctionDef)] if isinstance(
                node, ast.ClassDef
            ) else [node.name] if isinstance(node, ast.FunctionDef) else []  # fmt: skip
            for qualname in methods:
                assert editor.apply(f"{name}:{qualname}", quoted(text, qualname).rstrip() + "  # edited\n")
                count += 1
    assert count > 20
    assert len(editor.reset_all()) == count
    assert "minisgl_lite.scheduler.prefill" in sys.modules
