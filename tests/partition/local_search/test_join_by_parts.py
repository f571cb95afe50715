"""Greedy joining in two parts: the same result as of the whole, also where all elements are near the border."""

import numpy as np
import pytest
from reference import greedy_joining
from trials import trials

import graphpart as gp
from graphpart.partition.local_search import join_by_parts as parts
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping


def problem(rng: np.random.Generator, n: int, share: float, ties: bool) -> gp.SetPartition:
    """A path, most of whose pairs are between near elements."""
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < share / np.maximum(1, v - u - 1) ** 1.5
    kept[0] = True
    u, v = u[kept], v[kept]
    cost = rng.integers(-3, 3, len(u)).astype(float) if ties else rng.normal(size=len(u)) - 0.2
    cost[rng.random(len(u)) < 0.05] = rng.choice([np.inf, 0.0, 1e-30, -50.0])
    return gp.SetPartition.from_pairs(n, (u, v), cost, dense=False)


@pytest.mark.filterwarnings("ignore:.*infinite")
@pytest.mark.parametrize("ties", [False, True])
def test_the_same_as_of_the_whole(ties, monkeypatch):
    monkeypatch.setattr(parts, "MANY", 1)
    monkeypatch.setattr(parts, "CUT", 1.0)
    monkeypatch.setattr(parts, "MOST", 1.0)
    whole_joins = parts.join_sparse
    rng, own = np.random.default_rng(int(ties)), 0

    def counted(n, *arguments, outside=-1, **more):
        nonlocal own
        found = whole_joins(n, *arguments, outside=outside, **more)
        if outside >= 0:
            own += len(np.unique(found[:-1][found[:-1] != found[-1]])) < (found[:-1] != found[-1]).sum()
        return found

    monkeypatch.setattr(parts, "join_sparse", counted)
    for _ in range(trials(3000)):
        p = problem(rng, int(rng.integers(2, 60)), rng.uniform(0.1, 2.0), ties)
        stopping = Stopping()
        found = parts.join_by_parts(p, p._tolerance, stopping)
        whole = canonical(whole_joins(p.n, *p.pairs(), None, p._tolerance, 0.0, Stopping()))
        if found is None:  # the first element has half of the pairs
            continue
        assert found.tolist() == whole.tolist()
        assert stopping.iterations == p.n - whole.max() - 1
        if p.n < 12:
            *_, last = [np.arange(p.n), *greedy_joining(p, np.arange(p.n))]
            assert found.tolist() == canonical(np.asarray(last)).tolist()
    assert own > trials(3000) // 10  # parts in which a cluster of several elements was joined


def test_the_same_on_any_number_of_threads(monkeypatch):
    """A grid, with costs that tie; labels and numbers of joins."""
    n = 200
    index, rng = np.arange(n * n).reshape(n, n), np.random.default_rng(1)
    u = np.concatenate([index[:, :-1].ravel(), index[:-1].ravel()])
    v = np.concatenate([index[:, 1:].ravel(), index[1:].ravel()])
    p = gp.SetPartition.from_pairs(n * n, (u, v), rng.integers(-9, 9, len(u)).astype(float))
    found = []
    monkeypatch.setattr(parts, "MANY", p.m)
    assert parts.join_by_parts(p, p._tolerance, Stopping()) is not None
    for threads in ("1", "2"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        found.append(gp.partition.greedy_joining(p))
    monkeypatch.setattr(parts, "MANY", p.m + 1)
    found.append(gp.partition.greedy_joining(p))
    assert found[0].labels.tolist() == found[1].labels.tolist() == found[2].labels.tolist()
    assert found[0].iterations == found[2].iterations


@pytest.mark.filterwarnings("ignore:.*infinite")
def test_where_it_does_not_pay(monkeypatch):
    p = problem(np.random.default_rng(2), 60, 2.0, False)
    assert parts.join_by_parts(p, p._tolerance, Stopping()) is None  # few pairs
    monkeypatch.setattr(parts, "MANY", 1)
    assert parts.join_by_parts(p, p._tolerance, Stopping()) is None  # many between both parts
    star = gp.SetPartition.from_pairs(9, (np.zeros(8, int), np.arange(1, 9)), -np.ones(8), dense=False)
    assert parts.join_by_parts(star, star._tolerance, Stopping()) is None  # one element has most pairs
    path = gp.SetPartition.from_pairs(900, (np.arange(899), np.arange(1, 900)), np.ones(899), dense=False)
    assert parts.join_by_parts(path, path._tolerance, Stopping()) is not None
    path = gp.SetPartition.from_pairs(900, (np.arange(899), np.arange(1, 900)), -np.ones(899), dense=False)
    assert parts.join_by_parts(path, path._tolerance, Stopping()) is None  # one cluster
