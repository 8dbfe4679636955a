"""How the answers to exercise 08.1 are judged. Runs in the judge."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import Model, Text, judge_schedule, judge_turns, random_ops, random_traffic, show


def check_common_prefix(ask: Ask, rng: Random) -> Result:
    """How long two lists are equal, beside counting."""
    pairs = [[[], []], [[], [1]], [[1], [1]], [[1], [2]], [[7, 7, 7], [7, 7]], [[7, 7], [7, 7, 7]]]
    for length in range(1, 9):
        same = [rng.randrange(3) for _ in range(length)]
        for at in range(length):
            pairs.append([same, [*same[:at], 9, *same[at + 1 :]]])  # equal again behind the difference
            pairs.append([same, same[:at]])
    long = [rng.randrange(50) for _ in range(5000)]
    pairs += [[long, [*long[:at], -1, *long[at + 1 :]]] for at in (0, 1, 2499, 2500, 4998, 4999)]
    for (a, b), got in zip(pairs, ask("common", {"pairs": pairs}), strict=True):
        want = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
        if got != want or type(got) is not int:
            told = f"{a} and {b}" if len(a) < 20 else f"two lists of {len(a)} that differ at index {want}"
            again = f"; where do they differ first, not: where are they equal? (got {got!r}, expected {want})"
            return Result.failed("common-prefix-wrong", f"common_prefix of {told}{again}")
    return Result.ok(f"{len(pairs)} pairs")


def judge_matches(ask: Ask, name: str, size: int, ops: list[list[Any]]) -> Result:
    """Each operation beside the dictionary; the first difference is named."""
    model, ends = Model(size), set[Text]()
    for op, seen in zip(ops, ask("tree", {"page_size": size, "ops": ops}), strict=True):
        where = f"{name}, pages of {size}: {show(op)}"
        before, used = dict(model.pages), dict(model.used)
        if op[0] == "evict":
            model.evict(op[1])
        else:
            found = model.apply(op)
            result = Result.ok() if op[0] == "unlock" else judge_match(where, op[1], seen, found, before, ends)
            if result.verdict != "ok":
                return result
        result = judge_marks(where, seen, model, used)
        if result.verdict != "ok":
            return result
        ends = {tuple(text) for text, _, _, _, end in seen["texts"] if end}
    return Result.ok()


def judge_match(
    where: str,
    ids: list[int],
    seen: dict[str, Any],
    found: list[Text],
    before: dict[Text, int],
    ends: set[Text],
) -> Result:
    """The pages that a match returned, and the node."""
    want, got = [before[text] for text in found], seen["pages"]
    if seen["aliased"]:
        message = (
            f"{where}: the list of pages returned is the `pages` of a node itself (aliasing): whoever appends to it"
        )
        return Result.failed("returns-the-nodes-own-list", f"{message} changes the tree; start with a list of your own")
    if got != want:
        message = f"{where}: found pages {got}; expected {want}"
        return Result.failed(name_pages(ids, got, want, found, before, ends), message)
    if seen["way"] != want:
        message = (
            f"{where}: the pages found are right, but those from the root to the node returned are {seen['way']}, "
            f"not {want}: a lock on that node would protect the wrong pages"
        )
        return Result.failed("match-ends-inside-a-node", message)
    return Result.ok()


def name_pages(
    ids: list[int],
    got: list[int],
    want: list[int],
    found: list[Text],
    before: dict[Text, int],
    ends: set[Text],
) -> str:
    """What wrong pages say about the mistake."""
    if got[: len(want)] == want:  # too many
        text = next((text for text, page in before.items() if page == got[len(want)]), ())
        start = len(found[-1]) if found else 0
        begins_alike = list(text[start : start + 1]) == ids[start : start + 1]
        return "part-of-a-page-matched" if begins_alike else "another-text-matched"
    if want[: len(got)] == got:  # too few
        inside = found[-1] not in ends
        last_end = max((len(text) for text in found if text in ends), default=0)
        if inside and sum(len(text) <= last_end for text in found) == len(got):
            return "only-whole-nodes-matched"
        return "stops-too-early"
    return "pages-out-of-order"


def judge_marks(where: str, seen: dict[str, Any], model: Model, used: dict[Text, int]) -> Result:
    """What is cached, and when it was last used."""
    cached = {tuple(text): page for text, page, *_ in seen["texts"]}
    if cached != model.pages:
        gone = model.pages.keys() - cached.keys()
        what = f"{len(gone)} cached texts are gone" if gone else "texts are cached that should not be"
        return Result.failed("match-changes-what-is-cached", f"{where}: {what}")
    if seen["clock"] != model.time:
        message = f"{where}: after match {model.time} the clock is {seen['clock']}: each match moves it on by one"
        return Result.failed("clock-not-moved", message)
    for text, page, _, when, _ in sorted(seen["texts"], key=lambda entry: len(entry[0])):
        want = model.used[tuple(text)]
        if when != want:
            old = used.get(tuple(text))
            diagnosis = "way-not-marked-as-used" if want == model.time else "marks-more-than-it-matched"
            message = f"{where}: page {page} was last used at {want}; it is marked {when} (before: {old})"
            return Result.failed(diagnosis, message)
    if seen["broken"]:
        return Result.failed("tree-broken", f"{where}: {seen['broken']}")
    return Result.ok()


HAND: list[tuple[str, int, list[list[Any]]]] = [
    ("an empty tree", 1, [["match", [1, 2, 3]], ["match", []]]),
    (
        "one text",
        1,
        [
            ["insert", [1, 2, 3, 4], [10, 11, 12, 13]],
            ["match", [1, 2, 3, 4]],
            ["match", [1, 2, 3, 4, 5]],
            ["match", [2]],
        ],
    ),
    (
        "a match that ends inside a node",
        1,
        [["insert", [1, 2, 3, 4], [10, 11, 12, 13]], ["match", [1, 2, 7]], ["match", [1, 2, 3, 4]], ["match", [1, 2]]],
    ),
    (
        "whole pages only",
        3,
        [
            ["insert", [1, 2, 3, 4, 5, 6], [10, 11]],
            ["match", [1, 2, 3, 4, 5]],
            ["match", [1, 2]],
            ["match", [1, 2, 9, 4, 5, 6]],
            ["match", [1, 2, 3, 4, 5, 9]],
            ["match", [1, 2, 3, 4, 5, 6]],
        ],
    ),
    (
        "three texts that part in different places",
        2,
        [
            ["insert", [1, 1, 2, 2, 3, 3, 4, 4], [10, 11, 12, 13]],
            ["insert", [1, 1, 2, 2, 5, 5], [20, 21, 22]],
            ["insert", [1, 1, 6, 6], [30, 31]],
            ["match", [1, 1, 2, 2, 5, 5, 8, 8]],
            ["match", [1, 1, 2, 2, 3, 3, 4, 4]],
            ["match", [1, 1, 6, 6]],
        ],
    ),
]


def check_by_hand(ask: Ask, rng: Random) -> Result:
    """Small trees: the pages, the node where the match ends, what is marked as used."""
    for name, size, ops in HAND:
        result = judge_matches(ask, name, size, ops)
        if result.verdict != "ok":
            return result
    return Result.ok(f"{len(HAND)} trees")


def check_random_texts(ask: Ask, rng: Random) -> Result:
    """Random texts that begin alike, with locks and eviction, beside a dictionary of all beginnings."""
    for number in range(12):
        size = (1, 2, 3, 4)[number % 4]
        result = judge_matches(ask, f"random tree {number}", size, random_ops(rng, size, 40, "mmmiiiklue"))
        if result.verdict != "ok":
            return result
    return Result.ok("12 trees, 40 operations each")


def check_shared_schedules(ask: Ask, rng: Random) -> Result:
    """Random traffic with shared beginnings on the shadow engine."""
    for _ in range(10):
        result = judge_schedule(ask, random_traffic(rng))
        if result.verdict != "ok":
            return result
    return Result.ok("10 random schedules")


def check_second_turns(ask: Ask, rng: Random) -> Result:
    """The bundled model, pages of 1 and 4: Hugging Face's tokens, and a second turn computes only what is new."""
    for size in (1, 4):
        result = judge_turns(ask, rng, size, 2048 // size)
        if result.verdict != "ok":
            return result
    return Result.ok("two page sizes")
