"""The bundled checkpoint is an ordinary Hugging Face folder, and its recorded answers belong to it."""

from __future__ import annotations

from collections import Counter

import pytest
from transformers import AutoModelForCausalLM, AutoTokenizer

from workbook import oracle


@pytest.fixture(scope="module")
def recorded() -> oracle.Oracle:
    return oracle.load()


def test_folder_is_small() -> None:
    assert sum(path.stat().st_size for path in oracle.TINY.iterdir()) <= 10_000_000


def test_loads_as_qwen3() -> None:
    config = AutoModelForCausalLM.from_pretrained(oracle.TINY).config
    assert (config.model_type, config.head_dim) == ("qwen3", 64)
    assert (config.num_attention_heads, config.num_key_value_heads) == (8, 4)


def test_tokenizer_splits_the_demo_prompts() -> None:
    tokenizer = AutoTokenizer.from_pretrained(oracle.TINY)
    names = ("france", "primes", "fibonacci", "one-plus-one", "once")
    texts = [oracle.load().named(name).text for name in names]
    assert [len(tokenizer(text).input_ids) for text in texts] == [5, 5, 4, 5, 5]


def test_chat_template_ends_with_the_assistants_turn() -> None:
    tokenizer = AutoTokenizer.from_pretrained(oracle.TINY)
    turns = [{"role": "user", "content": "Hi"}]
    text = tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
    assert text == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


def test_hashes_are_those_of_the_files(recorded: oracle.Oracle) -> None:
    assert recorded.hashes == oracle.file_hashes()


def test_enough_prompts_of_every_length(recorded: oracle.Oracle) -> None:
    drawn = [p for p in recorded.prompts if p.name.startswith("draw")]
    assert recorded.drawn <= 150
    assert len(drawn) >= 50
    assert all(count >= 8 for count in Counter(p.length_class for p in drawn).values())
    assert len({p.length_class for p in drawn}) == len(oracle.LENGTH_CLASSES)


def test_every_step_is_clear(recorded: oracle.Oracle) -> None:
    for prompt in recorded.prompts:
        assert len(prompt.output_ids) == len(prompt.gaps) == oracle.NEW_TOKENS
        assert min(prompt.gaps) >= oracle.GAP


def test_a_folder_without_answers_is_refused() -> None:
    with pytest.raises(oracle.OracleError, match="no recorded answers"):
        oracle.load(oracle.TINY.parent)


@pytest.mark.slow
def test_answers_are_still_hugging_faces(recorded: oracle.Oracle) -> None:
    every = recorded.prompts + recorded.ending
    for want, got in zip(every, oracle.live([p.ids for p in every]), strict=True):
        assert got.output_ids == want.output_ids, want.name
        assert got.gaps == pytest.approx(want.gaps, abs=0.02), want.name
