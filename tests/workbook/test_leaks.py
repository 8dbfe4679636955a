"""What an exercise asks for, and its hints, are shown in folds only: not in stubs, pages, search, outputs, metadata."""

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.helpers.realsite import build_site, unfolded
from tests.helpers.toybook import MODULE, SPEC
from tests.helpers.toytree import BODY, HEAD, make_toytree, put
from workbook.builder.cli import main
from workbook.lab import copy_notebooks

SECRETS = {"body": "zanzibar_body", "helper": "zanzibar_helper", "comment": "zanzibar comment", "hint": "zanzibar_hint"}
MODULE_WITH_SECRETS = (
    MODULE.replace("taken: list[int] = []", "zanzibar_body: list[int] = []")
    .replace("taken", "zanzibar_body")
    .replace("寿司 comes in order", "zanzibar comment")
    .replace("return self.numbers[0] if", "zanzibar_helper = self.numbers\n        return zanzibar_helper[0] if")
)
LINES = "zanzibar_body: list[int] = []\nzanzibar_body.append(self.numbers.pop(0))"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_toytree(tmp_path / "tree")
    put(root, "minisgl_lite/line.py", MODULE_WITH_SECRETS)
    spec = SPEC.replace("toy.line", "minisgl_lite.line").replace("Look at the head.", "Look at `zanzibar_hint`.")
    put(root, "exercises/ch05_line/spec.toml", spec)
    return root


def read(root: Path) -> Any:
    reader: Any = nbformat.read
    return reader(root / "chapters/05_line.ipynb", as_version=4)


def test_a_secret_is_in_folds_and_nowhere_else(root: Path, tmp_path: Path) -> None:
    assert main([], root) == 0
    copy_notebooks(root)
    stub = (root / "exercises/ch05_line/stub/line.py").read_text(encoding="utf-8")
    assert not [secret for secret in SECRETS.values() if secret in stub]
    for folder in ("chapters", "work/chapters"):
        text = (root / folder / "05_line.ipynb").read_text(encoding="utf-8")
        sources = "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)  # type: ignore[no-untyped-call]
        assert text.count("zanzibar") == sources.count("zanzibar") > 0
        assert "zanzibar" not in unfolded(sources)
    out = build_site(root, tmp_path / "out")
    pages = {p.relative_to(out).as_posix(): p.read_bytes() for p in out.rglob("*") if p.is_file()}
    with_secrets = {name for name, content in pages.items() if b"zanzibar" in content}
    assert with_secrets == {"chapters/05_line.html", "chapters/05_line.ipynb"}
    html = pages["chapters/05_line.html"].decode("utf-8")
    assert "zanzibar" not in unfolded(html)
    assert b"Exercise 05.1" in pages["search/search_index.json"]
    assert b"Numbers from the front while their sum fits" in pages["api.html"]


CODE = f"```python\n{LINES}\n```"


@pytest.mark.parametrize("place", [CODE, f"Look:\n\n```text\n{LINES}\n```", f"<details>\n\nx\n\n</details>\n\n{CODE}"])
def test_a_body_in_the_open_is_refused(root: Path, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, "chapters/05_line.md", f"{HEAD}{BODY}\n## More\n\n{place}\n")
    assert main([], root) == 1
    said = capsys.readouterr().err
    assert re.search(r"05_line.ipynb, cell \d+: its text shows Line.take, which exercise 05.1 asks for", said)
    assert not (root / "chapters/05_line.ipynb").exists()


@pytest.mark.parametrize("kind", ["stream", "traceback", "html", "metadata"])
def test_an_output_that_quotes_a_body_is_refused(root: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([], root) == 0
    notebook = read(root)
    cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
    numbered = "\n".join(
        f"\x1b[1;32m{'---> ' if i else '     '}{i}\x1b[0m     {x}" for i, x in enumerate(LINES.split("\n"))
    )
    output: Any = nbformat.v4.new_output
    cell.outputs = {
        "stream": [output("stream", name="stdout", text=LINES + "\n")],
        "traceback": [output("error", ename="E", evalue="e", traceback=["in take", numbered])],
        "html": [output("display_data", data={"text/html": f"<pre>{LINES.replace('.', '<b>.</b>')}</pre>"})],
        "metadata": [output("display_data", data={"text/plain": "x"}, metadata={"source": LINES.split("\n")})],
    }[kind]
    write: Any = nbformat.write
    write(notebook, root / "chapters/05_line.ipynb")
    assert main(["--check"], root) == 1
    assert "its output shows Line.take, which exercise 05.1 asks for" in capsys.readouterr().err


def test_an_earlier_chapter_is_refused_and_a_later_one_free(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number, status in (("04", 1), ("06", 0)):
        put(root, f"chapters/{number}_x.md", HEAD.replace('"05"', f'"{number}"') + f"\n{CODE}\n")
        assert main([number], root) == status, capsys.readouterr().err
        (root / f"chapters/{number}_x.md").unlink()
