"""Expansion: fixed points against enumeration of moves, never worse than the start, stopping."""

import itertools
import math
from importlib import import_module

import numpy as np
import pytest
from reference_crf import all_energies
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf.graph_cuts._moves import Moves
from graphpart.crf.graph_cuts.expansion import Expansions, _moves, expanded, expansion
from graphpart.errors import InfeasibleProblem, InvalidPartition, InvalidProblem
from graphpart.stopping import Stopping


def metric_problem(rng, whole):
    """Pairs that make all expansions submodular: Potts, linear and truncated distances, with random weights."""
    n, d = int(rng.integers(1, 6)), int(rng.integers(2, 5))
    i, j = np.mgrid[:d, :d]
    f = gp.FactorGraph()
    for v in range(n):
        f.add_variable(v, d)
        f.add_factor([v], rng.integers(0, 8, d).astype(float) if whole else rng.standard_normal(d) * 2)
    for _ in range(int(rng.integers(0, 2 * n))):
        if n > 1:
            shape = [(i != j) * 1.0, abs(i - j) * 1.0, np.minimum(abs(i - j), 2) * 1.0][rng.integers(3)]
            weight = rng.integers(1, 4) if whole else rng.random()
            f.add_factor(rng.choice(n, 2, replace=False).tolist(), weight * shape)
    return f


def best_expansion(energies, labels):
    """The least energy of all labelings that change some variables to one label."""
    best = math.inf
    for label in range(max(energies.shape)):
        options = [{y, label} if label < d else {y} for y, d in zip(labels.tolist(), energies.shape, strict=True)]
        best = min(best, min(energies[y] for y in itertools.product(*options)))
    return best


@pytest.mark.parametrize("whole", [False, True])
def test_no_expansion_improves_a_fixed_point(whole):
    rng = np.random.default_rng([11, whole])
    for trial in range(trials(150)):
        f = metric_problem(rng, whole)
        energies = all_energies(f)
        start = rng.integers(0, f.domains).astype(np.int32)
        r = expansion(f, start)
        assert r.status == (gp.Status.OPTIMAL if r.lower_bound >= r.cost else gp.Status.LOCAL_OPTIMUM)
        assert r.info["fusions"] == 0
        assert r.cost <= f.evaluate(start) and r.lower_bound <= energies.min() + 1e-12
        assert r.cost <= best_expansion(energies, r.labels) + (0 if whole else 1e-11), trial
        labels = expanded(f, _moves(f), start, Stopping(), rng)  # in random order
        assert f.evaluate(labels) <= min(f.evaluate(start), best_expansion(energies, labels) + (0 if whole else 1e-11))


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_any_tables_never_worse(forbidden):
    rng = np.random.default_rng(12)
    fusions = better = 0
    for trial in range(250):
        f = random_factor_graph(rng, max_arity=2, whole=bool(trial % 2), forbidden=forbidden)
        start = rng.integers(0, f.domains).astype(np.int32) if f.n else np.zeros(0, np.int32)
        try:
            r = expansion(f, start)
        except InfeasibleProblem:
            assert all_energies(f).min() == math.inf
            continue
        assert r.cost <= f.evaluate(start) and r.cost == f.evaluate(r.labels), trial
        fusions += r.info["fusions"]
        better += r.cost < f.evaluate(start)
    assert fusions > 50 and better > 100


def test_moves_in_part_are_followed_by_single_changes():
    # Roof duality labels next to nothing of a grid with strong couplings of both signs.
    rng = np.random.default_rng(17)
    place = np.arange(400).reshape(20, 20)
    pairs = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
            np.stack([place[:-1].ravel(), place[1:].ravel()], 1),
        ]
    )
    couplings = 5 * rng.standard_normal((len(pairs), 1, 1)) * (1 - np.eye(2))
    unary = (np.arange(400)[:, None], rng.standard_normal((400, 2)))
    f = gp.FactorGraph.from_arrays([2] * 400, [unary, (pairs, couplings)])
    r = expansion(f)
    assert r.info["fusions"] > 0 and r.cost == gp.crf.icm(f, r).cost


def test_binary_submodular_is_solved_at_once():
    rng = np.random.default_rng(13)
    pairs = [(i, j) for i in range(7) for j in range(i)]
    f = gp.FactorGraph.from_arrays(
        [2] * 7,
        [(np.arange(7)[:, None], rng.standard_normal((7, 2))), (pairs, rng.random((21, 1, 1)) * (1 - np.eye(2)))],
    )
    assert expansion(f, [0] * 7, max_iterations=2).cost == pytest.approx(all_energies(f).min(), abs=1e-12)


def test_equal_tables_and_distinct_ones_agree():
    # The first problem has one table for all pairs, which is looked up once; in the second all differ a little.
    rng = np.random.default_rng(14)
    i, j = np.mgrid[:4, :4]
    place = np.arange(100).reshape(10, 10)
    pairs = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
            np.stack([place[:-1].ravel(), place[1:].ravel()], 1),
        ]
    )
    unary = (np.arange(100)[:, None], rng.integers(0, 20, (100, 4)))
    linear = np.minimum(abs(i - j), 2) * 4
    same = gp.FactorGraph.from_arrays([4] * 100, [unary, (pairs, np.stack([linear] * len(pairs)))])
    shifted = linear + rng.integers(0, 10**6, (len(pairs), 1, 1))
    apart = gp.FactorGraph.from_arrays([4] * 100, [unary, (pairs, shifted)])
    r, s = expansion(same), expansion(apart)
    assert (r.labels == s.labels).all() and s.cost - r.cost == (shifted[:, 0, 0]).sum()


def test_unary_costs_in_one_factor_or_in_several():
    """One unary table of a variable is read where it is; several are summed."""
    rng = np.random.default_rng(23)
    for trial in range(trials(60)):
        f = metric_problem(rng, whole=bool(trial % 2))
        g = gp.FactorGraph()
        for v, d in enumerate(f.domains.tolist()):
            g.add_variable(v, d)
        for scope, table in f.factors():
            for _ in range(2 if len(scope) == 1 else 1):
                g.add_factor(scope, table / 2 if len(scope) == 1 else table)
        one, other = expansion(f), expansion(g)
        assert (one.labels == other.labels).all() and one.iterations == other.iterations
        assert one.cost == pytest.approx(other.cost, abs=1e-12)


def test_a_table_that_factors_of_two_shapes_share():
    """4 x 4 entries are Potts, 2 x 8 of the same numbers are not."""
    rng = np.random.default_rng(24)
    potts = 1.0 - np.eye(4).ravel()
    domains = np.array([4, 4, 2, 8], np.int32)
    scopes = np.array([0, 1, 2, 3, 0, 1, 2, 3, 0, 1], np.int32)
    for _ in range(trials(20)):
        arrays = np.array([0, 1, 2, 3, 4, 6, 8, 10]), scopes
        tables = np.concatenate([rng.random(18), potts])
        f = gp.FactorGraph.of_csr(range(4), domains, *arrays, tables, np.array([0, 4, 8, 10, 18, 18, 18, 34]))
        r = expansion(f, [0, 0, 0, 0])
        g = gp.FactorGraph.from_csr(domains, *arrays, f.tables)
        assert r.cost == g.evaluate(r.labels) == expansion(g, [0, 0, 0, 0]).cost
        assert r.lower_bound == expansion(g).lower_bound


def test_leaves_forbidden_labelings():
    walls = np.where(np.eye(3) > 0, 0.0, np.inf)
    f = gp.FactorGraph.from_arrays(
        [3] * 4, [([[0], [3]], [[5.0, 1.0, 2.0], [4.0, 3.0, 1.5]]), ([[0, 1], [1, 2], [2, 3]], [walls] * 3)]
    )
    r = expansion(f, [0, 1, 2, 0])
    assert r.cost == 3.5 and r.labels.tolist() == [2] * 4
    impossible = gp.FactorGraph.from_arrays(
        [2, 2], [([[0, 1]] * 2, [np.where(np.eye(2), np.inf, 0), np.where(np.eye(2), 0, np.inf)])]
    )
    r = expansion(impossible)
    assert r.cost == math.inf and r.message.startswith("no allowed labeling was found: factor 0 over (0, 1)")
    with pytest.raises(InfeasibleProblem, match="factor 0"):
        expansion(gp.FactorGraph.from_arrays([2], [([[0]], [[np.inf, np.inf]])]))


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_huge_and_tiny_costs(magnitude):
    rng = np.random.default_rng(15)
    for _ in range(30):
        f = metric_problem(rng, True)
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * (magnitude / 1000))
        assert expansion(g).cost == pytest.approx(expansion(f).cost * (magnitude / 1000), rel=1e-9)


def test_degenerate():
    assert expansion(gp.FactorGraph()).cost == 0.0
    f = gp.FactorGraph.from_arrays([1, 3, 2], [([[0, 1]], [[[2.0, 1.0, 3.0]]])])
    r = expansion(f)
    assert r.labels.tolist() == [0, 1, 0] and r.cost == r.lower_bound == 1.0


def test_options_and_stopping():
    rng = np.random.default_rng(16)
    f = metric_problem(rng, False)
    with pytest.raises(InvalidPartition):
        expansion(f, [99] * f.n)
    three = gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1, 2]], np.zeros((1, 2, 2, 2)))])
    with pytest.raises(InvalidProblem, match="factor 0 over"):
        expansion(three)
    place = np.arange(900).reshape(30, 30)
    pairs = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1)
    g = gp.FactorGraph.from_arrays(
        [6] * 900, [(place.reshape(-1, 1), rng.standard_normal((900, 6))), (pairs, [1 - np.eye(6)] * len(pairs))]
    )
    full = expansion(g, [0] * 900)
    one = expansion(g, [0] * 900, max_iterations=2)
    assert (
        one.status == gp.Status.ITERATION_LIMIT and one.iterations == 2 and full.cost < one.cost < g.evaluate([0] * 900)
    )
    assert expansion(g, [0] * 900, time_limit=0).status == gp.Status.TIME_LIMIT
    reached = expansion(g, [0] * 900, target=one.cost)
    assert reached.status == gp.Status.TARGET and reached.cost <= one.cost
    assert expansion(g, callback=lambda seconds, cost: True).status == gp.Status.INTERRUPTED
    told = []
    expansion(g, [0] * 900, callback=lambda seconds, cost: told.append(cost))
    assert told and max(told) <= g.evaluate([0] * 900)


def test_a_move_that_was_stopped_is_tried_again(monkeypatch):
    """Whatever move is stopped, what follows is what a run without a stop does."""
    f = metric_problem(np.random.default_rng(5), False)
    kernel, left, full = Moves.move, [0], expansion(f, [0] * f.n)

    class Stopped(Moves):
        def move(self, *given):
            left[0] -= 1
            return left[0] != 0 and kernel(self, *given)

    monkeypatch.setattr(import_module("graphpart.crf.graph_cuts.expansion"), "Moves", Stopped)
    for stop in range(1, full.iterations + 1):
        left[0] = stop
        run = Expansions(f, _moves(f), np.zeros(f.n, np.int32))
        first = Stopping()
        run.run(first)
        assert not run.done
        second = Stopping()
        run.run(second)
        assert run.done and run.labels.tolist() == full.labels.tolist()
        assert first.iterations + second.iterations == full.iterations
