"""The incremental detokenizer: whole characters, a bounded look-back, and in the end the text of all tokens."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from minisgl_lite.tokenizer.detokenize import KEEP, MOST, MOST_HELD, REPLACEMENT, WINDOW, Detokenizer
from tests.helpers.texts import BytesTokenizer


def pieces(decode, ids):
    detokenizer = Detokenizer(decode)
    return [detokenizer.push(token) for token in ids] + [detokenizer.flush()]


def byte_level() -> Tokenizer:
    """Every byte a token, and some tokens of several bytes, also ones that cut characters."""
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    vocab = {character: i for i, character in enumerate(sorted(alphabet))}
    table = bytes_to_unicode()
    for text in (b" the", b"ing", b"\xf0\x9f", b"\x98\x80", b"\xe4\xbd\xa0", b"\x82\xac!", b"\xe2"):
        vocab.setdefault("".join(table[b] for b in text), len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab, []))
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def bytes_to_unicode() -> dict[int, str]:
    """The printable stand-ins of the byte-level alphabet, as GPT-2 chose them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}


def metaspace() -> Tokenizer:
    words = ["▁", "▁a", "▁the", "b", "▁▁", "ing", "▁é", "你", "😀", ".", "▁.", "'", "▁n't"]
    tokenizer = Tokenizer(models.Unigram([(word, -1.0) for word in words]))
    tokenizer.decoder = decoders.Metaspace()
    return tokenizer


def llama() -> Tokenizer:
    """Metaspace with byte fallback, as Llama has it."""
    words = ["<unk>", "▁a", "b", "▁you", "▁"] + [f"<0x{i:02X}>" for i in range(256)]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(words)}, [], byte_fallback=True))
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return tokenizer


def word_piece() -> Tokenizer:
    words = ["[UNK]", "play", "##ing", "##ed", "work", ".", ",", "?", "a", "##s", "é", "##你"]
    tokenizer = Tokenizer(models.WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


@pytest.mark.parametrize("make", [byte_level, metaspace, word_piece])
def test_joined_pieces_are_the_text_of_all_tokens(make):
    tokenizer = make()
    size = tokenizer.get_vocab_size()
    draw = random.Random(7)
    for _ in range(120):
        ids = [draw.randrange(size) for _ in range(draw.randint(0, 70))]
        assert "".join(pieces(tokenizer.decode, ids)) == tokenizer.decode(ids)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 255), max_size=80))
def test_any_bytes(ids):
    decode = BytesTokenizer().decode
    out = pieces(decode, ids)
    assert "".join(out) == decode(ids)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40))
def test_any_text_byte_by_byte_never_shows_a_broken_character(text):
    tokenizer = BytesTokenizer()
    out = pieces(tokenizer.decode, tokenizer.encode(text))
    assert "".join(out) == text
    assert all(REPLACEMENT not in piece or REPLACEMENT in text for piece in out)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(["▁a", "b", "▁you", "▁", "😀", "é", "€", "\n"]), max_size=40))
def test_byte_fallback(words):
    tokenizer = llama()
    vocab = tokenizer.get_vocab()
    ids = [i for w in words for i in ([vocab[w]] if w in vocab else [vocab[f"<0x{b:02X}>"] for b in w.encode()])]
    assert "".join(pieces(tokenizer.decode, ids)) == tokenizer.decode(ids)


def test_characters_of_bytes_wherever_the_window_ends():
    vocab = llama().get_vocab()
    for n in range(2 * WINDOW):
        ids = [vocab["b"]] * n + [vocab[f"<0x{b:02X}>"] for b in "😀é😀€".encode()]
        assert pieces(llama().decode, ids)[n:] == ["", "", "", "😀", "", "é", "", "", "", "😀", "", "", "€", ""]


def test_an_emoji_of_four_tokens_comes_whole():
    decode = BytesTokenizer().decode
    assert pieces(decode, "😀!".encode()) == ["", "", "", "😀", "!", ""]
    table = {0: "😀".encode() + b"\xf0\x9f", 1: b"\x98\x80"}
    assert pieces(lambda ids: b"".join(table[i] for i in ids).decode(errors="replace"), [0, 1]) == ["😀", "😀", ""]


@pytest.mark.parametrize("kind", ["bytes", "byte fallback"])
def test_invalid_bytes_are_not_waited_for(kind):
    decoded = 0
    if kind == "bytes":
        decode, ids = BytesTokenizer().decode, [0x80] * 300 + list(b"ok")
    else:
        vocab = llama().get_vocab()
        decode, ids = llama().decode, [vocab["<0x80>"]] * 300 + [vocab["b"], vocab["b"]]

    def counting(window):
        nonlocal decoded
        decoded += len(window)
        assert len(window) <= WINDOW
        return decode(window)

    out = pieces(counting, ids)
    assert "".join(out) == decode(ids) == REPLACEMENT * 300 + ("ok" if kind == "bytes" else "bb")
    shown = 0
    for n, piece in enumerate(out[:300], 1):
        shown += len(piece)
        assert n - shown <= MOST_HELD
    assert decoded <= len(ids) * (WINDOW + KEEP)


def test_the_window_stays_short_in_ordinary_text_and_among_tokens_without_text():
    longest = 0

    def decode(ids):
        nonlocal longest
        longest = max(longest, len(ids))
        return "".join("" if i == 0 else chr(96 + i) for i in ids)

    ids = [0] * 40 + [1, 2, 0, 3] * 30 + [0] * 40
    assert "".join(pieces(decode, ids)) == "abc" * 30
    assert longest <= WINDOW + KEEP


def test_a_character_cut_by_tokens_without_text():
    """Its last bytes come so late that the window would begin between them."""
    table = {0: b"", 1: b"\xf0", 2: b"\x9f", 3: b"\x98\x80", 4: b"ab"}
    decode = lambda ids: b"".join(table[i] for i in ids).decode(errors="replace")  # noqa: E731
    for gap in range(0, 40, 3):
        ids = [4, 1, *[0] * gap, 2, *[0] * gap, 3, 4]
        assert "".join(pieces(decode, ids)) == "ab😀ab"


def test_nothing_and_a_tail_that_never_completes():
    decode = BytesTokenizer().decode
    assert pieces(decode, []) == [""]
    assert pieces(decode, [0xF0, 0x9F]) == ["", "", REPLACEMENT]


def test_what_was_returned_stays_where_the_decoder_takes_it_back():
    """Byte fallback: a good character, then a byte that fits nowhere; decoded together they are all replaced."""
    tokenizer = llama()
    vocab = tokenizer.get_vocab()
    ids = [vocab[f"<0x{b:02X}>"] for b in "é".encode() + b"\xff\xff"] + [vocab["b"]]
    assert tokenizer.decode(ids) == REPLACEMENT * 4 + "b"
    assert "".join(pieces(tokenizer.decode, ids)) == "é" + REPLACEMENT * 2 + "b"


def test_tokens_without_text_behind_half_a_character_are_not_kept():
    """A special token that shows as nothing joins nothing: what was held is completed behind a thousand of them."""
    work = [0]

    def decode(ids):
        work[0] += len(ids)
        return bytes(i for i in ids if i < 256).decode(errors="replace")

    first, second = "é".encode()
    ids = [97, first, *[300] * 1000, second, 98]
    assert "".join(pieces(decode, ids)) == "aéb"
    assert work[0] < 10 * len(ids)


def test_a_decoder_that_gives_nothing_to_lean_on_keeps_the_look_back_bounded():
    """The text of the last tokens never ends as that of all: what was returned stays, and nothing is lost."""
    work = [0]

    def decode(ids):
        work[0] += len(ids)
        return "".join(map(chr, ids)) if len(ids) > KEEP else "?" * len(ids)

    ids = [97 + i % 26 for i in range(2000)]
    assert len("".join(pieces(decode, ids))) == len(ids)
    assert work[0] < 2 * MOST * len(ids)
