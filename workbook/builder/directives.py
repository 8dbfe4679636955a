"""What the directives of a master stand for: quotes, exercise cards, the tree, tests."""

from __future__ import annotations

import ast
from pathlib import Path

from ..notebook.quote import quoted
from ..source import SourceError, find, parse
from ..spec import Exercise
from ..tree import PACKAGE, module_files, package_modules, render_tree
from .master import Block, BuildError, Master

_COLUMNS = 84  # of a notebook beside JupyterLab's list of files, on a small screen


class Directives:
    """The directives of one master, in order: what may be quoted depends on what came before."""

    def __init__(self, root: Path, master: Master, exercises: list[Exercise]) -> None:
        self.root, self.master, self.exercises = root, master, exercises
        self.files, self.chapters = module_files(root), package_modules(root)
        self.set_so_far: set[str] = set()

    def cell(self, block: Block) -> tuple[str, str]:
        """(cell kind, source) of one directive. Raises BuildError naming the master and the line."""
        makers = {
            "quote": self._quote,
            "quote-folded": self._quote_folded,
            "exercise": self._exercise,
            "tree": self._tree,
            "test": self._test,
        }
        try:
            if block.name not in makers:
                raise BuildError(f"no directive is called {block.name!r}")
            if block.folded and block.name not in ("quote-folded", "tree"):
                raise BuildError(f"{{{{{block.name}}}}} cannot stand inside <details>")
            return makers[block.name](block.text)
        except (BuildError, SourceError, OSError) as error:
            where = f"{self.master.path.name}, line {block.line}"
            raise BuildError(f"{where}: {{{{{block.name} {block.text}}}}}: {error}") from error

    def _definition(self, target: str) -> tuple[str, str, str]:
        """(module, qualname, text of the module) of a quote. Raises BuildError for a module of a later chapter."""
        module, _, qualname = target.partition(":")
        if module not in self.files or not qualname:
            raise BuildError(f"not of the form {PACKAGE}.module:Qualname")
        if self.chapters.get(module, 0) > self.master.chapter:
            raise BuildError(f"{module} belongs to chapter {self.chapters[module]:02d}")
        return module, qualname, self.files[module].read_text(encoding="utf-8-sig")

    def _asking(self, module: str, qualname: str) -> list[Exercise]:
        """The exercises of this or a later chapter that ask for a body inside what is quoted."""
        return [
            exercise
            for exercise in self.exercises
            if exercise.module == module
            and exercise.chapter >= self.master.chapter
            and any(
                name == qualname or name.startswith(f"{qualname}.") for name in (*exercise.bodies, *exercise.hidden)
            )
        ]

    def _quote(self, target: str) -> tuple[str, str]:
        module, qualname, text = self._definition(target)
        for exercise in self._asking(module, qualname):
            raise BuildError(
                f"exercise {exercise.id} asks for this body: it may only be quoted folded, after the exercise"
            )
        source = quoted(text, qualname).rstrip("\n")
        if isinstance(find(parse(text), qualname), ast.ClassDef):  # only functions can be edited
            return "markdown", f"```python\n{source}\n```"
        return "code", f"%%edit {module}:{qualname}\n{source}"

    def _quote_folded(self, target: str) -> tuple[str, str]:
        module, qualname, text = self._definition(target)
        for exercise in self._asking(module, qualname):
            if exercise.id not in self.set_so_far:
                raise BuildError(f"exercise {exercise.id} asks for this body and is not set before this line")
        summary = f"<details><summary><code>{qualname}</code> in <code>{module}</code></summary>"
        return "markdown", f"{summary}\n\n```python\n{quoted(text, qualname)}```\n\n</details>"

    def _exercise(self, id_: str) -> tuple[str, str]:
        exercise = next((e for e in self.exercises if e.id == id_ and e.chapter == self.master.chapter), None)
        if exercise is None:
            raise BuildError("this chapter has no such exercise")
        self.set_so_far.add(id_)
        task = (self.root / exercise.task_file).read_text(encoding="utf-8-sig").strip()
        return "markdown", _card(exercise, task)

    def _tree(self, _: str) -> tuple[str, str]:
        chapter, folder = self.master.chapter, self.root / PACKAGE
        new, whole = (render_tree(folder, chapter, chapter, _COLUMNS, only) for only in (True, False))
        folded = f"<details><summary>All files up to here</summary>\n\n```text\n{whole}\n```\n\n</details>"
        return "markdown", folded if new == whole else f"```text\n{new}\n```\n\n{folded}"

    def _test(self, target: str) -> tuple[str, str]:
        path, _, name = target.partition("::")
        chapter = int(path[8:10]) if path.startswith("tests/ch") and path[8:10].isdigit() else None
        if chapter is None or chapter > self.master.chapter or not name:
            raise BuildError("not of the form tests/chNN/test_x.py::test_name with NN up to this chapter")
        text = (self.root / path).read_text(encoding="utf-8-sig")
        return "code", f"%%test {target}\n{quoted(text, name.replace('::', '.'))}".rstrip("\n")


def _card(exercise: Exercise, task: str) -> str:
    bodies = ", ".join(f"`{name}`" for name in exercise.bodies)
    rows = [
        f"### Exercise {exercise.id} · {exercise.title}",
        "| difficulty | importance | time | length |\n|---|---|---|---|\n"
        f"| {_dots(exercise.difficulty)} | {_dots(exercise.importance)} | about {exercise.minutes} minutes "
        f"| about {exercise.lines} lines |",
        f"**Write** {bodies}  \n**in the file** `{exercise.file}`  \n**then run** `python judge.py {exercise.id}`",
        "The cells of this notebook go on using the package's own code; yours is what the judge runs.",
        task,
    ]
    for number, hint in enumerate(exercise.hints[:-1], 1):
        rows.append(f"<details><summary>Hint {number}</summary>\n\n{hint.strip()}\n\n</details>")
    # the last hint is all but the code: it takes a command to see it
    last = f"Hint {len(exercise.hints)}, the whole plan, is the last that"
    rows.append(f"{last} `python judge.py --hint {exercise.id}` shows.")
    return "\n\n".join(rows)


def _dots(count: int) -> str:
    return "●" * count + "○" * (5 - count)
