"""Hypothesis strategies for problems of all kinds, shared by the tests.

``partitions(...)`` draws any SetPartition: dense or sparse, with ties or without, with requirements, names, offsets.
The keywords narrow it down. Examples shrink to few elements and small whole costs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st

import graphpart as gp

#: Kinds of costs, by the name that `partitions` takes.
COSTS: dict[str, st.SearchStrategy[float]] = {
    "integer": st.integers(-3, 3).map(float),  # many ties and zeros
    "sign": st.sampled_from([-1.0, 1.0]),  # cluster editing
    "quarter": st.integers(-12, 12).map(lambda k: k / 4),
    "real": st.floats(-10, 10, allow_nan=False, width=32).map(float),
    "huge": st.integers(-1000, 1000).map(lambda k: k * 1e150),
    "tiny": st.integers(-1000, 1000).map(lambda k: k * 1e-150),
}


def wide(rng: np.random.Generator, shape: tuple[int, ...], decades: int, penalties: bool) -> np.ndarray:
    """Costs whose magnitudes span so many powers of ten: of both signs, or large penalties beside normal costs."""
    size = 10.0 ** rng.uniform(0, decades, shape)
    if not penalties:
        return size * rng.choice([-1.0, 1.0], shape)
    return np.where(rng.random(shape) < 0.4, 10.0 ** rng.uniform(decades - 2, decades, shape), rng.normal(size=shape))


@st.composite
def pair_costs(draw: Any, n: int, kinds: tuple[str, ...], density: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Distinct pairs of n elements, in any order and direction, and a cost of one kind for each."""
    rows = [(a, b) for a in range(n) for b in range(a + 1, n)]
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 1.0])) if density is None else density
    if share < 1:
        rows = [row for row in rows if draw(st.integers(0, 9)) < 10 * share]
    values = COSTS[draw(st.sampled_from(kinds))]
    costs = draw(st.lists(values, min_size=len(rows), max_size=len(rows)))
    return np.array(rows, np.int64).reshape(-1, 2), np.array(costs, np.float64)


@st.composite
def partitions(
    draw: Any,
    min_n: int = 0,
    max_n: int = 8,
    *,
    kinds: tuple[str, ...] = ("integer", "sign", "quarter", "real"),
    density: float | None = None,
    dense: bool | None = None,
    requirements: bool | None = None,
    names: bool = True,
) -> gp.SetPartition:
    """A set partition problem.

    Parameters
    ----------
    min_n, max_n : int
        Bounds for the number of elements.
    kinds : tuple of str
        Of `COSTS`; one is drawn for each problem.
    density : float, optional
        Share of pairs stored; default: drawn from 0, 0.2, 0.5 and 1.
    dense : bool, optional
        The kind of storage; default: drawn.
    requirements : bool, optional
        Whether pairs may be required together or apart; default: drawn.
    names : bool
        Whether nodes may have names other than 0, 1, ...
    """
    n = draw(st.integers(min_n, max_n))
    pairs, costs = draw(pair_costs(n, kinds, density))
    joins, cuts = [], []
    if n >= 2 and (draw(st.booleans()) if requirements is None else requirements):
        # Requirements agree with a hidden partition, so they never contradict each other.
        hidden = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
        some = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda pair: pair[0] != pair[1])
        for a, b in draw(st.lists(some, max_size=4)):
            (joins if hidden[a] == hidden[b] else cuts).append((a, b))
    nodes: list[Any] = list(range(n))
    if names and draw(st.booleans()):
        nodes = [("node", i) if i % 2 else f"node {i}" for i in range(n)]
    return gp.SetPartition.from_pairs(
        n,
        pairs,
        costs,
        nodes,
        must_join=[(nodes[a], nodes[b]) for a, b in joins],
        must_cut=[(nodes[a], nodes[b]) for a, b in cuts],
        dense=draw(st.booleans()) if dense is None else dense,
        offset=draw(st.sampled_from([0.0, 7.5])),
        sense=draw(st.sampled_from([1, -1])),
    )


@st.composite
def problem_and_start(draw: Any, *args: Any, **options: Any) -> tuple[gp.SetPartition, np.ndarray]:
    """A problem and labels that satisfy its requirements."""
    p = draw(partitions(*args, **options))
    return p, draw(feasible_labels(p))


@st.composite
def feasible_labels(draw: Any, p: gp.SetPartition) -> np.ndarray:
    """Labels, not always canonical, that satisfy the requirements of a problem."""
    blocks = p._must_join_classes()
    k = int(blocks.max()) + 1 if p.n else 0
    apart = {(int(a), int(b)) for a, b in blocks[p._must_cut]}
    label: list[int] = []
    for block in range(k):
        wanted = draw(st.integers(0, max(0, k - 1)))
        taken = {label[a] for a in range(block) if (a, block) in apart or (block, a) in apart}
        while wanted in taken:
            wanted += 1
        label.append(wanted)
    return np.array(label, np.int64)[blocks] if p.n else np.zeros(0, np.int64)


def is_close(a: float, b: float, p: gp.SetPartition) -> bool:
    """Whether two costs of a problem are equal up to rounding in a sum of all its costs."""
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=2 * p.n * p._tolerance)
