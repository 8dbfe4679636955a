"""Custom: parts of one's own in an engine. Chapter 05."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .scheduler.phase import PhasePolicy
from .scheduler.scheduler import Scheduler
from .values import shown


@dataclass(frozen=True)
class Custom:
    """Parts of your own in place of those that the options choose: factories, called as the assembly calls its own.

    queue: comes with the adder that it can be served by; an adder alone gets a queue of whole prompts.
    load: as models.checkpoint.load. pages: pages that there is room for -> pages that the pool gets. around_chooser,
    around_runner: put something around the chooser, or around what runs batches. into_norm: decoder -> how fused
    kernels go from a product to the next norm, see kernels.fused. Where several ranks compute together, `pages`,
    `around_chooser` and `into_norm` are how they agree and add up.
    """

    adder: Callable[..., Any] | None = None
    queue: Callable[..., Any] | None = None
    cache: Callable[..., Any] | None = None
    scheduler: Callable[..., Scheduler] | None = None
    loop: Callable[..., Any] | None = None
    chooser: Callable[..., Any] | None = None
    policy: Callable[[], PhasePolicy] | None = None
    load: Callable[..., Any] | None = None
    pages: Callable[[int], int] | None = None
    around_chooser: Callable[[Any], Any] | None = None
    around_runner: Callable[[Any], Any] | None = None
    into_norm: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        """Raise ValueError naming the first part that cannot be called, and for a queue without an adder."""
        for name, part in vars(self).items():
            if not (part is None or callable(part)):
                raise ValueError(f"Custom({name}) is {shown(part)}; it must be a class or function to call, or None")
        if self.queue and not self.adder:
            # in pieces, where the queue knows whole prompts only, a prompt would be lost half-way: rounds without end
            need = "an adder as well, of whole prompts or in pieces as the queue is"
            raise ValueError(f"Custom(queue) is {shown(self.queue)}; it needs {need}")


def as_custom(custom: Custom | None) -> Custom:
    """None is a Custom that changes nothing. Raises ValueError for what is no Custom."""
    if not (custom is None or isinstance(custom, Custom)):
        raise ValueError(f"custom is {shown(custom)}; it must be a Custom or None")
    return Custom() if custom is None else custom
