"""Pairs in lexicographic order: against a dictionary, and the same on any number of threads."""

import math

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.kernels import _pairs


@pytest.mark.parametrize("flagged", [False, True])
def test_sorted_and_added_up(flagged):
    rng = np.random.default_rng(int(flagged))
    for _ in range(trials(400)):
        n, m = int(rng.integers(2, 12)) * int(rng.choice([1, 400])), int(rng.integers(60))
        u = rng.integers(0, n, m)
        v = (u + rng.integers(1, n, m)) % n
        costs, flags = rng.normal(size=m), rng.integers(0, 2, m).astype(np.uint8)
        sums: dict[tuple[int, int], float] = {}
        lifted: dict[tuple[int, int], int] = {}
        for k in range(m):
            pair = min(u[k], v[k]), max(u[k], v[k])
            sums[pair] = sums[pair] + costs[k] if pair in sums else costs[k]
            lifted[pair] = lifted.get(pair, 1) & flags[k]
        low, high, found, overflow, kept, again = _pairs.sort_pairs(n, u, v, costs, flags if flagged else None)
        assert list(zip(low.tolist(), high.tolist(), strict=True)) == sorted(sums) and not overflow
        assert found.tolist() == [sums[pair] for pair in sorted(sums)]
        listed = [min(a, b) * n + max(a, b) for a, b in zip(u.tolist(), v.tolist(), strict=True)]
        assert np.flatnonzero(again).tolist() == sorted({key // n for key in listed if listed.count(key) > 1})
        assert kept is None if not flagged else kept.tolist() == [lifted[pair] for pair in sorted(sums)]


@pytest.mark.parametrize(("n", "m"), [(3, 20_000), (5000, 40_000), (2**24, 20_000)])
def test_several_buckets_and_digits(n, m):
    rng = np.random.default_rng(n)
    u = np.minimum(rng.integers(0, n, m), rng.integers(0, n, m))
    v = (u + rng.integers(1, min(n, 2000), m)) % n
    costs, lows, highs = rng.normal(size=m), np.minimum(u, v), np.maximum(u, v)
    low, high, found, *_ = _pairs.sort_pairs(n, u, v, costs)
    order = np.lexsort((highs, lows))
    new = np.r_[True, (np.diff(lows[order]) != 0) | (np.diff(highs[order]) != 0)]
    assert low.tolist() == lows[order][new].tolist() and high.tolist() == highs[order][new].tolist()
    sums = np.zeros(len(low))
    np.add.at(sums, np.cumsum(new) - 1, costs[order])
    assert found.tolist() == sums.tolist()


def test_the_same_on_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(2)
    n, m = 1000, 2**20
    u = rng.integers(0, n, m, np.int32)
    v = (u + rng.integers(1, n, m, np.int32)) % n
    costs, found = rng.normal(size=m), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        found.append([array.tobytes() for array in _pairs.sort_pairs(n, u, v, costs)[:3]])
        table = {"a": u.astype(np.int64) + 7, "b": v.astype(np.int64) + 7, "cost": costs}
        p = gp.SetPartition.from_frame(table, "a", "b", cost="cost", duplicates="sum", dense=False)
        assert p.nodes[0] == 7
        found[-1] += [array.tobytes() for array in p.pairs()]
        assert found[-1][3:] == found[-1][:3]
    assert found[0] == found[1] == found[2]


def test_rows_are_the_same_without_costs():
    rng = np.random.default_rng(3)
    for _ in range(trials(100)):
        n = int(rng.integers(2, 12))
        u, v = (side.astype(np.int32) for side in np.triu_indices(n, 1))
        kept = rng.random(len(u)) < rng.random()
        u, v = u[kept], v[kept]
        starts, neighbours, costs = _pairs.adjacency(n, u, v, rng.normal(size=len(u))).arrays
        bare = _pairs.adjacency(n, u, v)
        assert bare.starts.tolist() == starts.tolist() and bare.neighbours.tolist() == neighbours.tolist()
        assert len(costs) == 2 * len(u) and not len(bare.costs)
        every = np.arange(n, dtype=np.int32)
        order = _pairs.spread(_pairs.CompressedRows(starts, neighbours, costs), 4, False, every)
        assert _pairs.spread(bare, 4, False, every).tolist() == order.tolist()


def test_rows_are_the_same_on_any_number_of_threads(monkeypatch):
    n, m = 1000, 2**18 + 5
    u, v = (side.astype(np.int32)[:m] for side in np.triu_indices(n, 1))
    costs = np.random.default_rng(4).normal(size=m)
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        starts, neighbours, values = _pairs.adjacency(n, u, v, costs).arrays
        order = np.lexsort((np.r_[v, u], np.r_[u, v]))
        assert starts.tolist() == np.r_[0, np.cumsum(np.bincount(np.r_[u, v], minlength=n))].tolist()
        assert neighbours.tolist() == np.r_[v, u][order].tolist()
        assert values.tolist() == np.r_[costs, costs][order].tolist()


def test_costs_and_magnitudes_of_many_pairs_on_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(5)
    n, m = 1000, 2**18 + 5
    u, v = (side.astype(np.int32)[:m] for side in np.triu_indices(n, 1))
    labels = rng.integers(0, 3, n).astype(np.int32)
    costs = rng.normal(size=m) * np.exp(30 * rng.normal(size=m))
    whole = rng.integers(-9, 10, m).astype(float)
    sums = (
        np.bincount(np.r_[u, v], np.abs(np.r_[whole, whole])),
        np.bincount(np.r_[u, v], -np.r_[whole, whole].clip(max=0)),
    )
    for threads in ("1", "2"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        assert _pairs.cost_of_pairs(u, v, costs, labels) == math.fsum(costs[labels[u] == labels[v]])
        assert _pairs.magnitude_of_pairs(n, u, v, whole) == (sums[0].max(), False, sums[1].max())
        for at in (0, m // 2 - 1, m // 2, m - 1):
            far = np.where(np.arange(m) == at, np.inf, costs)
            assert _pairs.cost_of_pairs(u, v, far, np.zeros(n, np.int32)) == math.inf
            assert _pairs.magnitude_of_pairs(n, u, v, far)[1]
        for at in (m // 2 - 1, m // 2):  # sorted up to one pair, at the place where halves meet
            order = np.arange(m)
            order[[at, at + 1]] = at + 1, at
            assert _pairs.first_bad_pair(n, u[order], v[order], costs) == (-1, 0, False)
            same = np.where(np.arange(m) == at, v, u)
            assert _pairs.first_bad_pair(n, same, v, costs)[:2] == (at, 1)
        assert _pairs.first_bad_pair(n, u, v, costs) == (-1, 0, True)
