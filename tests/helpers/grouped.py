"""Small random problems with groups, and on demand with sizes and numbers of clusters, backgrounds and requirements."""

import math
import os

import numpy as np

import graphpart as gp

PRICES = (0.0, 0.5, 1.75, math.inf, math.inf)


def seeds(few):
    """So many seeds, or as many as the environment variable GRAPHPART_PROBLEMS says."""
    return range(int(os.environ.get("GRAPHPART_PROBLEMS", few)))


def grouped_problem(seed, largest=9, limits=False, requirements=True):
    """One of these problems; None if what it requires cannot be."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < rng.choice([0.2, 0.5, 0.9])
    u, v = u[kept], v[kept]
    cost = rng.normal(size=len(u)) - rng.choice([0.0, 0.5])
    if rng.random() < 0.5:
        cost = np.round(cost * 4) / 4
    k = int(rng.integers(1, 5))
    groups = [rng.integers(-1, k, n) for _ in range(int(rng.integers(1, 3)))]
    prices = rng.choice(PRICES, len(groups)).tolist()
    options = {}
    kind = rng.random()
    if kind < 0.25:
        options["missing"] = float(rng.choice([0.25, 0.5, rng.random()]))
    elif kind < 0.4:
        options["background"] = (0.3, np.abs(rng.normal(size=n)))
    if requirements and rng.random() < 0.4 and n > 2:
        hidden = rng.integers(0, 3, n)
        pairs = [(a, b) for a, b in rng.integers(0, n, (3, 2)).tolist() if a != b]
        options["must_join"] = [(a, b) for a, b in pairs if hidden[a] == hidden[b]]
        options["must_cut"] = [(a, b) for a, b in pairs if hidden[a] != hidden[b]]
    if limits:
        kind = rng.random()
        if kind < 0.4:
            options["max_size"] = int(rng.integers(1, n + 1))
        if kind > 0.3:
            least, most = sorted(rng.integers(1, n + 1, 2).tolist())
            options["n_clusters"] = (least, most)
    try:
        return gp.SetPartition.from_pairs(n, (u, v), cost, dense=False, groups=groups, group_cost=prices, **options)
    except gp.InfeasibleProblem:
        return None
