"""Multipliers that proofs have found while a problem was solved, for the certificate that is made afterwards.

They are kept within `keeping` only, since they take about as much memory as the relaxations themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.certificates.inequalities import Inequalities

__all__ = ["Kept", "is_keeping", "keep", "keeping"]


class Kept(NamedTuple):
    """Inequalities over some elements, their multipliers, and the point of the relaxation."""

    elements: NDArray[Any]  # of the problem; inequalities and point number them from 0
    inequalities: Inequalities
    multipliers: NDArray[np.float64]
    point: NDArray[np.float64]


_LIST: ContextVar[list[Kept] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(wanted: bool = True) -> Iterator[list[Kept]]:
    """A list of what the methods that run within keep; it stays empty unless it is `wanted`."""
    found: list[Kept] = []
    token = _LIST.set(found if wanted else None)
    try:
        yield found
    finally:
        _LIST.reset(token)


def is_keeping() -> bool:
    """Whether somebody wants what proofs have found."""
    return _LIST.get() is not None


def keep(some: Iterable[Kept], elements: NDArray[Any]) -> None:
    """Keep what is over the elements of a derived problem, which are these of the whole one."""
    if (found := _LIST.get()) is not None:
        found += (one._replace(elements=elements[one.elements]) for one in some)
