"""`python -m workbook site`: build the website into site/, or serve it while its sources change."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .figures import write

ROOT = Path(__file__).resolve().parents[2]
# the one language there is so far; a second one is a sibling folder with a configuration of its own
LANGUAGE = "en"
REDIRECT = f"""<!doctype html>
<html lang="{LANGUAGE}"><head><meta charset="utf-8"><title>minisgl_lite</title>
<meta http-equiv="refresh" content="0; url={LANGUAGE}/index.html"></head>
<body><a href="{LANGUAGE}/index.html">minisgl_lite</a></body></html>
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Build or serve; the exit status of MkDocs."""
    parser = argparse.ArgumentParser(prog="python -m workbook site", description=__doc__)
    parser.add_argument("--serve", action="store_true", help="serve on this machine and rebuild on every change")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--out", type=Path, default=ROOT / "site", help="folder to build into (default: site)")
    parser.add_argument("--figures", action="store_true", help="only write the derived pictures under docs/assets")
    options = parser.parse_args(argv)
    if options.figures:
        write(ROOT)
        return 0
    if options.serve:
        return _mkdocs("serve", "-a", f"127.0.0.1:{options.port}")
    status = _mkdocs("build", "--strict", "--clean", "-d", str(options.out.resolve() / LANGUAGE))
    if status == 0:
        (options.out / "index.html").write_text(REDIRECT, encoding="utf-8")
        print(f"built: open {options.out / 'index.html'}")
    return status


def _mkdocs(*arguments: str) -> int:
    # two announcements about MkDocs' successors, on every build
    quiet = {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    command = [sys.executable, "-m", "mkdocs", arguments[0], "-f", str(ROOT / "mkdocs.yml"), *arguments[1:]]
    try:
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **quiet}, check=False).returncode
    except KeyboardInterrupt:
        return 0
