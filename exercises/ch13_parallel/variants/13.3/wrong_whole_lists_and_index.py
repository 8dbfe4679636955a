"""wrong: whole-lists-told

Tells where, and all of both lists.
"""


def first_difference(plans: Sequence[Plan]) -> str:
    for rank, plan in enumerate(plans):
        for name, mine in plans[0].items():
            theirs = plan.get(name)
            if theirs != mine:
                return f"{name}{_parting(mine, theirs, rank)}"
    return ""


def _parting(mine: Any, theirs: Any, rank: int) -> str:
    if not isinstance(mine, list) or not isinstance(theirs, list):
        return f" is {mine} on rank 0 and {theirs} on rank {rank}"
    at = next((i for i, pair in enumerate(zip(mine, theirs, strict=False)) if pair[0] != pair[1]), None)
    if at is None:
        return f" has {len(mine)} entries on rank 0 and {len(theirs)} on rank {rank}"
    return f"[{at}] is {mine} on rank 0 and {theirs} on rank {rank}"


class AgreeingScheduler:
    def plan(self) -> Batch | None:
        batch: Batch | None = None
        starved: OutOfPages | None = None
        try:
            batch = super().plan()
        except OutOfPages as error:
            starved = error
        mine = described(batch) if starved is None else {"phase": str(starved)}
        found = self._link.exchange(mine, first_difference)
        if found:
            raise InvariantError(f"round {self.launched}: the ranks have planned different batches: {found}")
        if starved is not None:
            raise starved
        return batch
