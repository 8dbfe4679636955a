"""InputProcessor: what becomes a request, and what is refused before anything is queued. Chapter 05."""

from __future__ import annotations

from collections.abc import Sequence

from .assembly import Parts
from .choices import find
from .core import Req, SamplingParams
from .output_processor import Text
from .values import as_int, in_order, ints, shown

Prompt = str | Sequence[int]


class InputProcessor:
    """Makes requests of prompts. Every refusal is a ValueError that names the value and its limit."""

    def __init__(self, parts: Parts) -> None:
        self.parts, self.checkpoint = parts, parts.checkpoint

    def request(self, prompt: Prompt, params: SamplingParams | None, uid: int) -> Req:
        """A request that can run; max_tokens is cut to what context and pool leave room for."""
        params = SamplingParams() if params is None else params
        if not isinstance(params, SamplingParams):
            raise ValueError(f"params is {shown(params)}; it must be SamplingParams")
        params.validate()
        self.parts.chooser.check(params)
        if params.stop:
            _ = self.checkpoint.tokenizer  # without one there is no text in which to look for them
        ids = self._token_ids(prompt)
        most = self.most_tokens(len(ids), params.max_tokens)
        return Req(uid, ids, params, eos_ids=self.checkpoint.config.eos_ids, max_tokens=most)

    def uid(self, uid: int) -> int:
        """A uid that a caller chose."""
        if type(value := as_int(uid)) is not int:
            raise ValueError(f"uid is {shown(uid)}; it must be an integer")
        return value

    def most_tokens(self, prompt_len: int, wanted: int) -> int:
        """`wanted`, cut to what context and pool leave room for; ValueError when the prompt is too long for either."""
        raise NotImplementedError("exercise 06.2: write the body of InputProcessor.most_tokens")

    def requests(
        self, prompts: Sequence[Prompt], params: SamplingParams | Sequence[SamplingParams] | None, first_uid: int
    ) -> list[Req]:
        """One request a prompt, with uids from `first_uid` on. `params`: one for all, or one a prompt."""
        if isinstance(prompts, str):
            raise ValueError("prompts is one string; pass a list of prompts")
        if not in_order(prompts):
            raise ValueError(f"prompts is {shown(prompts)}; it must be a list of prompts")
        if not isinstance(params, SamplingParams | None) and not in_order(params):
            raise ValueError(f"params is {shown(params)}; it must be SamplingParams, or a list of them")
        queue = list(prompts)
        each = [params] * len(queue) if isinstance(params, SamplingParams | None) else list(params)
        if len(each) != len(queue):
            raise ValueError(f"{len(queue)} prompts, but {len(each)} sampling params")
        return [self.request(*pair, first_uid + i) for i, pair in enumerate(zip(queue, each, strict=True))]

    def text(self, req: Req) -> Text | None:
        """What follows the text of an answer, where that decides when it ends; else None."""
        return self.streamed_text(req) if req.params.stop else None

    def streamed_text(self, req: Req) -> Text:
        """What follows the text of an answer as it grows. NotImplementedError where chapter 10 is not there."""
        text: Text = find("text", "incremental")(self.checkpoint.decode, req.params.stop)
        return text

    def _token_ids(self, prompt: Prompt) -> list[int]:
        if isinstance(prompt, str):
            try:
                prompt.encode()
            except UnicodeEncodeError as error:
                half = f"{prompt[error.start]!a} at position {error.start}"
                raise ValueError(f"the prompt has half a character, {half}; it must be valid Unicode") from None
        ids = self.checkpoint.encode(prompt) if isinstance(prompt, str) else ints(prompt)
        if ids is None:
            raise ValueError(f"a prompt is a string or a list of token ids, not {shown(prompt)}")
        if not ids:
            raise ValueError("the prompt is empty; it needs at least one token")
        vocab = self.checkpoint.config.vocab_size
        for position, token in enumerate(ids):
            if not 0 <= token < vocab:
                where = f"at position {position} is outside the vocabulary 0..{vocab - 1}"
                raise ValueError(f"token id {shown(token)} {where}")
        return ids
