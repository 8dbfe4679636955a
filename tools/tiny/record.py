"""Record Hugging Face's answers beside the checkpoint."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import torch
import transformers
from tokenizers import Tokenizer

from tiny.prompts import draw, loops, named
from workbook.oracle import GAP, NEW_TOKENS, OraclePrompt, file_hashes, live


def _plain(prompt: OraclePrompt) -> dict[str, object]:
    return {
        "name": prompt.name,
        "length_class": prompt.length_class,
        "text": prompt.text,
        "ids": list(prompt.ids),
        "output_ids": list(prompt.output_ids),
        "gaps": list(prompt.gaps),
    }


def record(folder: Path) -> None:
    """Draw the prompts, ask Hugging Face, keep the clear ones and write oracle.json into `folder`."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    drawn, names = draw(tokenizer), named(tokenizer)
    labels = [*names, *(f"draw-{i:03d}" for i in range(len(drawn)))]
    kept: list[OraclePrompt] = []
    ending: list[OraclePrompt] = []
    for label, answer in zip(labels, live([*names.values(), *drawn], folder=folder), strict=True):
        text = tokenizer.decode(list(answer.ids), skip_special_tokens=False)
        prompt = replace(answer, name=label, text=text)
        if min(prompt.gaps) < GAP or loops(prompt.output_ids):
            continue
        if len(prompt.output_ids) == NEW_TOKENS:
            kept.append(prompt)
        elif len(ending) < 24:
            ending.append(prompt)
    data = {
        "about": "Hugging Face's greedy ids and top-2 gaps: float32, CPU, one prompt at a time",
        "versions": {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__},
        "hashes": file_hashes(folder),
        "drawn": len(drawn),
        "prompts": [_plain(p) for p in kept],
        "ending": [_plain(p) for p in ending],
    }
    lines = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace('{"name"', '\n{"name"')
    (folder / "oracle.json").write_text(lines + "\n", encoding="utf-8", newline="\n")
    print(f"drawn {len(drawn)}, named {len(names)}: {len(kept)} kept, {len(ending)} that end early")
