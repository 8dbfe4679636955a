"""A small tree to build: a package with one module to quote, an exercise, a test and the master of one chapter."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.toybook import MODULE, SPEC

HEAD = (
    '---\ntitle: "A line"\nnumber: "05"\npart: "Many"\nminutes: 10\ndifficulty: 2\n---\n\n# A line\n\nHello <s> 你好.\n'
)
BODY = """
## Code

{{tree}}

```python
print("one")
```

{{quote minisgl_lite.line:Line.size}}

```python tags=["measured"]
1 + 1
```

```text
not a cell {{quote x}}
```

{{exercise 05.1}}

<details><summary>Solution</summary>

{{quote-folded minisgl_lite.line:Line.take}}

</details>

{{test tests/ch05/test_line.py::test_total}}
"""


def put(root: Path, name: str, text: str) -> None:
    """Write a file, making its folder."""
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8", newline="\n")


def make_toytree(root: Path) -> Path:
    """Write the tree into an empty folder; returns it."""
    put(root, "minisgl_lite/__init__.py", '"""The engine."""\n')
    put(root, "minisgl_lite/line.py", MODULE)
    put(root, "minisgl_lite/late.py", '"""Late. Chapter 06."""\n\n\ndef f() -> None:\n    """F."""\n')
    put(root, "exercises/ch05_line/spec.toml", SPEC.replace("toy.line", "minisgl_lite.line"))
    put(root, "exercises/ch05_line/05.1.md", "Write it.\n")
    put(root, "tests/ch05/test_line.py", "def test_total():\n    assert 1 + 1 == 2\n")
    put(root, "chapters/05_line.md", HEAD + BODY)
    return root
