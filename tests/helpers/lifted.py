"""Small problems whose subsets have to be connected, and partitions of them."""

from __future__ import annotations

import numpy as np

import graphpart as gp
from graphpart.partition.problem import Labels, canonical
from graphpart.partition.problem.derived import connected_subsets


def lifted_problem(
    rng: np.random.Generator, n: int, *, ties: bool = True, cuts: bool = False, joins: bool = False
) -> gp.SetPartition:
    """A grid, a tree with some more pairs, or a random base graph, with costs, and lifted pairs anywhere."""
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    width, kind = int(rng.integers(2, 5)), int(rng.integers(3))
    if kind == 0:
        base = [(a, b) for a, b in pairs if (b == a + 1 and b % width) or b == a + width]
    else:
        base = [(int(rng.integers(b)), b) for b in range(1, n)] if kind == 1 else []
        base += [pair for pair in pairs if rng.random() < 0.15 * kind]
    lifted = [pair for pair in pairs if rng.random() < rng.choice([0.0, 0.2, 0.5])]
    draw = (lambda k: rng.integers(-3, 4, k).astype(float)) if ties else (lambda k: rng.normal(size=k))
    apart = [pairs[k] for k in rng.integers(len(pairs), size=2)] if cuts and pairs else []
    together = [base[k] for k in rng.integers(len(base), size=2)] if joins and base else []
    together = [pair for pair in together if pair not in apart]
    try:
        return gp.SetPartition.from_pairs(
            n, base, draw(len(base)), lifted=(lifted, draw(len(lifted))), must_cut=apart, must_join=together
        )
    except gp.errors.InfeasibleProblem:  # what must be cut is joined
        return lifted_problem(rng, n, ties=ties)


def connected_labels(rng: np.random.Generator, p: gp.SetPartition) -> Labels:
    """A random partition that obeys all that is required."""
    labels = connected_subsets(p, canonical(rng.integers(0, 3, p.n))) if p.n else np.zeros(0, np.int32)
    return labels if np.isfinite(p._evaluate_labels(labels)) else p._must_join_classes()
