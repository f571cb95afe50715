"""The display of a problem: a line, some facts, and its first pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphpart.display import number, plural
from graphpart.partition.problem.pair_costs import PairCosts

__all__ = ["facts", "preview", "title"]

ROWS = 5  # pairs that a notebook shows


def title(p: PairCosts) -> str:
    """One line: the numbers of elements and pairs, and further facts."""
    stored = "as a matrix" if p.is_dense else "with a cost"
    if p.background is not None:
        stored += f", {p.background!r}"
    elif p.groups is not None:
        stored += f", {p.groups!r}"
    if p._limits is not None:
        stored += f", {p._limits}"
    if p.lifted is not None:
        stored += f", {number(int(p.lifted.sum()))} lifted, connected clusters"
    return f"{type(p).__name__}: {plural(p.n, 'element')}, {plural(p.m, 'pair')} {stored}"


def facts(p: PairCosts) -> dict[str, Any]:
    """Numbers of pairs that attract, repel and are required, and the range of costs."""
    found: dict[str, Any] = {}
    if p.m:
        costs = p.matrix if p.matrix is not None else p.cost
        assert costs is not None
        if p.background is not None:
            costs = p._listed()[2]
        times = 1 if p.matrix is None else 2
        found = {"attract": np.count_nonzero(costs < 0) // times}
        found |= {"repel": np.count_nonzero(costs > 0) // times - len(p._must_cut)}
        finite = np.isfinite(costs)
        low, high = costs.min(where=finite, initial=0.0), costs.max(where=finite, initial=0.0)
        found |= {"costs": f"{number(float(low))} to {number(float(high))}"}
    if len(p.must_join) or p._has_must_cut:
        found |= {"required together": len(p.must_join), "apart": len(p._must_cut)}
    told: dict[str, Any] = p._told
    return told | found


def preview(p: PairCosts) -> tuple[Sequence[str], Any]:
    """Headings and rows of the first pairs."""
    u, v, cost = (p.u, p.v, p.cost) if p.matrix is None else (None, None, None)
    if u is None or v is None or cost is None:
        return (), ()
    if p.background is not None:
        cost = cost[:ROWS] + p.background.of_pairs(u[:ROWS], v[:ROWS])
    rows = zip(u[:ROWS].tolist(), v[:ROWS].tolist(), cost[:ROWS].tolist(), strict=True)
    more = [("...", "...", "...")] if len(u) > ROWS else []
    return ("element", "element", "cost"), [*((p.nodes[a], p.nodes[b], c) for a, b, c in rows), *more]
