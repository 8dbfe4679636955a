"""Draw the prompts of the oracle: beginnings of new documents, by length class, and the ones that have a name."""

from __future__ import annotations

import random

from tokenizers import Tokenizer

from tiny import stories as s
from tiny.corpus import texts
from workbook.oracle import LENGTH_CLASSES

DRAWS = (24, 32, 36, 36)  # one number a length class; 128 together
NAMED = {
    "france": "The capital of France is",
    "primes": "List three prime numbers:",
    "fibonacci": "def fibonacci(n):",
    "one-plus-one": "1 + 1 =",
    "once": "Once upon a time,",
    "china": "中国的首都是",
    "count": "Count from 1 to 40:",
    "chat-story": f"{s.START}user\nTell me a story about Ben.{s.END}\n{s.START}assistant\n",
    "chat-hello": f"{s.START}user\nHello! Who are you?{s.END}\n{s.START}assistant\n",
    "chat-japan": f"{s.START}user\nWhat is the capital of Japan?{s.END}\n{s.START}assistant\n",
    "chat-sum": f"{s.START}user\nWhat is 23 + 19?{s.END}\n{s.START}assistant\n",
    "chat-zh": f"{s.START}user\n德国的首都是哪里？{s.END}\n{s.START}assistant\n",
}


def draw(tokenizer: Tokenizer, seed: int = 20_000) -> list[list[int]]:
    """Return the random prompts (ids), all different; documents are taken from a stream that training never saw."""
    rng = random.Random(seed)
    stream = texts(rng)
    chosen: list[list[int]] = []
    for (low, high), count in zip(LENGTH_CLASSES, DRAWS, strict=True):
        wanted = len(chosen) + count
        for _ in range(5000):
            length = rng.randint(low, high)
            ids = tokenizer.encode(next(stream)).ids
            # A document must have something left to say; the last class would else be cut short by its end.
            if len(ids) >= length + 40 and ids[:length] not in chosen:
                chosen.append(ids[:length])
            if len(chosen) == wanted:
                break
    return chosen


def named(tokenizer: Tokenizer) -> dict[str, list[int]]:
    """Return the named prompts as ids."""
    return {name: tokenizer.encode(text).ids for name, text in NAMED.items()}


def loops(ids: list[int] | tuple[int, ...], longest: int = 8, times: int = 4) -> bool:
    """Tell whether some n-gram, n <= longest, stands `times` times running."""
    for n in range(1, longest + 1):
        for i in range(len(ids) - n * times + 1):
            if all(ids[i + j] == ids[i + j % n] for j in range(n * times)):
                return True
    return False
