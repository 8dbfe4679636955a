"""Greedy ids with a dense cache equal Hugging Face's, for every architecture and option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from transformers import AutoModelForCausalLM

from minisgl_lite.models.checkpoint import Checkpoint, load
from minisgl_lite.models.greedy import generate_greedy
from minisgl_lite.models.scripted import ScriptedDecoder, scripted_config
from tests.helpers.checkpoints import LLAMA3, TIE_GAP, edit_json, hf_greedy, make_checkpoint, random_prompts, shard

CASES: list[tuple[str, dict[str, Any]]] = [
    ("llama", {}),
    ("llama", {"attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}),
    ("llama", {"num_attention_heads": 8}),
    ("llama", {"rope_parameters": LLAMA3}),
    ("qwen2", {}),
    ("qwen3", {}),
    ("qwen3", {"vocab_size": 131, "head_dim": 48}),
    ("qwen3", {"hidden_size": 60, "num_attention_heads": 8, "head_dim": 16}),
    ("mistral", {}),
]
PROMPTS = [[5], *random_prompts(7, 2, 40, seed=1)]


def scripted(table: dict[int, int], **sizes: Any) -> Checkpoint:
    config = scripted_config(**sizes)
    return Checkpoint(config, ScriptedDecoder(table, config), None)


@pytest.mark.parametrize(("kind", "options"), CASES, ids=lambda value: str(value))
def test_equals_hf(tmp_path: Path, kind: str, options: dict[str, Any]) -> None:
    theirs = make_checkpoint(tmp_path, kind, **options)
    shard(tmp_path, 2)
    ours, compared = load(tmp_path, device="cpu"), 0
    for prompt in PROMPTS:
        expected, gap = hf_greedy(theirs, prompt, 16)
        if gap >= TIE_GAP:
            compared += 1
            assert generate_greedy(ours, prompt, 16) == expected
    assert compared > len(PROMPTS) // 2


@pytest.mark.parametrize("eos", [None, "first", "list", "absent", "no file"])
def test_ends_where_hf_ends(tmp_path: Path, eos: str | None) -> None:
    make_checkpoint(tmp_path)
    prompt, path = PROMPTS[2], tmp_path / "generation_config.json"
    free = generate_greedy(load(tmp_path, device="cpu"), prompt, 16, ignore_eos=True)
    last, other = free[6], next(t for t in range(4, 128) if t not in free)
    ends = {"first": last, "list": [other, last], "absent": ..., None: None}
    edit_json(tmp_path / "config.json", eos_token_id=last if eos == "no file" else other)
    if eos == "no file":
        path.unlink()
    else:
        edit_json(path, eos_token_id=ends[eos])
    theirs = AutoModelForCausalLM.from_pretrained(tmp_path)
    expected, _ = hf_greedy(theirs, prompt, 16)
    assert generate_greedy(load(tmp_path, device="cpu"), prompt, 16) == expected
    assert expected == (free if eos in (None, "absent") else free[: free.index(last)])


def test_runs_up_to_the_last_position(tmp_path: Path) -> None:
    theirs = make_checkpoint(tmp_path, max_position_embeddings=64)
    ours, prompt = load(tmp_path, device="cpu"), random_prompts(1, 60, 60)[0]
    expected, gap = hf_greedy(theirs, prompt, 5, stop=False)
    assert gap > TIE_GAP
    assert generate_greedy(ours, prompt, 5, ignore_eos=True) == expected
    with pytest.raises(ValueError, match=r"60 prompt tokens and max_tokens 6 need 65 positions.*64"):
        generate_greedy(ours, prompt, 6)


def test_ends_of_a_scripted_answer() -> None:
    checkpoint = scripted({3: 4, 4: 5, 5: 2}, eos_ids=(2,))
    assert generate_greedy(checkpoint, [9, 3], 10) == [4, 5]
    assert generate_greedy(checkpoint, [9, 3], 2) == [4, 5]
    assert generate_greedy(checkpoint, [3], 4, ignore_eos=True) == [4, 5, 2, 2]
    assert generate_greedy(checkpoint, [5], 10) == []


@pytest.mark.parametrize(("prompt", "max_tokens"), [([], 1), ([3], 0)])
def test_nothing_to_do_is_an_error(prompt: list[int], max_tokens: int) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        generate_greedy(scripted({}), prompt, max_tokens)
