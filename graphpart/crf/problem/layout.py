"""Two views of a factor graph that algorithms share: the labels in one flat vector, and an order of elimination."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import _structure

__all__ = ["Layout", "Scheme", "layout_of", "scheme_of"]


@dataclass(frozen=True)
class Layout:
    """The positions of the labels of all variables in one flat vector, and the largest sizes.

    The labels of variable v begin at ``width * v`` if all variables have `width` labels; otherwise `width` is 0, and
    they begin at ``first[v]``. For `runs` see `_structure.runs`. If `pairs_only` is true, all variables are binary, all
    factors have at most two variables, and no entry is infinite.
    """

    width: int
    first: NDArray[np.int64]
    size: int
    largest_table: int
    largest_arity: int
    runs: NDArray[np.int64]
    pairs_only: bool


@dataclass(frozen=True)
class Scheme:
    """How the leaves of a factor graph can be eliminated; see `_structure.eliminate`.

    `roots` are the last variables of acyclic components, `cyclic` are the variables on cycles and on paths between
    cycles. `scattered` says that neighbours in `order` are far from each other in memory.
    """

    order: NDArray[np.int32]
    parent: NDArray[np.int32]
    roots: NDArray[np.int32]
    cyclic: NDArray[np.int64]
    scattered: bool


def layout_of(
    domains: NDArray[np.int32],
    scope_start: NDArray[np.int64],
    scope: NDArray[np.int32],
    table_start: NDArray[np.int64],
    has_forbidden: bool,
) -> Layout:
    """The layout of a factor graph with these arrays. O(n + size of scopes)"""
    n = len(domains)
    least, most = (int(domains.min()), int(domains.max())) if n else (1, 1)
    place = np.zeros(0 if least == most else n + 1, np.int64)
    if least < most:
        np.cumsum(domains, out=place[1:])
    runs, largest_arity, largest_table = _structure.runs(domains, scope_start, scope, table_start)
    return Layout(
        width=most if least == most else 0,
        first=place,
        size=most * n if least == most else int(place[-1]),
        largest_table=max(most, largest_table),
        largest_arity=max(1, largest_arity),
        runs=runs,
        pairs_only=least == most == 2 and largest_arity <= 2 and not has_forbidden,
    )


def scheme_of(n: int, scope_start: NDArray[np.int64], scope: NDArray[np.int32]) -> Scheme:
    """How the leaves of a factor graph with these scopes can be eliminated. O(n + size of scopes)"""
    order, parent, degree = _structure.eliminate(n, scope_start, scope)
    scattered = bool(np.count_nonzero(np.abs(np.diff(order)) > 8) > len(order) // 8)
    roots = np.flatnonzero(degree == 0).astype(np.int32)
    return Scheme(order, parent, roots, np.flatnonzero(degree > 1), scattered)
