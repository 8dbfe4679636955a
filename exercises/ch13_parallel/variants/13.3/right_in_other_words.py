"""right: in other words, with the exchange in a finally-like order of its own"""


def first_difference(plans: Sequence[Plan]) -> str:
    first = plans[0]
    for rank in range(1, len(plans)):
        other = plans[rank]
        for field in first:
            a, b = first[field], other.get(field)
            if a == b:
                continue
            if type(a) is list and type(b) is list:
                for i in range(min(len(a), len(b))):
                    if a[i] != b[i]:
                        return f"rank {rank} differs in {field}[{i}]: {b[i]}, where rank 0 has {a[i]}"
                return f"rank {rank} differs in {field}: length {len(b)}, where rank 0 has {len(a)}"
            return f"rank {rank} differs in {field}: {b}, where rank 0 has {a}"
    return ""


class AgreeingScheduler:
    def plan(self) -> Batch | None:
        batch, error = None, None
        try:
            batch = super().plan()
        except OutOfPages as out:
            error = out
        plan = {"phase": "out of pages", "why": str(error)} if error else described(batch)
        verdict = self._link.exchange(plan, first_difference)
        if verdict != "":
            raise InvariantError(f"in round {self.launched} the plans part: {verdict}")
        if error:
            raise error
        return batch
