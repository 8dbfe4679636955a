"""Small random checkpoints in Hugging Face form, and the library's own answers for them.

Weights are drawn wide (initializer_range 0.3) and biases and norm weights are random: with the library's defaults, a
bias that is left out, a norm that is skipped or a swapped head would hardly show.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerFast

VOCAB = 128
TIE_GAP = 1e-3
"""Where HF's two best logits are closer than this, a differing token proves nothing."""

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "llama": ("Llama", {"tie_word_embeddings": False}),
    "qwen2": ("Qwen2", {"tie_word_embeddings": True}),
    "qwen3": ("Qwen3", {"tie_word_embeddings": True, "head_dim": 32}),
    "mistral": ("Mistral", {"tie_word_embeddings": False, "sliding_window": None}),
}
SIZES: dict[str, Any] = {
    "vocab_size": VOCAB,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.3,
    "eos_token_id": 2,
    "bos_token_id": 1,
    "pad_token_id": 0,
}
LLAMA3: dict[str, Any] = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}


def make_checkpoint(folder: Path, kind: str = "llama", seed: int = 0, **options: Any) -> PreTrainedModel:
    """Write a checkpoint of `kind` with HF's own save_pretrained; returns HF's model, float32, ready to generate."""
    prefix, special = KINDS[kind]
    config = getattr(transformers, f"{prefix}Config")(**{**SIZES, **special, **options})
    torch.manual_seed(seed)
    model: PreTrainedModel = getattr(transformers, f"{prefix}ForCausalLM")(config).eval()
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.3)
        elif "norm" in name:
            torch.nn.init.uniform_(parameter, 0.5, 1.5)
    model.set_attn_implementation("eager")
    model.generation_config = GenerationConfig(eos_token_id=config.eos_token_id, pad_token_id=0, bos_token_id=1)
    model.save_pretrained(folder)
    return model


def add_tokenizer(folder: Path, chat_template: str | None = None) -> None:
    """Put a tokenizer into the folder: words t0 .. t127, EOS t2."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    inner = Tokenizer(models.WordLevel({f"t{i}": i for i in range(VOCAB)}, unk_token="t3"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="t1", eos_token="t2", pad_token="t0")
    fast.chat_template = chat_template
    fast.save_pretrained(folder)


@torch.inference_mode()
def hf_greedy(model: PreTrainedModel, prompt: list[int], max_tokens: int, stop: bool = True) -> tuple[list[int], float]:
    """HF's greedy ids, cut before the first EOS of its generation config, and its smallest top-2 gap on the way."""
    config = model.generation_config
    eos = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    result = model.generate(
        torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.int64),
        max_new_tokens=max_tokens,
        do_sample=False,
        output_scores=True,
        return_dict_in_generate=True,
        **({} if stop else {"eos_token_id": None}),
    )
    ids = result.sequences[0, len(prompt) :].tolist()
    best = torch.stack(result.scores)[:, 0].topk(2).values
    gap = float((best[:, 0] - best[:, 1]).min())
    end = next((i for i, token in enumerate(ids) if stop and token in eos), len(ids))
    return ids[:end], gap


def random_prompts(count: int, shortest: int, longest: int, seed: int = 0) -> list[list[int]]:
    """Prompts of random lengths and ids; none holds a special token."""
    draw = torch.Generator().manual_seed(seed)
    lengths = torch.randint(shortest, longest + 1, (count,), generator=draw).tolist()
    return [torch.randint(4, VOCAB, (n,), generator=draw).tolist() for n in lengths]


def edit_json(path: Path, **changes: Any) -> None:
    """Change fields of a JSON file; ... (Ellipsis) removes one."""
    values = json.loads(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        values.pop(name, None)
        if value is not ...:
            values[name] = value
    path.write_text(json.dumps(values), encoding="utf-8")


def read_tensors(folder: Path) -> dict[str, torch.Tensor]:
    """All tensors of an unsharded checkpoint."""
    return load_file(folder / "model.safetensors")


def write_tensors(folder: Path, tensors: dict[str, torch.Tensor]) -> None:
    """Replace the tensors of an unsharded checkpoint."""
    save_file({name: t.contiguous() for name, t in tensors.items()}, folder / "model.safetensors", {"format": "pt"})


def shard(folder: Path, tensors_per_file: int = 1) -> list[Path]:
    """Spread an unsharded checkpoint over files with an index, in reverse name order; returns the files."""
    tensors = read_tensors(folder)
    (folder / "model.safetensors").unlink()
    names = sorted(tensors, reverse=True)
    groups = [names[i : i + tensors_per_file] for i in range(0, len(names), tensors_per_file)]
    weight_map, paths = {}, []
    for number, group in enumerate(groups, 1):
        paths.append(folder / f"model-{number:05}-of-{len(groups):05}.safetensors")
        save_file({name: tensors[name] for name in group}, paths[-1], {"format": "pt"})
        weight_map.update(dict.fromkeys(group, paths[-1].name))
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return paths
