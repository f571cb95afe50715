"""The semidefinite relaxation: its kernels, its value, and what joined spins leave."""

import itertools

import numpy as np
import pytest
from trials import trials

from graphpart.maximum_cut import _kernels, semidefinite
from graphpart.maximum_cut.semidefinite import OddRows, Semidefinite, half_of, joined_costs, joined_spins, spin_costs
from graphpart.maximum_cut.signed_graph import SignedGraph


def dense(n: int, seed: int, weight: float | None = None) -> SignedGraph:
    u, v = (x.astype(np.int32) for x in np.triu_indices(n, 1))
    weights = np.random.default_rng(seed).normal(size=len(u)) if weight is None else np.full(len(u), weight)
    return SignedGraph.from_pairs(n, u, v, weights)


def all_sides(n: int) -> np.ndarray:
    return np.array(list(itertools.product((0, 1), repeat=n)), np.uint8)


def test_the_bound_is_that_of_the_relaxation():
    """On seven nodes the rows of up to seven numbers close the gap; of five nodes, triangles leave a quarter open."""
    for seed in range(5):
        g = dense(7, seed)
        relaxation, best = Semidefinite(*spin_costs(g)), min(map(g.cost, all_sides(7)))
        for _ in range(30):
            relaxation.round(best)
        assert best - 0.02 * abs(best) < relaxation.bound <= best
    for lengths, value in (((), 25 / 4), ((5,), 6.0)):
        relaxation = Semidefinite(*spin_costs(dense(5, 0, -1.0)))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("graphpart.maximum_cut.semidefinite.LONGER", lengths)
            for _ in range(40):
                relaxation.round(-6.0)
        assert relaxation.bound == pytest.approx(-value, abs=1e-2)


@pytest.mark.parametrize(("k", "n"), [(3, 7), (4, 6), (6, 6)])
def test_the_bound_of_few_clusters(k, n):
    """Against all clusters of seven elements, whose costs it meets nearly, and the squares of random rows."""
    labels = np.array(list(itertools.product(range(k), repeat=n - 1)))
    labels = np.hstack([np.zeros((len(labels), 1), int), labels])
    together = (labels[:, :, None] == labels[:, None, :]).reshape(len(labels), -1)
    for seed in range(2):
        rng = np.random.default_rng(seed)
        c = np.triu(rng.normal(size=(n, n)), 1)
        best = float((together @ c.ravel()).min())
        relaxation = Semidefinite((c + c.T) * (k - 1) / (2 * k), float(c.sum()) / k, clusters=k)
        for _ in range(40):
            relaxation.round(best)
        assert best - 0.02 * abs(best) < relaxation.bound <= best
        v = rng.integers(-3, 4, n)
        square = float((together @ np.outer(v, v).ravel()).min() * k - v.sum() ** 2) / (k - 1)
        rows = OddRows.single(np.zeros(0)).with_rows(np.arange(n, dtype=np.int32)[None], v[None].astype(np.int8))
        assert rows.sides(k)[0] <= square + 1e-9


@pytest.mark.parametrize("seed", range(3, 6))  # with 0 for their multipliers, all rounds after the first fail
def test_elements_without_costs_do_not_end_the_rounds(seed):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(40, 1)
    c = np.where(rng.random(len(u)) < 0.08, rng.choice([-1.0, 1.0, 2.0], len(u)), 0.0) * (v < 39)
    C = np.zeros((40, 40))
    C[u, v] = C[v, u] = c / 3
    relaxation = Semidefinite(C, float(c.sum()) / 3, clusters=3)
    assert all(relaxation.round(-20.0) for _ in range(8)) and relaxation.bound > -30.0


def test_squares_are_made_small():
    """Against all rows of a length, where the search starts from each of them."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (6, 6)).astype(np.float32)
    X = np.triu(X, 1) + np.triu(X, 1).T
    members = np.array(list(itertools.combinations(range(6), 3)), np.int32)
    signs = np.array(list(itertools.product((-1, 1), repeat=3)), np.int8)
    first, numbers = np.repeat(members, 8, 0), np.tile(signs, (20, 1))

    def squares(members: np.ndarray, numbers: np.ndarray) -> list[float]:
        whole = X + np.eye(6)
        return [float(s @ whole[np.ix_(m, m)] @ s) for m, s in zip(members, numbers.astype(float), strict=True)]

    before = squares(first, numbers)
    after = _kernels.descend_squares(X, first, numbers)
    assert after == pytest.approx(squares(first, numbers), abs=1e-5)
    assert (after <= np.array(before) + 1e-5).all()
    assert after.min() == pytest.approx(min(before), abs=1e-5)
    assert all(len(set(row)) == 3 for row in first.tolist())


def test_ascent_keeps_the_inverse():
    rng = np.random.default_rng(5)
    n = 8
    A = rng.normal(size=(n, n))
    C = A + A.T
    starts = np.array([*range(n + 1), n + 3, n + 6], np.int64)
    members = np.array([*range(n), 0, 2, 5, 1, 2, 7], np.int32)
    numbers = np.array([1] * n + [1, -1, 3, 1, 1, -1], np.int8)
    m = np.concatenate([np.full(n, -50.0), [0.0, 0.5]])
    sides = np.array([1.0] * n + [1.0, 4 / 3])

    def rest() -> np.ndarray:
        V = np.zeros((len(m), n))
        for r in range(len(m)):
            V[r, members[starts[r] : starts[r + 1]]] = numbers[starts[r] : starts[r + 1]]
        Z = np.zeros((n, n))
        _kernels.add_squares(starts, members, numbers, m, Z)
        np.testing.assert_allclose(Z, V.T @ (m[:, None] * V))
        return C - Z

    W = (np.linalg.inv(rest()) / 0.25).astype(np.float32)
    for mu in (3.0, 1.0, 0.5):
        before = m @ sides + mu * np.linalg.slogdet(rest())[1]
        _kernels.ascend(W, 0.25, starts, members, numbers, m, mu / sides, 0.0)
        assert m @ sides + mu * np.linalg.slogdet(rest())[1] >= before
        np.testing.assert_allclose(np.triu(0.25 * W), np.triu(np.linalg.inv(rest())), rtol=1e-3, atol=1e-5)
        assert (m[n:] >= 0).all()


def test_the_most_violated_triangles():
    rng = np.random.default_rng(6)
    for n in (1, 2, 3, 4, 11, 20):
        X = rng.uniform(-1, 1, (n, n)).astype(np.float32)
        X = np.triu(X, 1) + np.triu(X, 1).T
        members, signs, sums = _kernels.triangles(X, -1.0)
        found = {(i, j): x for (i, j, _), x in zip(members.tolist(), sums.tolist(), strict=True)}
        for (i, j, k), (r, s, t), x in zip(members.tolist(), signs.tolist(), sums.tolist(), strict=True):
            assert i < j < k and r == 1
            assert s * X[i, j] + t * X[i, k] + s * t * X[j, k] == pytest.approx(x, abs=1e-6)
        for i in range(n):
            for j in range(i + 1, n - 1):
                least = min(
                    s * X[i, j] + t * X[i, k] + s * t * X[j, k]
                    for k in range(j + 1, n) for s in (1, -1) for t in (1, -1)
                )  # fmt: skip
                assert found.get((i, j), 0.0) == pytest.approx(least if least <= -1.0 else 0.0, abs=1e-6)


def test_joined_spins_keep_the_costs():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        g = dense(n, seed)
        C, constant = spin_costs(g)
        to, turned = np.arange(n), np.ones(n, np.int8)
        while to.max():
            k = int(to.max()) + 1
            i, j = sorted(rng.choice(k, 2, replace=False).tolist())
            to, turned = joined_spins(to, turned, i, j, int(rng.choice([-1, 1])))
            D, c = joined_costs(C, constant, to, turned)
            for sides in all_sides(len(D)):
                s = 2.0 * sides - 1.0
                assert c + s @ D @ s == pytest.approx(g.cost((turned * s[to] > 0).astype(np.uint8)))


def test_joined_relaxations_keep_the_bound():
    """Z is P' Z P, and each row is one of whole numbers with an odd sum."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        relaxation = Semidefinite(*spin_costs(dense(12, seed)))
        for _ in range(10):
            relaxation.round(0.0)
        while relaxation.n > 2:
            n = relaxation.n
            i, j = sorted(rng.choice(n, 2, replace=False).tolist())
            sign = int(rng.choice([-1, 1]))
            half = half_of(relaxation.C, relaxation.constant, relaxation.best, i, j, sign)
            to, turned = joined_spins(np.arange(n), np.ones(n, np.int8), i, j, sign)
            P = np.zeros((n, n - 1))
            P[np.arange(n), to] = turned
            surplus = half.rest(half.best) - P.T @ relaxation.rest(relaxation.best) @ P
            assert np.abs(np.triu(surplus, 1)).max() < 1e-9
            rows = half.best
            assert half.bound >= relaxation.bound - 1e-9
            assert (np.add.reduceat(rows.numbers.astype(int), rows.starts[:-1]) % 2 == 1).all()
            assert (np.diff(rows.starts)[: n - 1] == 1).all() and (rows.numbers[: n - 1] == 1).all()
            relaxation = half


def test_equal_rows_have_equal_keys():
    rows = OddRows.single(np.zeros(6))
    members = np.array([[0, 2, 4], [1, 3, 5], [0, 2, 4], [0, 2, 4]], np.int32)
    rows = rows.with_rows(members, np.array([[1, -1, 1], [1, 1, 1], [-1, 1, -1], [1, 1, 1]], np.int8))
    keys = rows.keys().tolist()
    assert keys[6] == keys[8] and len(set(keys)) == 9


def inside(g: SignedGraph, best: float, rounds: int) -> Semidefinite:
    """The relaxation after some sweeps and the interior point method."""
    relaxation = Semidefinite(*spin_costs(g))
    for _ in range(rounds):
        relaxation.round(best)
    while relaxation.round_inside(best):
        pass
    return relaxation


def test_the_interior_point_method_reaches_the_value_of_the_relaxation(monkeypatch):
    """Known values for five nodes, and the cost itself on seven; `OPEN` is 0 so that it does not end before."""
    monkeypatch.setattr(semidefinite, "OPEN", 1e-7)
    for lengths, value in (((), 25 / 4), ((5,), 6.0)):
        monkeypatch.setattr(semidefinite, "LONGER", lengths)
        assert inside(dense(5, 0, -1.0), -6.0, 2).bound == pytest.approx(-value, rel=1e-6)
    monkeypatch.setattr(semidefinite, "LONGER", (5, 7))
    for seed in range(5):
        g = dense(7, seed)
        best = min(map(g.cost, all_sides(7)))
        relaxation = inside(g, best, 2)
        assert best - 1e-5 * abs(best) < relaxation.bound <= best and relaxation.iterations < 100


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e12])
def test_bounds_of_the_interior_point_method_hold(size):
    """Also where most pairs have no cost, costs are tied, and rows come from joined spins; the best multipliers do."""
    for seed in range(trials(20)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 10))
        u, v = np.triu_indices(n, 1)
        weight = (rng.normal(size=len(u)) if seed % 2 else rng.integers(-1, 2, len(u))) * (rng.random(len(u)) < 0.6)
        g = SignedGraph.from_pairs(n, u, v, size * weight)
        costs = np.array([g.cost(sides) for sides in all_sides(n)])
        relaxation = inside(g, costs.min(), int(rng.integers(0, 4)))
        rounding = 1e-12 * float(np.abs(g.weight).sum())
        assert relaxation.bound <= costs.min() + rounding
        if relaxation.bound > -np.inf and n > 2:
            half = half_of(relaxation.C, relaxation.constant, relaxation.best, 0, n - 1, 1)
            half.round(costs.min())
            while half.round_inside(costs.min()):
                pass
            same = all_sides(n)[:, 0] == all_sides(n)[:, n - 1]
            assert relaxation.bound - rounding <= half.bound <= costs[same].min() + rounding
