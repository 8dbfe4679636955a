"""The builder: the same bytes every time, quotes only where they give nothing away, outputs kept with their reasons."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.helpers.toybook import MODULE
from tests.helpers.toytree import BODY, HEAD, make_toytree, put
from workbook.builder.cli import main
from workbook.builder.derived import derive
from workbook.builder.master import BuildError
from workbook.tree import ROOT


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_toytree(tmp_path)


def read(root: Path) -> Any:
    reader: Any = nbformat.read
    return reader(root / "chapters/05_line.ipynb", as_version=4)


def snapshot(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def give_outputs(root: Path) -> None:
    """As if the notebook had been executed."""
    notebook, v4 = read(root), nbformat.v4
    new_output: Any = v4.new_output
    for count, cell in enumerate((c for c in notebook.cells if c.cell_type == "code"), 1):
        cell.execution_count = count
        cell.outputs = [new_output("stream", name="stdout", text=f"output {count}\n")]
    write: Any = nbformat.write
    write(notebook, root / "chapters/05_line.ipynb")


def test_the_notebook_holds_what_the_master_says(root: Path) -> None:
    assert main([], root) == 0
    notebook = read(root)
    code = [c for c in notebook.cells if c.cell_type == "code"]
    prose = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    assert [c.source.partition("\n")[0] for c in code] == [
        "%load_ext workbook.notebook",
        'print("one")',
        "%%edit minisgl_lite.line:Line.size",
        "1 + 1",
        "%%test tests/ch05/test_line.py::test_total",
    ]
    assert code[0].source.endswith("%chapter 05")
    assert code[2].source.endswith("@property\ndef size(self) -> int:\n    return len(self.numbers)")
    assert code[3].metadata["tags"] == ["measured", "nbval-ignore-output"]
    for text in ("not a cell {{quote x}}", "line.py", "python judge.py 05.1", "Write it.", "Hint 3", "Hello <s> 你好."):
        assert text in prose
    assert prose.index("Exercise 05.1") < prose.index("taken.append(self.numbers.pop(0))")
    assert "Late." not in prose
    assert len({c.id for c in notebook.cells}) == len(notebook.cells)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)


def test_what_follows_a_fold_is_a_cell_of_its_own(root: Path) -> None:
    fold = "<details><summary>One</summary>\n\n1.5 is\n\n```text\n\n1. x\n```\n\n</details>"
    put(root, "chapters/05_line.md", f"{HEAD}\n{fold}\n\n{fold}\n\n1. After\n2. it.\n\n{{{{exercise 05.1}}}}\n")
    main([], root)
    cells = [c.source for c in read(root).cells if c.cell_type == "markdown"]
    assert cells[0].endswith("</details>")
    assert cells[1] == "1. After\n2. it."
    assert cells[2].endswith("</details>")
    assert cells[3].startswith("Hint 3, ")


def test_quotes_leave_out_what_is_for_tools(root: Path) -> None:
    told = MODULE.replace("-> int:\n        return len", "-> int:  # type: ignore[x]\n        return len")
    assert told != MODULE
    put(root, "minisgl_lite/line.py", told + "\n\ndef more(  # fmt: skip\n    a: str\n) -> str:\n    return '# noqa'\n")
    put(root, "chapters/05_line.md", f"{HEAD}\n{{{{quote minisgl_lite.line:more}}}}\n\n{BODY}")
    assert main([], root) == 0
    text = "\n".join(c.source for c in read(root).cells)
    assert "def size(self) -> int:\n    return" in text
    assert "def more(\n    a: str\n) -> str:\n    return '# noqa'" in text


def test_stubs_are_written_and_old_ones_removed(root: Path) -> None:
    put(root, "exercises/ch05_line/stub/old.py", "")
    put(root, "chapters/03_old.ipynb", "{}")
    assert main([], root) == 0
    stub = (root / "exercises/ch05_line/stub/line.py").read_text(encoding="utf-8")
    assert 'raise NotImplementedError("exercise 05.1:' in stub
    assert not (root / "exercises/ch05_line/stub/old.py").exists()
    assert not (root / "chapters/03_old.ipynb").exists()


def test_building_again_changes_no_byte(root: Path) -> None:
    main([], root)
    give_outputs(root)
    main([], root)
    before = snapshot(root)
    main([], root)
    assert snapshot(root) == before
    assert b"\r" not in before["chapters/05_line.ipynb"]


def test_check_writes_nothing_and_names_what_differs(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = snapshot(root)
    assert main(["--check"], root) == 1
    said = capsys.readouterr().out
    assert "differs: chapters/05_line.ipynb" in said
    assert "differs: exercises/ch05_line/stub/line.py" in said
    assert "stale: chapters/05_line.ipynb (changed: it was never executed)" in said
    assert snapshot(root) == before


def test_outputs_and_ids_outlive_edits(root: Path) -> None:
    main([], root)
    give_outputs(root)
    before = read(root)
    put(root, "minisgl_lite/line.py", MODULE.replace("return len(self.numbers)", "return len(list(self.numbers))"))
    put(root, "chapters/05_line.md", (HEAD + BODY).replace("Hello", "Good day").replace('"one"', '"two"'))
    main([], root)
    after = read(root)
    old, new = ([c for c in n.cells if c.cell_type == "code"] for n in (before, after))
    assert "len(list(" in new[2].source
    assert [c.outputs for c in new] == [c.outputs for c in old]
    assert [a.id == b.id for a, b in zip(old, new, strict=True)] == [True, False, True, True, True]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{{quote minisgl_lite.line:Line.take}}", "exercise 05.1 asks for this body"),
        ("{{exercise 05.1}}\n\n{{quote minisgl_lite.line:Line.take}}", "exercise 05.1 asks for this body"),
        ("{{quote minisgl_lite.line:Line.head}}", "exercise 05.1 asks for this body"),
        ("{{quote minisgl_lite.line:Line}}", "exercise 05.1 asks for this body"),
        ("{{quote-folded minisgl_lite.line:Line.take}}\n\n{{exercise 05.1}}", "not set before this line"),
        ("{{quote minisgl_lite.line:Line.absent}}", "not defined"),
        ("{{quote minisgl_lite.absent:f}}", "not of the form"),
        ("{{quote minisgl_lite.late:f}}", "chapter 06"),
        ("{{exercise 05.9}}", "no such exercise"),
        ("{{test tests/ch06/test_x.py::test_a}}", "up to this chapter"),
        ("{{test tests/ch05/test_line.py::test_absent}}", "not defined"),
        ("{{picture x}}", "no directive"),
        ("text\n{{tree}}", "paragraph of its own"),
        ("<details>\n\n{{quote minisgl_lite.line:Line.size}}\n\n</details>", "inside <details>"),
        ("```python\n1 + 1", "not closed"),
        ("<details><summary>Why `used`?</summary>\n\nSo.\n\n</details>", "` in a summary"),
        ("<details><summary><code>__init__</code></summary>\n\nSo.\n\n</details>", "__ in a summary"),
        ("<details><summary>How many?</summary>\n\n1. With 10, none.\n\n</details>", "makes a list of '1. '"),
        ("How many?\n\n11. With 10, none.", "makes a list of '11. '"),
        ("```python tags=measured\n1 + 1\n```", "expected ```python"),
    ],
)
def test_refusals_name_file_line_and_reason(root: Path, body: str, message: str) -> None:
    put(root, "chapters/05_line.md", f"{HEAD}\n{body}\n")
    with pytest.raises(BuildError, match=r"05_line\.md, line \d+: ") as caught:
        derive(root)
    assert message in str(caught.value)


def test_an_earlier_chapter_does_not_give_away_a_body(root: Path) -> None:
    spec = (root / "exercises/ch05_line/spec.toml").read_text(encoding="utf-8")
    (root / "exercises/ch05_line").rename(root / "exercises/ch06_line")
    put(root, "exercises/ch06_line/spec.toml", spec.replace("chapter = 5", "chapter = 6").replace('"05.', '"06.'))
    for name in ("quote", "quote-folded"):
        put(root, "chapters/05_line.md", f"{HEAD}\n{{{{{name} minisgl_lite.line:Line.take}}}}\n")
        with pytest.raises(BuildError, match=r"06\.1"):
            derive(root)


@pytest.mark.parametrize(
    "head", ["# No front matter\n", HEAD.replace("minutes: 10\n", ""), HEAD.replace('"05"', '"04"')]
)
def test_a_front_matter_that_is_wrong(root: Path, head: str, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, "chapters/05_line.md", head)
    assert main([], root) == 1
    assert "05_line.md: the f" in capsys.readouterr().err


def test_two_masters_of_one_number_are_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(root, "chapters/05_other.md", HEAD)
    assert main([], root) == 1
    assert "05_line.md and 05_other.md are both chapter 05" in capsys.readouterr().err


def test_a_notebook_that_is_no_chapter_is_left_alone(root: Path) -> None:
    put(root, "chapters/Untitled.ipynb", "mine")
    assert main([], root) == 0
    assert (root / "chapters/Untitled.ipynb").read_text(encoding="utf-8") == "mine"


def test_trees_between_marks(root: Path) -> None:
    put(root, "README.md", "# R\n\n<!-- tree: minisgl_lite -->\nold\n<!-- /tree -->\n\nend\n")
    main([], root)
    text = (root / "README.md").read_text(encoding="utf-8")
    assert "└── line.py    A queue of numbers.\n```\n<!-- /tree -->\n\nend\n" in text
    assert "old" not in text


@pytest.fixture
def runnable(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))  # where the kernel finds workbook
    text = HEAD + "\n```python\nfrom minisgl_lite.line import total\n\nprint(total([1, 2]))\n```\n"
    put(root, "chapters/05_line.md", text)
    return root


def test_execution_stores_outputs_and_a_fingerprint(runnable: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--execute"], runnable) == 0
    assert main(["--check"], runnable) == 0
    notebook = read(runnable)
    code = [c for c in notebook.cells if c.cell_type == "code"]
    assert [c.execution_count for c in code] == [1, 2]
    assert code[1].outputs[0].text == "3\n"
    listed = notebook.metadata["minisgl_lite"]["fingerprint"]["modules"]
    assert list(listed) == ["minisgl_lite", "minisgl_lite.line"]
    put(runnable, "minisgl_lite/line.py", MODULE + "\n# changed\n")
    capsys.readouterr()
    assert main([], runnable) == 0
    assert "stale: chapters/05_line.ipynb (changed: minisgl_lite.line)" in capsys.readouterr().out


def test_a_cell_that_raises_is_named_and_the_notebook_left(runnable: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([], runnable)
    put(runnable, "chapters/05_line.md", HEAD + "\n```python\n1 / 0\n```\n")
    before = snapshot(runnable)
    assert main(["--execute"], runnable) == 1
    said = capsys.readouterr().err
    assert "cell 3 (1 / 0)" in said
    assert "ZeroDivisionError" in said
    assert snapshot(runnable) == before


def test_an_output_with_a_path_of_this_machine_is_refused(runnable: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(runnable, "chapters/05_line.md", HEAD + "\n```python\nimport minisgl_lite\n\nminisgl_lite.__file__\n```\n")
    assert main(["--execute"], runnable) == 1
    assert "names a path of this machine" in capsys.readouterr().err


def test_the_view_of_a_live_widget_is_not_stored(runnable: Path) -> None:
    bundle = '{"text/html": "<b>picture</b>", "application/vnd.jupyter.widget-view+json": {"model_id": "x"}}'
    cell = f"from IPython.display import display\n\ndisplay({bundle}, raw=True)"
    put(runnable, "chapters/05_line.md", HEAD + f"\n```python\n{cell}\n```\n")
    assert main(["--execute"], runnable) == 0
    assert [dict(c.outputs[0].data) for c in read(runnable).cells if c.get("outputs")] == [
        {"text/html": "<b>picture</b>"}
    ]
