"""What was seen of a prefix cache, beside the books: the first difference is named."""

from __future__ import annotations

from typing import Any

from workbook.judge.checklib import Result

from .books import Books, Text


def judge_step(
    where: str, op: list[Any], before: dict[str, Any], seen: dict[str, Any], books: Books, pages: int
) -> Result:
    """Where every page is, beside the books; the first difference is named."""
    held = {page for account in books.accounts.values() for page in account.pages[account.shared :]}
    cached = {tuple(text): page for text, page, *_ in seen["texts"]}
    free = seen["free"]
    if len(cached) < len(seen["texts"]):
        message = f"{where}: pages joined the tree without tokens of their own: not all of them are known"
        return Result.failed("caches-what-is-not-known", message)
    twice = sorted({page for page in free if free.count(page) > 1 or page in cached.values() or page in held})
    if op[0] == "close" and twice:
        shared = set(books.closed.pages[: books.closed.shared]) if books.closed else set()
        diagnosis = "gives-back-shared-pages" if set(twice) & shared else "page-in-two-places"
        return Result.failed(diagnosis, f"{where}: pages {twice} are free and still in use")
    if cached != books.texts:
        return Result.failed(*name_texts(where, op, cached, books, before))
    lost = sorted(set(range(pages)) - set(free) - held - set(cached.values()))
    if lost:
        return Result.failed(name_lost(lost, books), f"{where}: pages {lost} are neither free, nor held, nor cached")
    return judge_accounts(where, op, seen, books)


def name_texts(
    where: str, op: list[Any], cached: dict[Text, int], books: Books, before: dict[str, Any]
) -> tuple[str, str]:
    """(diagnosis, message) of a cache that holds the wrong texts."""
    if part := next((text for text in cached if len(text) % books.size), None):
        return "part-of-a-page-cached", f"{where}: {list(part)} is not a number of whole pages of {books.size}"
    old = {tuple(text): page for text, page, *_ in before["texts"]}
    for text, page in old.items():
        if cached.get(text, page) != page:
            return "replaces-a-cached-page", f"{where}: {list(text)} was cached in page {page}, now in {cached[text]}"
    missing, extra = sorted(books.texts.keys() - cached.keys()), sorted(cached.keys() - books.texts.keys())
    if op[0] in ("open", "again"):
        if missing:
            message = f"{where}: {list(missing[-1])} is computed and its first token known, but it is not cached"
            return "prompt-not-published", message
        partly = any(len(account.prompt) < len(extra[-1]) for account in books.accounts.values())
        diagnosis = "published-too-much" if partly and _known(extra[-1], books) else "published-before-it-is-computed"
        return diagnosis, f"{where}: {list(extra[-1])} must not be cached yet"
    if extra:
        diagnosis = "caches-what-is-not-computed"
        return diagnosis, f"{where}: {list(extra[-1])} is cached, but not all of it is computed and known"
    if not missing:
        return "caches-the-wrong-page", f"{where}: a text is cached in the wrong page"
    closed = books.closed
    prompt_only = closed is not None and len(missing[0]) > len(closed.prompt) // books.size * books.size
    diagnosis = "answer-not-cached" if prompt_only else "nothing-kept"
    return diagnosis, f"{where}: {list(missing[-1])} was computed, and is not cached"


def _known(text: Text, books: Books) -> bool:
    """Whether a request with a sampled token has this text."""
    return any(
        len(a.ids) > len(a.prompt) and tuple(a.ids[: len(text)]) == text and a.published
        for a in books.accounts.values()
    )


def name_lost(lost: list[int], books: Books) -> str:
    """Which pages of a closed account were forgotten."""
    if books.closed is None:
        return "page-lost"
    where = [books.closed.pages.index(page) for page in lost if page in books.closed.pages]
    whole = min(books.closed.cached_len, len(books.closed.ids)) // books.size
    return "duplicates-not-given-back" if where and min(where) < whole else "rest-not-given-back"


def name_locks(where: str, seen: dict[str, Any], books: Books) -> tuple[str, str] | None:
    """(diagnosis, message) of the first page with a wrong number of locks, if any."""
    for text, page, locks, *_ in seen["texts"]:
        if locks != (want := books.locks(tuple(text))):
            diagnosis = "lock-left-behind" if locks > want else "not-locked"
            return diagnosis, f"{where}: page {page} has {locks} locks, expected {want}"
    return None


def name_broken(where: str, op: list[Any], said: str) -> tuple[str, str]:
    """(diagnosis, message) of what the invariants say."""
    if "tokens in" not in said:
        return "books-do-not-add-up", f"{where}: {said}"
    if op[0] in ("open", "again"):
        note = "A prompt was published with tokens of its answer: only the first `prompt_len` belong to it"
        return "published-too-much", f"{where}: {said}. {note}"
    return "more-tokens-than-pages", f"{where}: {said}. `insert` takes the tokens of the pages that it is given"


def judge_accounts(where: str, op: list[Any], seen: dict[str, Any], books: Books) -> Result:
    """Who shares how much, who is locked, and what the trace is told."""
    if [uid for uid, _ in seen["shared"]] != list(books.accounts):
        return Result.failed("account-left-open", f"{where}: the accounts are {[uid for uid, _ in seen['shared']]}")
    now = {uid: list(pages) for uid, pages in seen["pages"]}
    if op[0] == "close" and now[op[1]]:
        return Result.failed("account-left-open", f"{where}: request {op[1]} still has pages {now[op[1]]}")
    for uid, shared in seen["shared"]:
        account = books.accounts[uid]
        if now[uid] != account.pages:
            message = f"{where}: request {uid} reads pages {now[uid]}, expected {account.pages}: a row never changes"
            return Result.failed("row-changed", message)
        if shared != account.shared:
            diagnosis = "published-but-not-locked" if shared < account.shared else "locks-a-copy-it-does-not-read"
            if shared < account.shared and not name_locks(where, seen, books):
                message = f"{where}: request {uid} has its lock, but its Hold says {shared} pages"
                return Result.failed("hold-says-too-few", f"{message}; expected {account.shared}, all up to the lock")
            message = f"{where}: request {uid} shares {shared} pages with the tree, expected {account.shared}"
            return Result.failed(diagnosis, message)
    if wrong := name_locks(where, seen, books):
        return Result.failed(*wrong)
    if seen["broken"]:
        return Result.failed(*name_broken(where, op, seen["broken"]))
    told = [move for move in seen["moves"] if move not in books.moves]
    if told or len(seen["moves"]) != len(books.moves):
        message = f"{where}: moves tell (page, owner) {seen['moves']}; expected {books.moves}"
        return Result.failed("moves-not-noted", message)
    return Result.ok()
