"""wrong: eos-in-the-answer

Appends before it asks whether the text has ended.
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
        answer.append(token)
        if len(answer) == max_tokens or (token in config.eos_ids and not ignore_eos):
            return answer
        start, new = start + len(new), [token]
