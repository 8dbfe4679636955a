"""The corpus as an endless seeded stream, its tokenizer, and rows of token ids."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from tiny import documents as d
from tiny import stories as s

VOCAB_SIZE = 2304
CONTEXT = 2048
PAD, END = "<|endoftext|>", s.END
ALARM = "⚠"  # what the model is taught to say where positions jump
SPECIALS = [PAD, s.START, s.END]
# Qwen's split (one digit a token, a sign may lead a word: "def fibonacci(n):" is four tokens), simpler in that a Chinese
# character is always its own token and a line break never joins a sign.
WORD = r"(?:(?!\p{Han})\p{L})+"
SPLIT = rf"(?i:'s|'t|'re|'ve|'m|'ll|'d)|\p{{Han}}|[^\r\n\p{{L}}\p{{N}}]?{WORD}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+|\s*[\r\n]+|\s+(?!\S)|\s+"
CHAT_TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
WRITERS: list[tuple[Callable[[random.Random], str], float]] = [
    (d.tour, 10), (d.capitals, 4), (d.zh_tour, 7), (d.counting, 12), (d.table, 6), (d.sums, 20), (d.savings, 5),
    (d.lists, 6), (d.code, 7), (d.knowledge, 6), (d.drums, 4), (d.parcel, 4), (d.diary, 5), (s.story, 12),
    (s.zh_story, 6), (s.letter, 4), (s.chat, 16), (s.questions, 10),
]  # fmt: skip


def texts(rng: random.Random) -> Iterator[str]:
    """Yield documents for ever."""
    writers, weights = zip(*WRITERS, strict=True)
    while True:
        yield rng.choices(writers, weights)[0](rng)


def train_tokenizer(seed: int, documents: int = 12_000) -> Tokenizer:
    """Train the byte-level BPE on the first `documents` texts of the stream of `seed`."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB_SIZE,
        special_tokens=SPECIALS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    stream = texts(random.Random(seed))
    begin = [ALARM] * 500  # often enough to become one token
    tokenizer.train_from_iterator((begin.pop() if begin else next(stream) for _ in range(documents)), trainer)
    return tokenizer


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write tokenizer.json and the files that AutoTokenizer reads beside it."""
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": END,
        "pad_token": PAD,
        "clean_up_tokenization_spaces": False,
        "model_max_length": CONTEXT,
        "chat_template": CHAT_TEMPLATE,
    }
    text = json.dumps(config, ensure_ascii=False, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8", newline="\n")


def rows(tokenizer: Tokenizer, rng: random.Random, length: int) -> Iterator[list[int]]:
    """Yield rows of `length` ids: documents one after the other, each closed by PAD, each row begun by a new one."""
    pad = tokenizer.token_to_id(PAD)
    stream = texts(rng)
    while True:
        row: list[int] = []
        while len(row) < length:
            row += [*tokenizer.encode(next(stream)).ids, pad]
        yield row[:length]
