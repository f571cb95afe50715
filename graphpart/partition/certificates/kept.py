"""Multipliers that proofs have found while a problem was solved, for the certificate that is made afterwards.

They are kept within `keeping` only, since they take about as much memory as the relaxations themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.certificates.inequalities import Inequalities

__all__ = ["Kept", "is_keeping", "keep", "keeping", "tell"]


Path = frozenset[tuple[int, int, bool]]  # decisions: two elements, and whether they are together


class Kept(NamedTuple):
    """Inequalities over some elements, their multipliers, and the point of the relaxation."""

    elements: NDArray[Any]  # of the problem; all others number them from 0
    inequalities: Inequalities
    multipliers: NDArray[np.float64]
    point: NDArray[np.float64]
    nodes: dict[Path, Any]  # of the tree: the pair that divides a node, or what has closed it

    def scaled(self, unit: float) -> Kept:
        """The same for costs that are `unit` times as large."""
        nodes = {path: node.scaled(unit) if isinstance(node, Kept) else node for path, node in self.nodes.items()}
        return self._replace(multipliers=unit * self.multipliers, nodes=nodes)

    def placed(self, place: NDArray[Any]) -> tuple[Kept, dict[Path, Any]]:
        """The same over other names of elements, and the nodes by their names."""
        named, nodes = place[self.elements], dict[Path, Any]()
        for path, node in self.nodes.items():
            key = frozenset((*sorted(named[[a, b]].tolist()), joined) for a, b, joined in path)
            is_pair = not isinstance(node, Kept)
            nodes[key] = tuple(sorted(named[list(node)].tolist())) if is_pair else node._replace(elements=named)
        return self._replace(elements=named, nodes={}), nodes


Told = Callable[[Callable[[], list[Kept]]], None]
_KEEPER: ContextVar[tuple[list[Kept], Told | None] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(wanted: bool = True, told: Told | None = None) -> Iterator[list[Kept]]:
    """A list of what the methods that run within keep. Unless it is `wanted`, it stays empty, and one outside goes on.

    When a bound has risen, `told` is called with a function that returns what is known at that time.
    """
    found: list[Kept] = []
    token = _KEEPER.set((found, told) if wanted else _KEEPER.get())
    try:
        yield found
    finally:
        _KEEPER.reset(token)


def is_keeping() -> bool:
    """Whether somebody wants what proofs have found."""
    return _KEEPER.get() is not None


def keep(known: list[Kept]) -> None:
    """Keep what a method has proven."""
    if (keeper := _KEEPER.get()) is not None:
        keeper[0].extend(known)


def tell(known: Callable[[], list[Kept]]) -> None:
    """Say that a bound has risen."""
    if (keeper := _KEEPER.get()) is not None and keeper[1] is not None:
        keeper[1](known)
