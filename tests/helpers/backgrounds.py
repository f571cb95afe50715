"""Small random problems with a background."""

import numpy as np

import graphpart as gp


def background_problem(rng, repels=True, largest=13, requirements=True):
    """A small random problem that stores pairs, with one of several kinds of background."""
    n = int(rng.integers(1, largest))
    u, v = np.triu_indices(n, 1)
    listed = rng.random(len(u)) < rng.choice([0.2, 0.5, 0.9])
    x, y, z = (np.abs(rng.normal(size=n)) for _ in range(3))
    options = [
        {"missing": float(rng.random())},
        {"background": (0.5, x)},
        {"background": [(0.3, x, y)]},
        {"background": [(0.2, z), (0.4, x, y)], "missing": 0.05},
        {"background": (-0.5, x, -y)},
    ][int(rng.integers(5))]
    if not repels:
        terms = [(float(rng.normal()) * 0.4, rng.normal(size=n)), (0.3, x, y)][: int(rng.integers(1, 3))]
        options = {"background": terms, "missing": float(rng.normal()) * 0.2}
    if requirements and rng.random() < 0.3 and n > 2:
        hidden = rng.integers(0, 3, n)
        pairs = [(a, b) for a, b in rng.integers(0, n, (3, 2)).tolist() if a != b]
        options["must_join"] = [(a, b) for a, b in pairs if hidden[a] == hidden[b]]
        options["must_cut"] = [(a, b) for a, b in pairs if hidden[a] != hidden[b]]
    return gp.SetPartition.from_pairs(n, (u[listed], v[listed]), rng.normal(size=listed.sum()), dense=False, **options)
