"""wrong: only-the-first-eos

Takes eos_ids for one id, and there may be none.
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
        if token == config.eos_ids[0] and not ignore_eos:
            return answer
        answer.append(token)
        if len(answer) == max_tokens:
            return answer
        start, new = start + len(new), [token]
