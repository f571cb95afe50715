"""The division of the time of a run among the components of a problem, for partitions and for labelings.

Components are solved one after the other, the smallest first. Each has a share of the remaining time in proportion to
its size, so the time that small components do not need goes to large ones. Then the components that are still open have
further turns, until the time is over or no component can use it. A component may fall into smaller ones while it is
solved. These come next. Without a time limit, or if not all of the time is to be used, each component has one turn.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from graphpart.stopping import Stopping

__all__ = ["Component", "share_out"]


class Component(Protocol):
    """A part of a problem that is solved apart."""

    @property
    def size(self) -> int:
        """The component gets time in proportion to this number."""

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""


C = TypeVar("C", bound=Component)


def share_out(
    components: Sequence[C],
    solve: Callable[[C, float | None], bool],
    stopping: Stopping,
    cost: Callable[[], float],
    is_limited: bool,
) -> None:
    """Let all components be solved.

    Parameters
    ----------
    components : sequence of Component
        Components that are added to this sequence by `solve` come next.
    solve : callable
        ``solve(component, seconds)`` goes on with a component, and returns whether it could do anything.
    stopping : Stopping
        The limits of the whole run.
    cost : callable
        Returns the cost of the whole problem, which is given to `stopping`.
    is_limited : bool
        Whether to use all the time of `stopping`. If not, each component comes once. If `stopping` has no time limit,
        its share is None.
    """
    moved = True
    while moved:
        moved, waiting = False, deque(_smallest_first(one for one in components if one.is_open))
        total = sum(one.size for one in waiting)
        while waiting and not stopping.check(cost()):
            one, known = waiting.popleft(), len(components)
            left = stopping.remaining
            share = None if left is None else left * one.size / max(1, total)
            total -= one.size
            moved |= solve(one, share)
            new = _smallest_first(components[known:])
            total += sum(part.size for part in new)
            waiting.extendleft(reversed(new))
        if not is_limited:
            return


def _smallest_first(components: Iterable[C]) -> list[C]:
    return sorted(components, key=lambda one: one.size)
