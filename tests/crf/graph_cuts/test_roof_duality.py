"""Roof duality: labels and bounds against enumeration and linear programming, messages by definition."""

import math

import numpy as np
import pytest
from reference_bounds import bound_of_messages
from reference_crf import all_energies
from trials import trials

import graphpart as gp
from graphpart.crf.graph_cuts.roof_duality import roof_duality
from graphpart.errors import InfeasibleProblem, InvalidProblem


def random_problem(rng, whole, forbidden=0.0):
    n = int(rng.integers(0, 8))
    f = gp.FactorGraph()
    for i in range(n):
        f.add_variable(("v", i), 1 + int(rng.random() < 0.9))
    for _ in range(int(rng.integers(0, 3 * n + 1))):
        scope = rng.choice(n, min(n, int(rng.integers(1, 3))), replace=False)
        shape = tuple(f.domains[scope].tolist())
        table = rng.integers(-3, 4, shape).astype(float) if whole else rng.standard_normal(shape)
        f.add_factor([("v", int(i)) for i in scope], np.where(rng.random(shape) < forbidden, np.inf, table))
    return f


def check_labels(energies, r, tolerance):
    """All optima agree with strong labels; one agrees with all weak ones."""
    optima = np.argwhere(energies <= energies.min() + tolerance)
    if tolerance == 0:
        assert ((optima == r.strong) | (r.strong < 0)).all()
    assert ((optima == r.weak) | (r.weak < 0)).all(axis=1).any()
    assert ((r.weak == r.strong) | (r.strong < 0)).all()


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("forbidden", [0.0, 0.1])
def test_labels_and_bound_against_enumeration(whole, forbidden):
    rng = np.random.default_rng([whole, int(forbidden * 10)])
    known = unknown = 0
    for trial in range(trials(300)):
        f = random_problem(rng, whole, forbidden)
        energies = all_energies(f)
        tolerance = 0.0 if whole else 1e-12
        try:
            r = roof_duality(f)
        except InfeasibleProblem:
            assert energies.min() == math.inf
            continue
        if energies.min() == math.inf or f.n == 0:
            continue
        assert r.completed and r.lower_bound <= energies.min() + tolerance, trial
        check_labels(energies, r, tolerance)
        proven = bound_of_messages(f, r.messages)
        assert r.lower_bound - 1e-11 <= proven <= energies.min() + tolerance, trial
        if whole:
            assert proven == r.lower_bound
        known += (r.strong >= 0).sum()
        unknown += (r.strong < 0).sum()
    assert known > unknown > 0


@pytest.mark.parametrize("beside", [0.0, 2.0**57, 2.0**58])
def test_labels_of_whole_costs_hold_where_a_unit_of_the_network_is_one(beside):
    """A large cost of another variable leaves no bits for halves of units, and integers are still exact."""
    rng = np.random.default_rng(11)
    for _ in range(trials(200)):
        n, top = int(rng.integers(3, 8)), int(rng.choice([1, 2, 7]))
        pairs = np.array([(u, v) for u in range(n) for v in range(u + 1, n)])
        pairs = pairs[rng.random(len(pairs)) < rng.choice([0.5, 1.0])]
        tables = rng.integers(-top, top + 1, (len(pairs), 2, 2))
        unary = rng.integers(-top, top + 1, (n, 2))
        states = np.indices((2,) * n).reshape(n, -1)
        energies = unary[np.arange(n)[:, None], states].sum(0)
        for (u, v), table in zip(pairs, tables, strict=True):
            energies = energies + table[states[u], states[v]]
        lone = (
            [[v] for v in range(n)] + [[n]],
            np.concatenate([unary, [[0, 0]]]) + np.array([[0.0, 0.0]] * n + [[0.0, beside]]),
        )
        f = gp.FactorGraph.from_arrays([2] * (n + 1), [lone] + ([(pairs, tables.astype(float))] if len(pairs) else []))
        r = roof_duality(f)
        best = states[:, energies == energies.min()]
        assert r.lower_bound <= energies.min()
        strong, weak = r.strong[:n, None], r.weak[:n, None]
        assert ((strong < 0) | (strong == best)).all()
        assert ((weak < 0) | (weak == best)).all(axis=0).any()


def test_bound_is_that_of_the_linear_relaxation():
    from scipy.optimize import linprog

    rng = np.random.default_rng(7)
    for _ in range(trials(60)):
        n = int(rng.integers(2, 7))
        pairs = [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.7]
        if not pairs:
            continue
        unary, tables = rng.standard_normal((n, 2)), rng.standard_normal((len(pairs), 2, 2))
        f = gp.FactorGraph.from_arrays([2] * n, [(np.arange(n)[:, None], unary), (pairs, tables)])
        rows, right = [], []
        size = 2 * n + 4 * len(pairs)
        for i in range(n):
            rows.append(np.bincount([2 * i, 2 * i + 1], minlength=size))
            right.append(1)
        for k, pair in enumerate(pairs):
            for side, v in enumerate(pair):
                for y in range(2):
                    at = [2 * n + 4 * k + (2 * y + z if side == 0 else 2 * z + y) for z in range(2)]
                    rows.append(np.bincount(at, minlength=size) - np.bincount([2 * v + y], minlength=size))
                    right.append(0)
        cost = np.concatenate([unary.ravel(), tables.ravel()])
        relaxed = linprog(cost, A_eq=np.array(rows), b_eq=right, bounds=(0, 1))
        assert roof_duality(f).lower_bound == pytest.approx(relaxed.fun, abs=1e-9)


def test_submodular_and_balanced_problems_are_solved():
    rng = np.random.default_rng(8)
    sign = rng.integers(0, 2, 400)
    place = np.arange(400).reshape(20, 20)
    pairs = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
            np.stack([place[:-1].ravel(), place[1:].ravel()], 1),
        ]
    )
    # Different signs want different labels: as easy as a grid of equal signs.
    differ = sign[pairs[:, 0]] != sign[pairs[:, 1]]
    tables = np.where(differ[:, None, None], np.eye(2), 1 - np.eye(2)) * rng.random((len(pairs), 1, 1))
    unary = rng.standard_normal((400, 2))
    f = gp.FactorGraph.from_arrays([2] * 400, [(place.reshape(-1, 1), unary), (pairs, tables)])
    r = roof_duality(f)
    assert (r.strong >= 0).all() and r.lower_bound == pytest.approx(f.evaluate(r.strong), rel=1e-14)


def test_huge_and_tiny_costs():
    rng = np.random.default_rng(9)
    for magnitude in (1e-300, 1e-150, 1e150, 1e300):
        for _ in range(30):
            f = random_problem(rng, True)
            g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * magnitude)
            r, s = roof_duality(f), roof_duality(g)
            assert s.lower_bound == pytest.approx(r.lower_bound * magnitude, rel=1e-9, abs=1e-9 * magnitude)
            assert s.lower_bound <= all_energies(g).min() + 1e-12 * magnitude


def test_degenerate_and_refused():
    r = roof_duality(gp.FactorGraph())
    assert r.lower_bound == 0.0 and len(r.strong) == 0
    r = roof_duality(gp.FactorGraph.from_arrays([2, 1, 2], [], constant=3.0))
    assert r.lower_bound == 3.0 and r.strong.tolist() == [-1, 0, -1] and r.messages.shape == (0,)
    f = gp.FactorGraph.from_arrays([2, 3], [])
    with pytest.raises(InvalidProblem, match="variable 1 has 3 labels: roof duality expects at most two"):
        roof_duality(f)
    with pytest.raises(InvalidProblem, match="factor 0 over"):
        roof_duality(gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1, 2]], np.zeros((1, 2, 2, 2)))]))
    with pytest.raises(InfeasibleProblem, match="factor 0"):
        roof_duality(gp.FactorGraph.from_arrays([2], [([[0]], [[np.inf, np.inf]])]))


def test_stopped_early_bounds_hold():
    rng = np.random.default_rng(10)
    place = np.arange(2500).reshape(50, 50)
    pairs = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
            np.stack([place[:-1].ravel(), place[1:].ravel()], 1),
        ]
    )
    tables = rng.standard_normal((len(pairs), 1, 1)) * (1 - np.eye(2))
    unary = rng.standard_normal((2500, 2))
    f = gp.FactorGraph.from_arrays([2] * 2500, [(place.reshape(-1, 1), unary), (pairs, tables)])
    best = roof_duality(f)
    none = roof_duality(f, time_limit=0)
    some = roof_duality(f, callback=lambda seconds, cost: True)
    assert best.completed and not none.completed and (none.strong == -1).all()
    assert none.lower_bound <= some.lower_bound <= best.lower_bound
    assert (best.strong >= 0).mean() > 0.2
