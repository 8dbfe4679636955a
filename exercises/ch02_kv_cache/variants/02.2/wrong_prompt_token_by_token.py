"""wrong: prompt-in-pieces

Computes the prompt one token a pass: right, and as slow as decoding it.
"""


@torch.inference_mode()
def generate_greedy(
    checkpoint: Checkpoint, prompt_ids: Sequence[int], max_tokens: int, ignore_eos: bool = False
) -> list[int]:
    config = checkpoint.config
    needed = _positions_needed(config, len(prompt_ids), max_tokens)
    cache = DenseCache(config, 1, needed, checkpoint.dtype, checkpoint.device)
    answer: list[int] = []
    ids, start = list(prompt_ids), 0
    for start, token in enumerate(ids[:-1]):
        _next_token(checkpoint, cache, [token], start)
    new, start = ids[-1:], len(ids) - 1
    while True:
        token = _next_token(checkpoint, cache, new, start)
        if token in config.eos_ids and not ignore_eos:
            return answer
        answer.append(token)
        if len(answer) == max_tokens:
            return answer
        start, new = start + len(new), [token]
