"""The HTML around a picture: an image for everybody, and a script that turns it into a player."""

from __future__ import annotations

import hashlib
import json
from html import escape
from pathlib import Path
from urllib.parse import quote

_HERE = Path(__file__).parent
# characters that may stand as they are in a double-quoted attribute and in a data address
_PLAIN = " <>=/:;,'()!*.-_{}@|"


def player(svg: str, alt: str, paint: str = "") -> str:
    """The picture as an image, which also an untrusted notebook shows, and the script that makes a player of it.

    The player steps through the groups `<g class="c" data-k="k">` of the picture; a picture without any is shown as it
    is, light or dark as the page is. paint: name of a script of this folder that changes more with each step. Equal
    pictures give equal bytes; nothing is asked of a kernel or a network.
    """
    uid = "rv" + hashlib.sha256(svg.encode()).hexdigest()[:12]
    script, style = _text("rounds.js"), _text("rounds.css")
    more = f", {_text(paint)}" if paint else ""
    return (
        f'<div id="{uid}" class="round-viewer" data-lm-suppress-shortcuts="true">'
        f'<img alt="{escape(alt)}" src="data:image/svg+xml;charset=utf-8,{quote(svg, safe=_PLAIN)}"></div>\n'
        f"<script>\n({script})({json.dumps(uid)}, {json.dumps(style)}{more});\n</script>"
    )


def _text(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8").strip()
