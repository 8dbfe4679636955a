"""Situations for exercise 09.3, with the operations that make them: see `probe_leave`. Runs in the judge."""

from __future__ import annotations

from typing import Any

BY_HAND: list[tuple[str, list[list[Any]]]] = [
    (
        "0 and 1 run; 0 is aborted while batches 1 and 2 are in flight",
        [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["plan"], ["abort", 0], ["plan"],
         ["commit", []], ["commit", []], ["commit", []]],
    ),
    (
        "0 stops in batch 1 while batch 2, which names it too, is in flight",
        [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["plan"], ["commit", [[0, 3]]], ["plan"], ["commit", []],
         ["plan"], ["commit", []]],
    ),
    (
        "0 ends by length; nothing behind its last batch names it",
        [["submit", 0, 3, 2], ["submit", 1, 3, 5], ["plan"], ["plan"], ["plan"], ["commit", []], ["commit", []],
         ["plan"], ["commit", []]],
    ),
    ("0 is aborted in the queue, twice", [["submit", 0, 3, 5], ["abort", 0], ["abort", 0], ["plan"]]),
    (
        "0 is aborted with nothing in flight",
        [["submit", 0, 3, 5], ["plan"], ["commit", []], ["abort", 0], ["submit", 1, 2, 2], ["plan"], ["commit", []]],
    ),
    (
        "three end at different times in one line",
        [["submit", 0, 3, 2], ["submit", 1, 3, 6], ["submit", 2, 3, 6], ["plan"], ["plan"], ["abort", 2],
         ["commit", []], ["plan"], ["abort", 1], ["commit", []], ["commit", []]],
    ),
]  # fmt: skip
FAILURES: list[tuple[str, list[list[Any]]]] = [
    ("a prefill fails", [["submit", 0, 3, 5], ["submit", 1, 2, 5], ["plan"], ["fail"], ["plan"]]),
    (
        "a decode fails; another request waits in the queue",
        [["submit", 0, 3, 5], ["plan"], ["commit", []], ["plan"], ["submit", 1, 2, 5], ["fail"], ["plan"],
         ["commit", []]],
    ),
    (
        "batch 1 fails while batch 2 is in flight",
        [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["plan"], ["fail"], ["commit", []]],
    ),
    (
        "batch 1 is settled, batch 2 fails",
        [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["plan"], ["commit", []], ["fail"]],
    ),
    ("both batches fail", [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["plan"], ["fail"], ["fail"]]),
    (
        "0 is aborted in flight, then its batch fails",
        [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["abort", 0], ["fail"], ["plan"]],
    ),
    (
        "1 is aborted in flight, then its batch fails",
        [["submit", 0, 3, 5], ["submit", 1, 3, 5], ["plan"], ["commit", []], ["plan"], ["abort", 1], ["fail"]],
    ),
    (
        "the second batch in flight is failed before the first",
        [["submit", 0, 3, 5], ["plan"], ["plan"], ["fail second"], ["commit", []], ["fail"]],
    ),
]  # fmt: skip
