"""What the judge asks of the student's code: chapter 08. Runs in the graded process; returns plain values."""

from __future__ import annotations

from typing import Any

from minisgl_lite.assembly import Custom
from minisgl_lite.core import Batch, InvariantError, Req, SamplingParams
from minisgl_lite.kvcache import radix
from minisgl_lite.kvcache.pages import PageAllocator
from minisgl_lite.kvcache.radix import Node, RadixTree
from minisgl_lite.scheduler.chunked import ChunkedAdder, ChunkedPrefillManager
from minisgl_lite.scheduler.prefix import PrefixCacheManager
from workbook.judge.calls import call
from workbook.judge.drive import Traffic, drive
from workbook.judge.model import bundled_model

CACHED = Custom(adder=ChunkedAdder, queue=ChunkedPrefillManager, cache=PrefixCacheManager)


def probe_schedule(args: dict[str, Any]) -> dict[str, Any]:
    """A whole schedule on the shadow engine, with the prefix cache."""
    return drive(Traffic(**args), CACHED)


def probe_common(args: dict[str, Any]) -> list[Any]:
    """common_prefix of each pair."""
    return [call(radix.common_prefix, list(a), list(b)) for a, b in args["pairs"]]


def texts_of(tree: RadixTree) -> list[list[Any]]:
    """[text up to its end, page, locks, used, whether a node ends there] for every cached page, from the root down."""
    out: list[list[Any]] = []
    todo: list[tuple[Node, list[int]]] = [(child, []) for child in tree.root.children.values()]
    while todo:
        node, text = todo.pop(0)
        for i, page in enumerate(node.pages):
            text = text + node.key[i * tree.page_size : (i + 1) * tree.page_size]
            out.append([text, page, node.locks, node.used, i == len(node.pages) - 1])
        todo += [(child, text) for child in node.children.values()]
    return out


def broken(check: Any) -> str | None:
    """What the invariants say."""
    try:
        check()
    except InvariantError as error:
        return str(error)
    return None


def way_to(node: Node) -> list[int]:
    """The pages from the root to the end of a node."""
    pages: list[int] = []
    above: Node | None = node
    while above is not None:
        pages = above.pages + pages
        above = above.parent
    return pages


def probe_tree(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Do one thing after the other to a tree; how it stands after each.

    ops: ["match", ids], ["insert", ids, its pages], ["lock", ids, name], ["keep", ids, its pages, name] (insert, and
    lock what was inserted), ["unlock", name], ["evict", n]. The last is the one at which the queue was empty, if any.
    """
    tree, ends, seen = RadixTree(args["page_size"]), {}, []
    for kind, *rest in args["ops"]:
        answer: dict[str, Any] = {"pages": None, "way": None, "refused": None, "empty": False, "aliased": False}
        try:
            if kind in ("match", "insert", "keep", "lock"):
                node, pages = call(tree.match, list(rest[0]), returns=tuple)
                answer["pages"], answer["way"] = list(pages), way_to(node)
                answer["aliased"] = any(pages is other.pages for other in [tree.root, *tree.walk()])
            if kind in ("insert", "keep"):
                new = rest[1][len(pages) :]
                node = tree.insert(node, rest[0][len(pages) * tree.page_size :], list(new))
            if kind in ("keep", "lock"):
                call(tree.lock, node)
                ends[rest[-1]] = node
            elif kind == "unlock":
                call(tree.unlock, ends[rest[0]])
            elif kind == "evict":
                answer["pages"] = call(tree.evict, rest[0], returns=list)
        except InvariantError as error:
            answer["refused"] = str(error)
        except IndexError as error:
            if str(error) != "index out of range":  # heappop's words for an empty queue
                raise
            return [*seen, {**answer, "empty": True}]
        answer |= {"texts": texts_of(tree), "size": tree.size, "evictable": tree.evictable, "clock": tree.clock}
        seen.append({**answer, "broken": broken(tree.check)})
    return seen


def probe_work(args: dict[str, Any]) -> dict[str, int]:
    """Evict pages one by one from a tree of many leaves, all used again since they came; nodes looked at: by walking,
    by asking whether they can be evicted, or by reading one of their fields, whichever is most.
    """
    looks, evictable, walk = 0, Node.evictable, RadixTree.walk
    fields = {name: vars(Node)[name] for name in ("children", "locks", "used")}
    reads = dict.fromkeys(fields, 0)

    def looked(node: Node) -> bool:
        nonlocal looks
        looks += 1
        return evictable.fget(node)

    def walked(tree: RadixTree) -> Any:
        nonlocal looks
        for node in walk(tree):
            looks += 1
            yield node

    tree = RadixTree(1)
    for first in [*range(args["leaves"]), *range(args["leaves"])]:
        node, pages = tree.match([first])
        tree.insert(node, [first][len(pages) :], [first][len(pages) :])

    def counted(name: str) -> property:
        def read(node: Node) -> Any:
            reads[name] += 1
            return fields[name].__get__(node)

        return property(read, fields[name].__set__)

    Node.evictable, RadixTree.walk = property(looked), walked
    for name in fields:
        setattr(Node, name, counted(name))
    try:
        pages = [page for _ in range(args["pages"]) for page in tree.evict(1)]
    finally:
        Node.evictable, RadixTree.walk = evictable, walk
        for name, field in fields.items():
            setattr(Node, name, field)
    return {"looks": max(looks, *reads.values()), "pages": len(set(pages))}


def probe_accounts(args: dict[str, Any]) -> list[dict[str, Any]]:
    """Open, compute and close accounts by hand; how things stand after each step.

    ops: ["open", uid, prompt], ["again", uid, prompt] (the same request, refused before), ["compute", uid, n],
    ["decode", uid], ["sample", uid, token], ["close", uid]. {"emptied": True} ends the answer when `close`
    emptied the list of pages that a match had found.
    """
    cache = PrefixCacheManager(PageAllocator(args["pages"], args["page_size"]))
    reqs: dict[int, Req] = {}
    seen, emptied = [], set()
    for kind, uid, *rest in args["ops"]:
        if kind == "open":
            reqs[uid] = Req(uid, rest[0], SamplingParams(max_tokens=50))
            reqs[uid].table_idx = uid
        if kind == "again" and uid in emptied:
            return [*seen, {"emptied": True}]
        if kind in ("open", "again"):
            call(cache.open, reqs[uid])
        elif kind == "sample":
            reqs[uid].input_ids.append(rest[0])
        elif kind == "close":
            found, had = reqs[uid].pages, bool(reqs[uid].pages)
            call(cache.close, reqs[uid])
            if had and not found:
                emptied.add(uid)
        else:
            store(cache, reqs[uid], rest[0] if rest else None)
        seen.append(standing(cache, reqs))
    return seen


def store(cache: PrefixCacheManager, req: Req, n: int | None) -> None:
    """Plan a batch of one request: `n` prompt tokens, or one decode step."""
    batch = Batch("prefill")
    if n is None:
        batch = Batch("decode", [req], [req.cached_len], [1], [req.row], uids=[req.uid])
    else:
        batch.add(req, n)
    cache.grow(batch)
    req.cached_len += batch.lens[0]
    req.last_launch += 1


def probe_looked_up(args: dict[str, Any]) -> list[int]:
    """How often the tree is searched by two `open`s in a row, when so many requests have their first token.

    closed: they are closed before, and were never published.
    """
    cache, match = PrefixCacheManager(PageAllocator(200, 1)), RadixTree.match
    looks = 0

    def looked(tree: RadixTree, ids: list[int]) -> Any:
        nonlocal looks
        looks += 1
        return match(tree, ids)

    reqs = [Req(uid, [uid, 90, 91], SamplingParams()) for uid in range(args["requests"] + 2)]
    for req in reqs:
        req.table_idx = req.uid
    for req in reqs[:-2]:
        call(cache.open, req)
    for req in reqs[:-2]:
        store(cache, req, 3)
        req.input_ids.append(95)
        if args["closed"]:
            call(cache.close, req)
    seen = []
    RadixTree.match = looked
    try:
        for req in reqs[-2:]:
            looks = 0
            call(cache.open, req)
            seen.append(looks)
    finally:
        RadixTree.match = match
    return seen


def standing(cache: PrefixCacheManager, reqs: dict[int, Req]) -> dict[str, Any]:
    """Where every page is, and what the trace is told."""
    moves = [
        [page, owner]
        for pages, owners in cache.take_moves()
        for page, owner in zip(pages, owners if isinstance(owners, list) else [owners] * len(pages), strict=True)
    ]
    open_ = cache.accounts
    return {
        "pages": [[uid, list(req.pages)] for uid, req in reqs.items()],
        "shared": [[uid, len(req.pages) - len(cache.private_pages(req))] for uid, req in open_.items()],
        "cached": [req.cached_len for req in open_.values()],
        "texts": texts_of(cache.tree),
        "free": cache.allocator.snapshot(),
        "moves": moves,
        "broken": broken(cache.check),
    }


def probe_turns(args: dict[str, Any]) -> dict[str, Any]:
    """Greedy tokens of the bundled model, one list of prompts after the other on the same cache."""
    from minisgl_lite import LLM

    limits = {"num_pages": args["pages"], "page_size": args["page_size"], "max_running_req": args["rows"]}
    out, found = [], []
    with LLM(bundled_model(), **limits, cache_type="radix", overlap=False) as llm:
        for prompts, most in args["turns"]:
            before = len(llm.trace)
            outputs = llm.generate(prompts, SamplingParams(max_tokens=most, ignore_eos=True))
            llm.check_invariants()
            out.append([o.token_ids for o in outputs])
            first: dict[int, int] = {}
            for r in list(llm.trace)[before:]:
                for uid, cached, _ in r.entries:
                    first.setdefault(uid, cached)
            found.append([first[uid] for uid in sorted(first)])
    return {"tokens": out, "found": found}
