"""The exact methods agree with enumeration; auto does what it says."""

from importlib import import_module

import numpy as np
import pytest
from reference_crf import all_energies
from strategies import wide
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf import auto, brute_force, ilp


@pytest.mark.parametrize("block", range(4))
def test_brute_force_and_auto_on_random_factor_graphs(block):
    rng = np.random.default_rng(100 + block)
    for _ in range(trials(200)):
        whole = block % 2 == 0
        f = random_factor_graph(rng, whole=whole, forbidden=rng.choice([0, 0, 0.1, 0.4]))
        energies = all_energies(f)
        for method in (brute_force, auto):
            if energies.min() == np.inf:
                with pytest.raises(gp.InfeasibleProblem, match="forbid"):
                    method(f)
                continue
            r = method(f)
            assert r.status == gp.Status.OPTIMAL
            assert r.cost == pytest.approx(energies.min(), abs=1e-7)
            assert r.lower_bound <= r.cost and r.cost == f.evaluate(r.labels)
            if method is brute_force and whole:
                assert tuple(r.labels) == np.unravel_index(energies.argmin(), energies.shape)  # the first of equals


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_ilp_on_random_factor_graphs(solver):
    if solver == "highs":
        pytest.importorskip("highspy")
    rng = np.random.default_rng(7)
    for k in range(25):
        f = random_factor_graph(rng, n=6, whole=k % 2 == 0, forbidden=rng.choice([0, 0.1, 0.4]), max_domain=3)
        energies = all_energies(f)
        if energies.min() == np.inf:
            with pytest.raises(gp.InfeasibleProblem, match="forbid"):
                ilp(f, solver=solver)
            continue
        r = ilp(f, solver=solver)
        assert r.status == gp.Status.OPTIMAL
        assert r.cost == pytest.approx(energies.min(), abs=1e-6)


def frustrated(size, seed=0):
    """A toroidal grid of spins with random couplings."""
    rng = np.random.default_rng(seed)
    index = np.arange(size * size).reshape(size, size)
    pairs = np.concatenate([np.stack([index.ravel(), np.roll(index, -1, axis).ravel()], 1) for axis in (0, 1)])
    couplings = rng.choice([-1.0, 1.0], len(pairs))
    tables = couplings[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return gp.FactorGraph.from_arrays(np.full(size * size, 2), [(pairs, tables)])


def test_ilp_proves_a_spin_glass():
    f = frustrated(4)
    r = ilp(f)
    assert r.status == gp.Status.OPTIMAL and r.cost == all_energies(f).min()


def test_ilp_without_time_gives_a_labeling_and_a_bound():
    f = frustrated(8)
    r = ilp(f, time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT
    assert -128 <= r.lower_bound <= r.cost == f.evaluate(r.labels)


def test_auto_strips_trees_and_proves_the_core():
    rng = np.random.default_rng(3)
    core = frustrated(4)
    n = 2000
    parents = rng.integers(0, np.arange(16, n))
    tree = np.stack([parents, np.arange(16, n)], 1)
    scopes = core.scope.reshape(-1, 2)
    groups = [
        (scopes, core.tables.reshape(-1, 2, 2)),
        (tree, rng.standard_normal((len(tree), 2, 2))),
        ([[0]], [[0.0, 0.1]]),
    ]
    f = gp.FactorGraph.from_arrays(np.full(n, 2), groups)
    r = auto(f)
    assert r.status == gp.Status.OPTIMAL and "1 cyclic component" in r.message
    best = np.inf
    # Given the 16 core variables the rest is a forest: min-sum solves it exactly, so enumerate some cores.
    for labels in [r.labels[:16], *rng.integers(0, 2, (5, 16))]:
        best = min(best, gp.crf.min_sum(f.condition(dict(enumerate(labels.tolist())))).cost)
    assert r.cost == pytest.approx(best)


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_ilp_with_costs_of_many_magnitudes(solver, monkeypatch):
    def unimproved(f, labels, stopping):
        return labels, f.evaluate_labels(labels)

    monkeypatch.setattr(import_module("graphpart.crf.exact_solvers.ilp"), "improve", unimproved)
    rng, optimal = np.random.default_rng(32), 0
    for k in range(30):
        n, d = int(rng.integers(5, 8)), 3
        scopes = [[a, b] for a in range(n) for b in range(a + 1, n) if rng.random() < 0.7]
        kind = {"decades": (8, 12)[k % 2], "penalties": k % 4 < 2}
        tables = wide(rng, (len(scopes), d, d), **kind)
        unary = wide(rng, (n, d), **kind)
        f = gp.FactorGraph.from_arrays([d] * n, [(np.arange(n)[:, None], unary), (scopes, tables)])
        best = brute_force(f).cost
        r = ilp(f, solver=solver)
        assert r.lower_bound <= best + 1e-7 * abs(best)
        if r.status == gp.Status.OPTIMAL:
            assert r.cost == pytest.approx(best, rel=1e-7)
            optimal += 1
        else:
            assert r.status == gp.Status.FEASIBLE and "costs differ by more than it tells apart" in r.message
    assert optimal >= 25


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_ilp_with_large_costs_that_are_paid_anyway(solver):
    """An odd cycle pays a large cost once, and a constant pays it back: small costs decide where."""
    large, rng = 1e7, np.random.default_rng(33)
    for _ in range(5):
        scopes = [[a, b] for a in range(5) for b in range(a + 1, 5)]
        tables = rng.normal(size=(len(scopes), 2, 2))
        tables[[scopes.index(pair) for pair in ([0, 1], [1, 2], [0, 2])]] += large * np.eye(2)
        f = gp.FactorGraph.from_arrays([2] * 5, [(scopes, tables)])
        f.constant = -large
        best = brute_force(f).cost
        r = ilp(f, solver=solver)
        assert r.status == gp.Status.OPTIMAL and r.cost == pytest.approx(best, rel=1e-7)
        assert r.iterations > 2


def test_brute_force_refuses_what_is_too_large():
    with pytest.raises(gp.InvalidProblem, match=r"8.38861e\+06 labelings: expected at most 4194304"):
        brute_force(gp.FactorGraph.from_arrays([2] * 23, []))
    f = gp.FactorGraph.from_arrays([2] * 22, [(np.arange(22)[:, None], [[1.0, 0.0]] * 22)])
    assert brute_force(f).cost == 0.0


def test_brute_force_in_no_time():
    f = frustrated(4)
    r = brute_force(f, time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT and r.lower_bound <= r.cost


def test_a_stopped_ilp_does_not_go_on_with_the_next_component(monkeypatch):
    f = gp.FactorGraph.from_arrays(
        [2] * 9, [([[k, k + 1] for k in (0, 1, 3, 4, 6, 7)], [[[5.0, 0.0], [9.0, 5.0]]] * 6)]
    )
    module, begun = import_module("graphpart.crf.exact_solvers.ilp"), []

    def solve(part, labels, solver, stopping):
        if not stopping.check(np.inf):
            begun.append(part)
            stopping.stop(gp.Status.TIME_LIMIT)
        return labels, -np.inf, False

    monkeypatch.setattr(module, "solve_component", solve)
    r = ilp(f)
    assert len(begun) == 1 and r.status == gp.Status.TIME_LIMIT
