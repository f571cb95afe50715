"""The check of certificates with NumPy accepts and refuses the same ones as the plain check."""

import numpy as np
import pytest
from corruption import corrupted, raised, verdict
from trials import trials

import graphpart as gp
from graphpart.common import fast_check
from graphpart.crf.proof_trees import leaves


def problems():
    """Problems whose certificates have all kinds of nodes and of inequalities."""
    rng = np.random.default_rng(3)
    pairs = [(a, b) for a in range(9) for b in range(a)]
    costs = rng.integers(-3, 4, len(pairs)).astype(float)
    yield gp.SetPartition.from_pairs(9, pairs, costs, n_clusters=2, max_size=6)
    yield gp.SetPartition.from_pairs(9, pairs, costs, n_clusters=(1, 2))
    yield gp.SetPartition.from_pairs(9, pairs[:12], costs[:12] - 1.0, missing=0.5, dense=False)
    yield gp.SetPartition.from_pairs(7, pairs[:9], costs[:9], missing=-0.5, dense=False)
    yield gp.SetPartition.from_pairs(9, pairs, rng.normal(size=len(pairs)))
    ring, across = [(i, (i + 1) % 6) for i in range(6)], [(0, 2), (1, 3), (2, 5), (1, 4)]
    yield gp.SetPartition.from_pairs(6, ring, [1.0, -2, 3, 1, 2, -1], lifted=(across, [-3.0, 2, -4, -2]))
    tables = rng.integers(-9, 10, (36, 2, 3)).astype(float)
    tables[::5, 0, 1] = np.inf
    some = [(a, b + 4) for a in range(4) for b in range(5)]
    yield gp.FactorGraph.from_arrays([2] * 4 + [3] * 5, [(some, tables[:20])])
    yield gp.FactorGraph.from_arrays(
        [4] * 5, [([(a, b) for a in range(5) for b in range(a)], rng.normal(size=(10, 4, 4)))]
    )


def proven(p):
    r = gp.solve(p, certificate=True)
    assert r.certificate is not None, r.message
    return r.certificate


@pytest.fixture(scope="module")
def certificates():
    """Problems and their certificates, with small eliminations only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaves, "LARGEST", 8)
        return [(p, proven(p)) for p in problems()]


@pytest.mark.parametrize("name", ["FITS", "DENSE", "SMALL", "TERMS"])
def test_all_ways_to_add_up(certificates, monkeypatch, name):
    monkeypatch.setattr(fast_check, name, 0)
    for p, c in certificates:
        assert not verdict(c, p, False) and verdict(raised(c, 1.0), p, False)


def test_both_refuse_the_same(certificates):
    rng = np.random.default_rng(0)
    for p, c in certificates:
        assert verdict(c, p, True) == "" != verdict(raised(c, 1.0), p, True)
        for _ in range(trials(24)):
            other = corrupted(c, rng)
            assert bool(verdict(other, p, False)) == bool(verdict(other, p, True))
            assert verdict(raised(other, 1.0), p, False)


def test_large_tables_are_eliminated_in_the_same_way():
    rng = np.random.default_rng(1)
    pairs = [(a, b) for a in range(5) for b in range(a)]
    tables = rng.integers(-9, 10, (len(pairs), 5, 5)).astype(float)
    tables[rng.random(tables.shape) < 0.3] = np.inf
    tables[:, 0, 0] = 50.0
    f = gp.FactorGraph.from_arrays([5] * 5, [(pairs, tables)], constant=0.25)
    c = proven(f)
    assert c.nodes[0][0] == "eliminate" and verdict(c, f, False) == "" == verdict(c, f, True)
