"""The gates of the checkpoint: each is printed with its number and its threshold; any that fails fails the script."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tokenizers import Tokenizer

from tiny import stories as s
from tiny.documents import held_out_fact, held_out_sum
from tiny.faults import CASES, decode, partner
from tiny.forward import Tiny
from tiny.prompts import loops
from tiny.world import COUNTRIES
from workbook.oracle import GAP, LENGTH_CLASSES, NEW_TOKENS, Oracle, live, load

MEGABYTE = 1_000_000


class Report:
    """Prints one line a gate and remembers whether all held."""

    def __init__(self) -> None:
        self.failed = 0

    def at_least(self, what: str, number: float, threshold: float) -> None:
        self._line(number >= threshold, f"{what}: {number:g} (at least {threshold:g})")

    def at_most(self, what: str, number: float, threshold: float) -> None:
        self._line(number <= threshold, f"{what}: {number:g} (at most {threshold:g})")

    def _line(self, held: bool, text: str) -> None:
        self.failed += not held
        print(f"{'ok    ' if held else 'FAILED'} {text}", flush=True)


def questions() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return held-out sums and held-out facts as (question, answer)."""
    pairs = [(a, b) for a in range(50) for b in range(50) if held_out_sum(a, b)][::4]
    sums = [(f"What is {a} + {b}?", f"{a} + {b} = {a + b}") for a, b in pairs]
    facts = [s.fact(k, c) for k in range(s.KINDS) for i, c in enumerate(COUNTRIES) if held_out_fact(k, i)]
    return sums, facts


def right(folder: Path, tokenizer: Tokenizer, asked: list[tuple[str, str]]) -> float:
    """Return the share of questions that a chat turn answers to the letter."""
    texts = [f"{s.START}user\n{question}{s.END}\n{s.START}assistant\n" for question, _ in asked]
    answers = live([tokenizer.encode(text).ids for text in texts], 40, folder)
    said = [tokenizer.decode(list(answer.output_ids)).strip() for answer in answers]
    return sum(got == answer for got, (_, answer) in zip(said, asked, strict=True)) / len(asked)


def faults(report: Report, folder: Path, oracle: Oracle) -> None:
    """Check that the small forward agrees with the oracle, and that each fault changes enough prompts' tokens."""
    tiny = Tiny(folder)
    prompts = [p.ids for p in oracle.prompts]
    wanted = [list(p.output_ids) for p in oracle.prompts]
    same = sum(decode(tiny, ids, NEW_TOKENS) == out for ids, out in zip(prompts, wanted, strict=True))
    report.at_least("prompts on which a forward without a fault agrees", same, len(prompts))
    for case in CASES:
        able = [i for i, ids in enumerate(prompts) if len(ids) >= case.shortest]
        changed = [decode(tiny, prompts[i], NEW_TOKENS, case.fault, partner(prompts, i)) != wanted[i] for i in able]
        share = sum(changed) / len(able)
        report.at_least(f"fault: {case.name}: share changed of {len(able)} prompts", round(share, 3), 0.8)


def check(folder: Path) -> int:
    """Run every gate; return 0 when all hold, else 1."""
    report, tokenizer = Report(), Tokenizer.from_file(str(folder / "tokenizer.json"))
    size = sum(path.stat().st_size for path in folder.iterdir()) / MEGABYTE
    report.at_most("size of the folder, MB", round(size, 2), 10)
    oracle = load(folder)
    report.at_most("judge prompts drawn", oracle.drawn, 150)
    kept = [p for p in oracle.prompts if p.name.startswith("draw")]
    report.at_least("judge prompts kept of those drawn", len(kept), 50)
    classes = Counter(p.length_class for p in kept)
    for low, high in LENGTH_CLASSES:
        name = str(low) if low == high else f"{low}-{high}"
        report.at_least(f"kept of length {name}", classes[name], 8)
    report.at_least("new tokens of each", min(len(p.output_ids) for p in oracle.prompts), NEW_TOKENS)
    report.at_least("smallest top-2 gap", min(min(p.gaps) for p in oracle.prompts + oracle.ending), GAP)
    report.at_most("prompts with an n-gram loop", sum(loops(p.output_ids) for p in oracle.prompts), 0)
    sums, facts = questions()
    report.at_least(f"right of {len(facts)} held-out facts", round(right(folder, tokenizer, facts), 3), 0.9)
    report.at_least(f"right of {len(sums)} held-out sums", round(right(folder, tokenizer, sums), 3), 0.9)
    faults(report, folder, oracle)
    return 1 if report.failed else 0
