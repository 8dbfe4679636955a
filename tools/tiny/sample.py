"""Look at what the checkpoint says: a few prompts, decoded greedily."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

PROMPTS = [
    "The capital of France is",
    "List three prime numbers:",
    "def fibonacci(n):",
    "1 + 1 =",
    "Once upon a time,",
    "中国的首都是",
    "Count from 7 to 31:",
    "从前",
    "Diary of Mia",
    "Q: What is 17 + 25?",
]
QUESTIONS = [
    "Hello! Who are you?",
    "What is the capital of Japan?",
    "What is 23 + 19?",
    "Tell me a story about Ben.",
    "你好！",
    "德国的首都是哪里？",
]


@torch.inference_mode()
def show(folder: Path, tokens: int = 200) -> None:
    """Print up to `tokens` greedy tokens after each prompt and each chat question."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    chats = [
        tokenizer.apply_chat_template([{"role": "user", "content": q}], add_generation_prompt=True, tokenize=False)
        for q in QUESTIONS
    ]
    for prompt in PROMPTS + chats:
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        out = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens, do_sample=False)
        print(f"--- {prompt!r} ({ids.shape[1]} tokens)\n{tokenizer.decode(out[0, ids.shape[1] :])}\n")
