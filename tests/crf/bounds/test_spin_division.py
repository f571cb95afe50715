"""Branch and bound over semidefinite relaxations: brute force on small problems, and what joined spins leave."""

import itertools

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.crf.bounds import _odd_squares, spin_division
from graphpart.crf.bounds.semidefinite import Semidefinite, joined_costs, joined_spins, spin_costs
from graphpart.crf.bounds.spin_division import SpinDivision
from graphpart.crf.bounds.squaring import Squaring
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.result import Status
from graphpart.stopping import Stopping

DRAWS = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "whole": lambda rng, shape: rng.integers(-5, 6, shape).astype(float),
    "ties": lambda rng, shape: rng.integers(0, 2, shape).astype(float),
    "signs": lambda rng, shape: rng.integers(-1, 2, shape).astype(float),
    "huge": lambda rng, shape: rng.normal(size=shape) * 1e12,
    "mixed": lambda rng, shape: rng.normal(size=shape) * 10.0 ** rng.integers(-6, 7, shape),
    "zero": lambda rng, shape: np.zeros(shape),
}


def dense(rng: np.random.Generator, n: int, kind: str, density: float = 1.0) -> gp.FactorGraph:
    pairs = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < density], np.int32).reshape(-1, 2)
    draw = DRAWS[kind]
    singles = np.arange(n, dtype=np.int32)[:, None]
    return gp.FactorGraph.from_arrays(
        [2] * n, [(singles, draw(rng, (n, 2))), (pairs, draw(rng, (len(pairs), 2, 2)))], constant=float(draw(rng, 1)[0])
    )


def cut(rng: np.random.Generator, n: int, density: float) -> gp.FactorGraph:
    """A maximum cut with weights 1 and -1."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i) if rng.random() < density], np.int32)
    tables = np.zeros((len(pairs), 2, 2))
    tables[:, 0, 1] = tables[:, 1, 0] = rng.choice([-1.0, 1.0], len(pairs))
    return gp.FactorGraph.from_arrays([2] * n, [(pairs, tables)])


@pytest.mark.parametrize("kind", DRAWS)
def test_the_optimum_of_small_problems(kind):
    """Turns of any length; the bound holds after each of them, and in the end it meets the least energy."""
    divided = 0
    for seed in range(trials(12)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 12))
        f = dense(rng, n, kind)
        optimum = gp.crf.brute_force(f).cost
        scale = 2.0**-34 * (float(np.abs(f.tables).sum()) + abs(f.constant))
        labels = rng.integers(0, 2, n).astype(np.int32)
        one = Squaring(f, labels, f.evaluate_labels(labels))
        while not one.done:
            one.go_on(Stopping(), None, float(rng.choice([2e3, 2e4, 2e5])))
            assert one.certified <= optimum + 1e-3 * scale, seed
            assert one.cost == f.evaluate_labels(one.labels)
        assert one.cost <= optimum + scale and one.certified >= one.cost - scale and one.proven, seed
        divided += one.tree.nodes
    assert divided or kind in ("zero", "ties", "whole", "signs")


def test_a_start_without_labelings_of_its_own_finds_the_optimum(monkeypatch):
    """Labels come from nodes with one spin only."""
    monkeypatch.setattr(SpinDivision, "_round_labels", lambda self, relaxation: None)
    for seed in range(5):
        rng = np.random.default_rng(seed)
        f = dense(rng, 8, "normal")
        one = Squaring(f, np.zeros(8, np.int32), f.evaluate_labels(np.zeros(8, np.int32)))
        one.run(Stopping(), None)
        assert one.proven and one.cost == pytest.approx(gp.crf.brute_force(f).cost)


def test_joined_spins_keep_the_energies():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 8))
        f = dense(rng, n, "normal")
        C, constant = spin_costs(quadratic_form(f))
        to, turned = np.arange(n + 1), np.ones(n + 1, np.int8)
        while to.max():
            k = int(to.max()) + 1
            i, j = sorted(rng.choice(k, 2, replace=False).tolist())
            to, turned = joined_spins(to, turned, i, j, int(rng.choice([-1, 1])))
            D, c = joined_costs(C, constant, to, turned)
            for spins in itertools.product([-1.0, 1.0], repeat=len(D)):
                s = np.array(spins)
                whole = turned * s[to]
                labels = (whole[:-1] == whole[-1]).astype(np.int32)
                assert c + s @ D @ s == pytest.approx(f.evaluate_labels(labels))


def rest(relaxation: Semidefinite) -> np.ndarray:
    rows, Z = relaxation.best, np.zeros((relaxation.n, relaxation.n))
    _odd_squares.add_squares(rows.starts, rows.members, rows.signs, rows.multipliers, Z)
    return relaxation.C - Z


def test_joined_relaxations_keep_the_bound_but_for_what_they_leave_out():
    """Z is P' Z P and squares with positive weight; the bound falls by these weights only."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        q = quadratic_form(dense(rng, 12, "normal"))
        relaxation = Semidefinite(*spin_costs(q))
        for _ in range(30):
            relaxation.round(0.0)
        i, j = sorted(rng.choice(relaxation.n, 2, replace=False).tolist())
        sign = int(rng.choice([-1, 1]))
        half = relaxation.joined(i, j, sign)
        P = np.zeros((13, 12))
        to, turned = joined_spins(np.arange(13), np.ones(13, np.int8), i, j, sign)
        P[np.arange(13), to] = turned
        surplus = rest(half) - P.T @ rest(relaxation) @ P
        assert np.linalg.eigvalsh(surplus).min() > -1e-9
        lost = relaxation.bound - half.bound
        assert -1e-9 <= lost <= relaxation.best.multipliers[13:].sum()
        assert np.linalg.eigvalsh(rest(half)).min() > 0


def test_maximum_cut_is_proven_by_exact_and_auto():
    f = cut(np.random.default_rng(3), 42, 0.5)
    exact = gp.crf.exact(f)
    assert exact.status == "optimal"
    assert exact.cost == exact.lower_bound == gp.crf.search(f, max_iterations=2, seed=1).cost
    assert gp.solve(f).status == "optimal"


def test_many_open_nodes(monkeypatch):
    """Then the latest one is next, with the same result."""
    monkeypatch.setattr(spin_division, "MANY", 2)
    f = cut(np.random.default_rng(4), 40, 0.6)
    one = Squaring(f, np.zeros(40, np.int32), 0.0)
    one.run(Stopping(), None)
    assert one.proven and one.cost == gp.crf.search(f, max_iterations=2, seed=1).cost


def test_a_stopped_turn_goes_on():
    f = cut(np.random.default_rng(5), 46, 0.5)
    whole, parts = (Squaring(f, np.zeros(46, np.int32), 0.0) for _ in range(2))
    whole.run(Stopping(), None)
    while not parts.done:
        parts.go_on(Stopping(), None, 1e6)
    assert whole.tree.nodes == parts.tree.nodes > 0 and (whole.labels == parts.labels).all()
    stopped = Stopping()
    stopped.stop(Status.INTERRUPTED)
    fresh = Squaring(f, np.zeros(46, np.int32), 0.0)
    fresh.run(stopped, None)
    assert not fresh.tree.work
