"""Notebook Markdown -> site Markdown: links, folds, attachments, and text that only looks like a tag."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from urllib.parse import unquote

from pymdownx.slugs import slugify

# `s` is left out on purpose: in a book about language models it is a token, not a struck-out text
_TAGS = (
    "a abbr b blockquote br caption code col colgroup dd del details div dl dt em figcaption figure h1 h2 h3 h4 h5 h6 "
    "hr i img ins kbd li mark ol p path picture pre q rect samp small source span strong sub summary sup svg table "
    "tbody td tfoot th thead tr u ul var video"
)
_TAG = re.compile(
    rf"</?(?:{_TAGS.replace(' ', '|')})(?:\s[^<>]*)?/?>|<!--.*?-->|<(?:https?://|mailto:)[^\s<>]*>", re.I | re.S
)
_FENCE = re.compile(r"^(?P<mark>(?P<fence>[`~])(?P=fence){2,})[^\n]*\n.*?^(?P=mark)(?P=fence)*[ \t]*$", re.M | re.S)
# a code span ends with its paragraph: a lone backtick must not swallow what comes after it
_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n|\n#{1,6} ).)+?)(?<!`)\1(?!`)", re.S)
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\((?P<target>[^()\s]+)(?P<title>\s+\"[^\"]*\")?\)"
)
_SLUG: Callable[[str, str], str] = slugify(case="lower")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply `change` to everything but fenced blocks and code spans."""

    def around(pattern: re.Pattern[str], text: str, change: Callable[[str], str]) -> str:
        parts, end = [], 0
        for match in pattern.finditer(text):
            parts += [change(text[end : match.start()]), match[0]]
            end = match.end()
        return "".join([*parts, change(text[end:])])

    return around(_FENCE, text, lambda prose: around(_CODE, prose, change))


def escape_tokens(text: str) -> str:
    """Escape every `<` that does not begin an HTML tag we use: `<s>`, `<|eot_id|>` and `a<b` stay visible text."""
    parts, end = [], 0
    for match in _TAG.finditer(text):
        parts += [text[end : match.start()].replace("<", "&lt;"), match[0]]
        end = match.end()
    return "".join([*parts, text[end:].replace("<", "&lt;")])


def fold(text: str) -> str:
    """Let Markdown work inside `<details>`."""
    return re.sub(r"<details(?![^>]*markdown)", '<details markdown="1"', text)


def unsearched_folds(html: str) -> str:
    """A rendered page whose folds are kept out of the search index.

    Each outermost fold gets a frame of its own: the search forgets what it leaves out at the first end tag of the same
    name, so a mark on a fold would not outlive a fold inside it.
    """
    parts, end, depth = [], 0, 0
    for match in re.finditer(r"<(/?)details\b[^>]*>", html):
        parts.append(html[end : match.start()])
        end = match.end()
        closing = bool(match[1])
        depth += -1 if closing else 1
        frame = '<section data-search-exclude="">' if (depth, closing) == (1, False) else ""
        parts += [frame, match[0], "</section>" if (depth, closing) == (0, True) else ""]
    return "".join([*parts, html[end:]])


def notebook_links(text: str, attachments: dict[str, str]) -> str:
    """Links of a notebook as links of its page: to other notebooks, to docs/, to headings, to attachments.

    attachments: attachment name -> file name on the site. Raises ValueError for an attachment that is missing.
    """

    def attached(name: str) -> str:
        if unquote(name) not in attachments:
            raise ValueError(f"attachment {name} is missing")
        return attachments[unquote(name)]

    def replace(match: re.Match[str]) -> str:
        target = match["target"]
        if target.startswith("attachment:"):
            target = attached(target.removeprefix("attachment:"))
        elif "://" not in target:
            path, mark, heading = target.partition("#")
            path = re.sub(r"\.ipynb$", ".md", path).replace("../docs/", "../", 1)
            # Jupyter makes `#The-loop` of "The loop"; the site makes `#the-loop` of it
            heading = _SLUG(unquote(heading).replace("-", " "), "-") if path.endswith(".md") or not path else heading
            target = path + mark + heading
        return f"{match['image']}[{match['text']}]({target}{match['title'] or ''})"

    text = re.sub(r'(<img[^>]*\bsrc=")attachment:([^"]*)', lambda m: m[1] + attached(m[2]), text)
    return _LINK.sub(replace, text)


def source_links(text: str, page: str, exists: Callable[[str], bool]) -> str:
    """Links to files of the repository that are no pages become plain text.

    page: the page's path in the repository. exists: whether a repository path is a file or folder. Dead links stay
    links, so that a strict build reports them.
    """

    def replace(match: re.Match[str]) -> str:
        target = match["target"].partition("#")[0]
        if match["image"] or not target or ":" in target or target.endswith(".ipynb"):
            return match[0]
        parts: list[str] = []
        for part in [*PurePosixPath(page).parent.parts, *PurePosixPath(unquote(target)).parts]:
            if part == ".." and parts:
                parts.pop()
            elif part not in ("..", "."):
                parts.append(part)
        inside = parts[:1] == ["docs"] or (parts[:1] == ["chapters"] and target.endswith(".md"))
        return match["text"] if not inside and exists("/".join(parts)) else match[0]

    return _LINK.sub(replace, text)
