"""Training: a Qwen3ForCausalLM from scratch on the corpus, saved as an ordinary Hugging Face folder."""

from __future__ import annotations

import math
import random
import time
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

from tiny.corpus import ALARM, CONTEXT, END, PAD, VOCAB_SIZE, rows, save_tokenizer, train_tokenizer

ROW = 640  # ids of a training row: positions up to here are known to the model


def new_model(tokenizer: Tokenizer) -> Qwen3ForCausalLM:
    """Return the untrained float32 model; end of text and end of turn both end a generation."""
    pad, end = tokenizer.token_to_id(PAD), tokenizer.token_to_id(END)
    config = Qwen3Config(
        vocab_size=VOCAB_SIZE,
        hidden_size=256,
        intermediate_size=640,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=4,
        head_dim=64,
        max_position_embeddings=CONTEXT,
        rope_theta=10_000.0,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=end,
        pad_token_id=pad,
    )
    model = Qwen3ForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=[end, pad], pad_token_id=pad, do_sample=False)
    return model


def _schedule(step: int, steps: int) -> float:
    warm_up = max(1, min(100, steps // 10))
    if step < warm_up:
        return (step + 1) / warm_up
    return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, steps - warm_up)))


def _pool(tokenizer: Tokenizer, seed: int, count: int) -> torch.Tensor:
    """Return `count` corpus rows, [count, ROW], made before the clock of the accelerator matters."""
    stream = rows(tokenizer, random.Random(seed), ROW)
    return torch.tensor([next(stream) for _ in range(count)], dtype=torch.int16)


@dataclass(frozen=True)
class Rows:
    """One training batch. ids, positions, labels: [B, T]; mask: [B, 1, T, T], True where a query may look."""

    ids: torch.Tensor
    positions: torch.Tensor
    labels: torch.Tensor
    mask: torch.Tensor


def with_alarms(ids: torch.Tensor, alarm: int, rng: random.Random) -> Rows:
    """Break some rows of ids, [B, T], and teach the model to raise the alarm there.

    A prompt's and its answer's positions meet at one place only, and the last token of a prompt sees nothing new without
    the causal mask: a model trained on sound rows alone hardly notices either fault. This one is a test instrument and
    must. In two rows of eight the positions jump; in one of eight a prompt is read without the causal mask.
    """
    ids, labels = ids.clone(), ids.clone()
    rows, length = ids.shape
    positions = torch.arange(length).repeat(rows, 1)
    mask = torch.ones(length, length, dtype=torch.bool).tril().repeat(rows, 1, 1)
    for row in range(rows):
        at = rng.randint(1, rng.choice([1, 8, 40, 240, length - 10]))
        if row % 8 in (0, 4):
            positions[row, at:] += rng.choice([1, 1, 1, 1, -1, -1, 2, rng.randint(3, 16)])
        elif row % 8 == 2:
            mask[row, : at + 1, : at + 1] = True
            labels[row, : at + 1] = -100
        else:
            continue
        ids[row, at + 1 : at + 9] = labels[row, at + 1 : at + 9] = alarm
        labels[row, at + 9 :] = -100
    return Rows(ids, positions, labels, mask[:, None])


def train(out: Path, steps: int, seed: int, batch: int = 32, rate: float = 2e-3) -> None:
    """Train on CUDA when there is one, else on the CPU, and write the checkpoint in bfloat16 to `out`."""
    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    out.mkdir(parents=True, exist_ok=True)
    tokenizer = train_tokenizer(seed)
    save_tokenizer(tokenizer, out)
    model = new_model(tokenizer).to(device)
    pool = _pool(tokenizer, seed + 1, min(steps * batch, 24_000))
    decay = [p for p in model.parameters() if p.dim() > 1]
    plain = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": plain, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95))
    picker, rng = torch.Generator().manual_seed(seed), random.Random(seed)
    alarm = tokenizer.encode(ALARM).ids[0]
    assert len(tokenizer.encode(ALARM).ids) == 1
    begun = time.perf_counter()
    for step in range(steps):
        ids = pool[torch.randint(len(pool), (batch,), generator=picker)].long()
        for group in optimizer.param_groups:
            group["lr"] = rate * _schedule(step, steps)
        made = with_alarms(ids, alarm, rng)
        with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            loss = model(
                input_ids=made.ids.to(device),
                # Given in full: Hugging Face would take a jump in bare positions for packed sequences.
                attention_mask=made.mask.to(device),
                position_ids=made.positions.to(device),
                labels=made.labels.to(device),
            ).loss
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 200 == 0 or step == steps - 1:
            print(f"step {step:5d}  loss {loss.item():.4f}  {time.perf_counter() - begun:6.1f} s", flush=True)
    model.to("cpu", torch.bfloat16).save_pretrained(out)
