"""right: a prefill, then a for loop"""


@torch.inference_mode()
def generate_greedy(
    checkpoint: Checkpoint, prompt_ids: Sequence[int], max_tokens: int, ignore_eos: bool = False
) -> list[int]:
    ids = [*prompt_ids]
    length = _positions_needed(checkpoint.config, len(ids), max_tokens)
    cache = DenseCache(checkpoint.config, 1, length, checkpoint.dtype, checkpoint.device)
    ends = () if ignore_eos else checkpoint.config.eos_ids
    answer = [_next_token(checkpoint, cache, ids, 0)]
    for position in range(len(ids), length):
        if answer[-1] in ends:
            break
        answer.append(_next_token(checkpoint, cache, answer[-1:], position))
    return answer[:-1] if answer[-1] in ends else answer
