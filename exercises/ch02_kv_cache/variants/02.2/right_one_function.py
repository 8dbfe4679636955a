"""right: everything in one function, one position more than needed"""


def generate_greedy(
    checkpoint: Checkpoint, prompt_ids: Sequence[int], max_tokens: int, ignore_eos: bool = False
) -> list[int]:
    config, decoder = checkpoint.config, checkpoint.decoder
    needed = _positions_needed(config, len(prompt_ids), max_tokens)
    cache = DenseCache(config, 1, needed + 1, checkpoint.dtype, checkpoint.device)
    tokens, done = list(prompt_ids), 0
    with torch.no_grad():
        while len(tokens) < len(prompt_ids) + max_tokens:
            ids = torch.as_tensor(tokens[done:], device=checkpoint.device)
            positions = done + torch.arange(len(ids), device=checkpoint.device)
            attend = DenseAttention(cache, [0], [done], [len(ids)])
            logits = decoder.logits(decoder.forward(ids, positions, attend)[-1:])
            token = int(logits[0].topk(1).indices)
            if not ignore_eos and token in config.eos_ids:
                break
            done = len(tokens)
            tokens.append(token)
    return tokens[len(prompt_ids) :]
