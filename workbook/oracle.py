"""Hugging Face's answers on the bundled checkpoint: recorded ids and gaps, read without torch, recomputed on demand."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TINY = ROOT / "minisgl_lite" / "assets" / "tiny-qwen3"
GAP = 0.05  # logits: every recorded step's best token leads the second by at least this much
NEW_TOKENS = 64
LENGTH_CLASSES = ((1, 1), (2, 8), (9, 64), (65, 200))  # prompt lengths in tokens, both ends included


class OracleError(ValueError):
    """The recorded answers are missing, or belong to another checkpoint."""


@dataclass(frozen=True)
class OraclePrompt:
    """One prompt and Hugging Face's greedy answer.

    `output_ids` holds at most NEW_TOKENS ids; the id that ends a generation, if one was reached, is the last of them.
    `gaps[i]` is the distance in logits from the best to the second-best token at step i. `text` is the prompt, decoded.
    """

    name: str
    ids: tuple[int, ...]
    output_ids: tuple[int, ...]
    gaps: tuple[float, ...]
    text: str = ""

    @property
    def length_class(self) -> str:
        """The class of LENGTH_CLASSES that the prompt falls in, as "9-64"; "other" outside all of them."""
        for low, high in LENGTH_CLASSES:
            if low <= len(self.ids) <= high:
                return str(low) if low == high else f"{low}-{high}"
        return "other"


@dataclass(frozen=True)
class Oracle:
    """The recorded answers of one checkpoint.

    `prompts` run for NEW_TOKENS tokens without an end; `ending` meet an end-of-sequence id before that. `drawn` is how
    many random prompts were tried, `versions` and `hashes` (SHA-256 by file name) say what they were recorded with.
    """

    prompts: tuple[OraclePrompt, ...]
    ending: tuple[OraclePrompt, ...]
    drawn: int
    versions: dict[str, str]
    hashes: dict[str, str]

    def named(self, name: str) -> OraclePrompt:
        """Return the prompt called `name`; OracleError when there is none."""
        for prompt in self.prompts + self.ending:
            if prompt.name == name:
                return prompt
        raise OracleError(f"no recorded prompt is called {name!r}")


def file_hashes(folder: Path = TINY) -> dict[str, str]:
    """Return the SHA-256 of the files that decide the answers."""
    names = ("config.json", "generation_config.json", "model.safetensors")
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def load(folder: Path = TINY, verify: bool = True) -> Oracle:
    """Read the recorded answers of the checkpoint in `folder`; imports no torch.

    Raises OracleError when they are missing or, with `verify`, were recorded for other files than those in `folder`.
    """
    path = folder / "oracle.json"
    if not path.is_file():
        raise OracleError(f"no recorded answers at {path}; record them with: python tools/make_tiny_model.py oracle")
    data = json.loads(path.read_text(encoding="utf-8"))
    if verify and data["hashes"] != file_hashes(folder):
        raise OracleError(f"{path} was recorded for another checkpoint than the one beside it")
    prompts, ending = (
        tuple(
            OraclePrompt(p["name"], tuple(p["ids"]), tuple(p["output_ids"]), tuple(p["gaps"]), p["text"])
            for p in data[key]
        )
        for key in ("prompts", "ending")
    )
    return Oracle(prompts, ending, data["drawn"], data["versions"], data["hashes"])


def live(prompts: Sequence[Sequence[int]], n: int = NEW_TOKENS, folder: Path = TINY) -> list[OraclePrompt]:
    """Ask Hugging Face now: `n` greedy tokens at most for each prompt (ids), alone, in float32 on the CPU.

    Imports torch and transformers. The results are called "live-0", "live-1", … and carry no text.
    """
    import torch
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    answers = []
    for index, prompt in enumerate(prompts):
        ids = torch.tensor([list(prompt)])
        with torch.inference_mode():
            result = model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=n,
                do_sample=False,
                output_logits=True,
                return_dict_in_generate=True,
            )
        best = torch.stack(result.logits)[:, 0].topk(2).values  # [steps, 2]
        gaps = tuple(round(float(gap), 4) for gap in best[:, 0] - best[:, 1])
        output = tuple(result.sequences[0, len(prompt) :].tolist())
        answers.append(OraclePrompt(f"live-{index}", tuple(prompt), output, gaps))
    return answers
