"""How the answers to exercise 10.3 are judged. Runs in the judge: a brute force over all ends of the text."""

from __future__ import annotations

from random import Random
from typing import Any

from workbook.judge.checklib import Ask, Result

from .common import oracle_prompts

Text = tuple[list[str], list[str]]
"""(stop strings, the pieces of a text)"""


def cut(stops: list[str], text: str) -> tuple[str, str]:
    """(the text before the first stop string, that stop), or (the text, "") where none is."""
    for end in range(1, len(text) + 1):
        here = [stop for stop in stops if text[:end].endswith(stop)]
        if here:
            first = max(here, key=len)
            return text[: end - len(first)], first
    return text, ""


def certain(stops: list[str], text: str) -> str:
    """What may be shown of a text that goes on: all but the longest end that a stop string begins with."""
    shown, found = cut(stops, text)
    if found:
        return shown
    held = max((n for stop in stops for n in range(1, len(stop)) if text.endswith(stop[:n])), default=0)
    return text[: len(text) - held]


def judge(ask: Ask, texts: list[Text]) -> Result:
    """Each push of each text beside what it must let through."""
    for (stops, pieces), got in zip(texts, ask("stops", {"texts": [list(t) for t in texts]}), strict=True):
        told = shown = ""
        if cut(stops, "".join(pieces))[1] and not any(found for _, found in got["pushes"]):
            across = not any(stop in piece for stop in stops for piece in pieces)
            message = f"stop strings {stops}, pieces {pieces}: found is never True"
            return Result.failed("stop-missed-across-pieces" if across else "stop-missed", message)
        for i, (piece, (new, found)) in enumerate(zip(pieces, got["pushes"], strict=True)):
            told, shown = told + piece, shown + new
            where = f"stop strings {stops}, pieces {pieces[: i + 1]}: shown {shown!r}"
            result = judge_push(stops, told, piece, shown, found, where)
            if result.verdict != "ok":
                return result
        text, stop = cut(stops, told)
        if shown + got["flush"] != text:
            what = "held-text-after-the-stop" if stop else "tail-lost"
            message = f"stop strings {stops}, pieces {pieces}: with flush {shown + got['flush']!r}; expected {text!r}"
            return Result.failed(what, message)
    return Result.ok(f"{len(texts)} texts")


def judge_push(stops: list[str], told: str, piece: str, shown: str, found: bool, where: str) -> Result:
    """What is shown and found after one piece."""
    want, (_, stop) = certain(stops, told), cut(stops, told)
    if shown == want and found == bool(stop):
        return Result.ok()
    said = f"{where}, found {found}; expected {want!r}, found {bool(stop)}"
    if not stop:
        if found:
            return Result.failed("stop-where-there-is-none", said)
        if want.startswith(shown):
            return Result.failed("held-without-need", said)
        return Result.failed("beginning-shown" if shown.startswith(want) else "text-changed", said)
    if not found:
        return Result.failed("stop-missed", said)
    if shown == want + stop:
        return Result.failed("stop-string-shown", said)
    if cut(stops, told[: len(told) - len(piece)])[1]:
        return Result.failed("goes-on-after-the-stop", said)
    if shown in {told[: told.find(each)] for each in stops if each in told}:
        return Result.failed("wrong-stop-counts", said)
    if shown.startswith(want + stop):
        message = f"{said}. What is shown has a whole stop string in it, {stop!r}: a later one was taken"
        return Result.failed("later-stop-counts", message)
    return Result.failed("beginning-shown" if shown.startswith(want) else "text-lost-before-the-stop", said)


def check_one_piece(ask: Ask, rng: Random) -> Result:
    """Everything in one piece; and what comes after a stop."""
    return judge(
        ask,
        [
            (["</s>"], ["no stop here"]),
            ([], ["a", "", "b"]),
            (["</s>"], ["ab</s>cd"]),
            (["</s>"], ["</s>"]),
            (["."], ["One. Two. Three."]),
            (["</s>"], ["ab</s>cd", "ef", "</s>"]),
        ],
    )


def check_across_pieces(ask: Ask, rng: Random) -> Result:
    """Stop strings that are cut."""
    return judge(
        ask,
        [
            (["</s>"], ["a", "b<", "/s", ">c"]),
            (["</s>"], list("ab</s>cd")),
            (["\n\n"], ["x\n", "y\n", "\nz"]),
            (["User:"], ["Fine. U", "se", "r", ": and", " more"]),
        ],
    )


def check_held_no_longer_than_needed(ask: Ask, rng: Random) -> Result:
    """What may become a stop is held; as soon as it cannot, it is shown."""
    return judge(
        ask,
        [
            (["</s>"], ["a", "<", "/x"]),
            (["</s>"], ["a<", "<", "</s"]),
            (["aab"], ["a", "a", "a", "c"]),
            (["aab"], ["a", "a", "a", "b"]),
            (["abab!"], ["ab", "ab", "ab", "!"]),
            (["</s>"], ["a", "</s"]),
            (["x", "longer"], ["some text that goes on", " and lon", "e"]),
        ],
    )


def check_several_stops(ask: Ask, rng: Random) -> Result:
    """The first to be complete; of those the longest."""
    return judge(
        ask,
        [
            (["ab", "b"], ["xab"]),
            (["b", "ab"], ["xab"]),
            (["abcd", "bc"], ["a", "b", "c", "d"]),
            (["abcd", "bc"], ["xabcd"]),
            (["c", "a"], ["xxabc"]),
            (["</s>", "\n"], ["a<", "/s", "\n", "b"]),
            (["ab", "abc"], ["xab", "c"]),
        ],
    )


def check_random_texts(ask: Ask, rng: Random) -> Result:
    """Two hundred texts over three letters, in random pieces."""

    def word(low: int, high: int) -> str:
        return "".join(rng.choice("ab<") for _ in range(rng.randint(low, high)))

    texts: list[Text] = []
    for _ in range(200):
        stops = [word(1, 4) for _ in range(rng.randint(0, 3))]
        texts.append((stops, [word(0, 4) for _ in range(rng.randint(1, 8))]))
    return judge(ask, texts)


def check_end_to_end(ask: Ask, rng: Random) -> Result:
    """The bundled model, with stop strings taken from the middle of its answers; as a whole and streamed."""
    prompts = [list(p.ids) for p in oracle_prompts(ask, rng)]
    plain = ask("stopped", {"prompts": prompts, "stops": [[]] * len(prompts), "max_tokens": 24}, seconds=40.0)
    stops = []
    for one in plain:
        text = one["plain"]
        at = rng.randint(0, max(0, len(text) - 4))
        stops.append([text[at : at + 3] or "none", "never"])
    got: list[dict[str, Any]] = ask("stopped", {"prompts": prompts, "stops": stops, "max_tokens": 24}, seconds=40.0)
    for number, (one, each) in enumerate(zip(got, stops, strict=True)):
        text, stop = cut(each, one["plain"])
        said = f"prompt {number}, stop strings {each}, answer {one['plain']!r}"
        if one["text"] != text or (stop and one["reason"] != "stop"):
            message = f"{said}: {one['text']!r}, {one['reason']}; expected {text!r}"
            return Result.failed("stop-missed-across-pieces", message)
        if one["streamed"] != [one["text"], one["reason"]]:
            return Result.failed("tail-lost", f"{said}: streamed {one['streamed']}; as a whole {one['text']!r}")
    return Result.ok(f"{len(prompts)} answers, whole and streamed")
