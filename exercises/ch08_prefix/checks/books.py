"""The books of a prefix cache, kept by hand: which text is cached in which page, and what each account has."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Text = tuple[int, ...]


@dataclass
class Account:
    """What the books know of a request."""

    prompt: list[int]
    ids: list[int]
    pages: list[int] = field(default_factory=list)
    shared: int = 0
    cached_len: int = 0
    published: bool = False


class Books:
    """A dictionary of texts. Pages have numbers of their own, below 0, until those that were handed out are seen."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.texts: dict[Text, int] = {}
        self.accounts: dict[int, Account] = {}
        self.moves: list[list[Any]] = []
        self.closed: Account | None = None
        self.fresh = 0

    def end(self, ids: list[int], k: int) -> Text:
        """The text of the first k pages."""
        return tuple(ids[: k * self.size])

    def matched(self, ids: list[int]) -> int:
        """Whole pages of `ids` that are cached."""
        k = 0
        while (k + 1) * self.size <= len(ids) and self.end(ids, k + 1) in self.texts:
            k += 1
        return k

    def apply(self, op: list[Any], seen: dict[str, Any]) -> None:
        """One step. What `grow` hands out is taken from what was seen: it is not the exercise."""
        self.moves, self.closed = [], None
        if op[0] in ("open", "again"):
            self.open(op[1], op[2])
        elif op[0] == "close":
            self.close(op[1])
        else:
            account = self.accounts[op[1]]
            had = len(account.pages)
            self.follow(op)
            account.pages = list(dict(map(tuple, seen["pages"]))[op[1]])
            self.moves = [[page, op[1]] for page in account.pages[had:]]

    def follow(self, op: list[Any]) -> None:
        """A step that only moves a request on, or closes it."""
        account = self.accounts[op[1]]
        if op[0] == "sample":
            account.ids.append(op[2])
        elif op[0] == "close":
            self.close(op[1])
        else:
            account.cached_len += op[2] if op[0] == "compute" else 1
            while len(account.pages) * self.size < account.cached_len:
                self.fresh -= 1
                account.pages.append(self.fresh)

    def open(self, uid: int, prompt: list[int]) -> None:
        """Publish what is computed, then find the longest beginning."""
        self.moves = []
        for account in self.accounts.values():
            if not account.published and len(account.ids) > len(account.prompt):
                account.published = True
                whole = len(account.prompt) // self.size
                k = self.matched(account.prompt[: whole * self.size])
                if [self.texts[self.end(account.prompt, i + 1)] for i in range(k)] == account.pages[:k]:
                    self._keep(account, k, whole)
                    account.shared = whole
        k = self.matched(prompt[:-1])
        pages = [self.texts[self.end(prompt, i + 1)] for i in range(k)]
        self.accounts[uid] = Account(prompt, list(prompt), pages, k, k * self.size)

    def close(self, uid: int) -> None:
        """Keep whole pages that are computed and whose tokens are known; the rest is free."""
        account = self.closed = self.accounts.pop(uid)
        if len(account.pages) > account.shared:
            whole = min(account.cached_len, len(account.ids)) // self.size
            k = self.matched(account.ids[: whole * self.size])
            self._keep(account, k, whole)
            spare = account.pages[account.shared : k] + account.pages[whole:]
            self.moves += [[page, "free"] for page in spare]

    def _keep(self, account: Account, first: int, end: int) -> None:
        for i in range(first, end):
            self.texts[self.end(account.ids, i + 1)] = account.pages[i]
            self.moves.append([account.pages[i], "cache"])

    def locks(self, text: Text) -> int:
        """How many accounts share the page that ends this text."""
        ends = [self.end(account.ids, account.shared) for account in self.accounts.values()]
        return sum(end[: len(text)] == text for end in ends)
