"""Small problems with further requirements of all kinds at once."""

import math

import numpy as np

import graphpart as gp


def random_problem(seed, largest=8):
    """A problem with requirements of all kinds at once; None if they contradict each other at first sight."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, largest))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.7
    p = gp.SetPartition.from_pairs(n, (u[kept], v[kept]), rng.normal(size=int(kept.sum())), dense=bool(rng.integers(2)))

    def some(k):
        return [(int(u[i]), int(v[i])) for i in rng.integers(0, len(u), k)]

    demands = {}
    if rng.random() < 0.5:
        demands["groups"] = rng.integers(-1, 4, n)
        demands["group_cost"] = float(rng.choice([math.inf, 0.5]))
    if rng.random() < 0.3:
        demands["max_size"] = int(rng.integers(1, n + 1))
    if rng.random() < 0.3:
        demands["n_clusters"] = sorted(rng.integers(1, n + 1, 2).tolist())
    together, apart = some(rng.integers(0, 3)), some(rng.integers(0, 3))
    try:
        return p, p.require(together, apart, **demands), (together, apart, demands), rng
    except gp.InfeasibleProblem:
        return None
