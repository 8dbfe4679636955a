"""wrong: wrong-position

The same gap in a cache of the right size, whose end the last pass runs over.
"""


@torch.inference_mode()
def generate_greedy(
    checkpoint: Checkpoint, prompt_ids: Sequence[int], max_tokens: int, ignore_eos: bool = False
) -> list[int]:
    config = checkpoint.config
    needed = _positions_needed(config, len(prompt_ids), max_tokens)
    cache = DenseCache(config, 1, needed, checkpoint.dtype, checkpoint.device)
    answer: list[int] = []
    new, start = list(prompt_ids), 0
    while True:
        token = _next_token(checkpoint, cache, new, start)
        if token in config.eos_ids and not ignore_eos:
            return answer
        answer.append(token)
        if len(answer) == max_tokens:
            return answer
        start, new = len(prompt_ids) + len(answer), [token]
