"""Annealing of listed pairs skips an element only if no move of it could be accepted."""

import numpy as np
import pytest

import graphpart as gp
from graphpart.common.variates import exponential_variates
from graphpart.partition.anytime_search._kernels import Annealing
from graphpart.partition.local_search.sums import terms_of
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


def with_two_more(p):
    """The problem with two more elements that must not be together: the kernel then forgets bounds."""
    u, v, cost = p.pairs()
    pairs = np.append(u, p.n), np.append(v, p.n + 1)
    return gp.SetPartition.from_pairs(p.n + 2, pairs, np.append(cost, np.inf))


@pytest.mark.parametrize("kind", ["signs", "normal", "halves", "huge and tiny", "mostly repelling"])
def test_remembered_bounds_skip_no_move(kind):
    rng = np.random.default_rng(len(kind))
    moved = 0
    for seed in range(60):
        n = int(rng.integers(10, 60))
        share = 0.15 if kind == "mostly repelling" else 0.5
        p, _ = gp.generate.sparse_random(n, int(rng.integers(n * (n - 1) // 10)), share, kind == "signs", seed=seed)
        u, v, cost = p.pairs()
        if kind == "halves":
            cost = np.rint(2 * cost) / 2  # exact sums, ties, and pairs that cost nothing
        elif kind == "huge and tiny":
            cost = cost * 10.0 ** rng.integers(-9, 10, p.m)
        p = gp.SetPartition.from_pairs(n, (u, v), cost)
        assert not p.is_dense
        q, unit = with_two_more(p), float(np.abs(cost).mean()) if p.m else 1.0
        x = canonical(rng.integers(0, rng.integers(1, n + 1), n).astype(np.int32))
        y = np.append(x, [x.max() + 1, x.max() + 2]).astype(np.int32)
        found = []
        for each, start in ((p, x), (q, y)):
            kernel = Annealing(*each._rows().arrays, p._tolerance, terms_of(each))
            labels, _ = kernel.run(start, 50, unit, 0.05 * unit, exponential_variates(2**10), seed, 0.0, Stopping())
            found.append(canonical(labels[:n]))
        np.testing.assert_array_equal(*found)
        moved += not np.array_equal(found[0], x)
    assert moved > 20
