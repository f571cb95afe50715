"""Where multilevel moves end."""

import numpy as np

import graphpart as gp


def test_no_move_of_one_element_lowers_the_cost() -> None:
    n, m = 5000, 50_000
    for seed in range(3):
        rng = np.random.default_rng(seed)
        u, v = rng.integers(0, n, (2, m))
        p = gp.SetPartition.from_pairs(n, (u[u != v], v[u != v]), rng.standard_normal(m)[u != v])
        labels = gp.partition.multilevel(p, seed=seed).labels
        a, b, cost = p.pairs()
        sums = np.zeros((n, labels.max() + 2))  # the last column: a subset of its own
        np.add.at(sums, (a, labels[b]), cost)
        np.add.at(sums, (b, labels[a]), cost)
        assert (sums.min(1) >= sums[np.arange(n), labels] - 1e-9).all()
