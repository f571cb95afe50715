"""Branch and bound over semidefinite relaxations: brute force on small problems, turns, and forms of users."""

import itertools

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.maximum_cut import branch_and_cut, semidefinite, square_bounding
from graphpart.maximum_cut.branch_and_cut import BranchAndCut
from graphpart.maximum_cut.signed_graph import SignedGraph
from graphpart.maximum_cut.square_bounding import SquareBounding
from graphpart.result import Status
from graphpart.stopping import Stopping

DRAWS = {
    "normal": lambda rng, k: rng.normal(size=k),
    "whole": lambda rng, k: rng.integers(-5, 6, k).astype(float),
    "ties": lambda rng, k: rng.integers(0, 2, k).astype(float),
    "signs": lambda rng, k: rng.choice([-1.0, 1.0], k),
    "huge": lambda rng, k: rng.normal(size=k) * 1e12,
    "mixed": lambda rng, k: rng.normal(size=k) * 10.0 ** rng.integers(-6, 7, k),
}


def cut(n: int, density: float, seed: int, kind: str = "signs") -> SignedGraph:
    rng = np.random.default_rng(seed)
    u, v = (x.astype(np.int32) for x in np.triu_indices(n, 1))
    kept = rng.random(len(u)) < density
    return SignedGraph.from_pairs(n, u[kept], v[kept], DRAWS[kind](rng, int(kept.sum())), float(rng.integers(-3, 4)))


def proven(g: SignedGraph) -> BranchAndCut:
    solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
    solver.run(Stopping())
    assert solver.done
    return solver


@pytest.fixture(autouse=True)
def _always_dense(monkeypatch):
    """The semidefinite relaxation also where odd cycles or an enumeration would be better, and few rounds at nodes.

    Without the interior point method, which would prove small problems at the first node.
    """
    monkeypatch.setattr(semidefinite, "MOST_ROWS", 0)
    monkeypatch.setattr(branch_and_cut, "DENSE", 0)
    monkeypatch.setattr(branch_and_cut, "STEPLESS", 0)
    monkeypatch.setattr(square_bounding, "FEW", 4)
    monkeypatch.setattr(square_bounding, "LONG", 1)
    monkeypatch.setattr(semidefinite, "SHORT", 0.7)


@pytest.mark.parametrize("kind", DRAWS)
def test_the_optimum_of_small_problems(kind, monkeypatch):
    """Turns of any length; the bound holds after each of them, and in the end it meets the least cost.

    Without the interior point method, with it until there are 14 rows, and with all of it.
    """
    divided = 0
    for seed, most in itertools.product(range(trials(12)), (0, 14, 4000)):
        monkeypatch.setattr(semidefinite, "MOST_ROWS", most)
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 11))
        g = cut(n, float(rng.uniform(0.5, 1.0)), seed, kind)
        best = min(g.cost(np.array((0, *sides), np.uint8)) for sides in itertools.product((0, 1), repeat=n - 1))
        scale = 2.0**-34 * (float(np.abs(g.weight).sum()) + abs(g.constant))
        solver = BranchAndCut(g, rng.integers(0, 2, n).astype(np.uint8))
        while not solver.done:
            solver.run(Stopping(), work=float(rng.choice([0.01, 0.1, 1.0])))
            assert solver.certified <= best + 1e-3 * scale, seed
            assert solver.cost == g.cost(solver.sides)
        assert solver.cost <= best + scale and solver.certified >= solver.cost - scale, seed
        divided += solver.nodes
    assert divided or kind != "normal"


class Unreduced:
    """In place of a reduction."""

    def __init__(self, g: SignedGraph) -> None:
        self.graph = g

    def lift(self, sides):
        return sides


def test_a_start_without_sides_of_its_own_finds_the_optimum(monkeypatch):
    """Sides come from nodes of few spins only."""
    sides = SquareBounding.sides
    nothing = np.zeros(8, np.uint8)
    monkeypatch.setattr(SquareBounding, "sides", lambda self: sides(self) if self.relaxation.n <= 4 else nothing)
    monkeypatch.setattr(branch_and_cut, "Reduction", Unreduced)
    for seed in range(2):
        g = cut(8, 1.0, seed, "normal")
        best = min(g.cost(np.array(s, np.uint8)) for s in itertools.product((0, 1), repeat=8))
        assert proven(g).cost == pytest.approx(best)


def test_maximum_cut_is_proven_in_both_forms():
    g = cut(42, 0.5, 3)
    pairs, tables = np.stack([g.u, g.v], 1), np.zeros((g.m, 2, 2))
    tables[:, 0, 1] = tables[:, 1, 0] = g.weight
    f = gp.FactorGraph.from_arrays([2] * g.n, [(pairs, tables)], constant=g.constant)
    p = gp.SetPartition.from_pairs(g.n, pairs, -g.weight, n_clusters=(1, 2))
    labeling, partition = gp.solve(f, "exact"), gp.solve(p, "exact")
    assert labeling.status == partition.status == "optimal"
    assert labeling.cost == labeling.lower_bound == partition.cost + g.constant + g.weight.sum()


def test_many_open_nodes(monkeypatch):
    """Then the latest one is next, with the same result."""
    g = cut(9, 0.9, 4, "normal")
    whole = proven(g)
    monkeypatch.setattr(branch_and_cut, "MANY", 1)
    assert proven(g).cost == whole.cost and whole.nodes > 1


def test_a_stopped_turn_goes_on():
    g = cut(30, 0.5, 5)
    whole, parts = proven(g), BranchAndCut(g, np.zeros(30, np.uint8))
    while not parts.done:
        parts.run(Stopping(), work=5.0)
    assert whole.nodes == parts.nodes and (whole.sides == parts.sides).all()
    stopped = Stopping()
    stopped.stop(Status.INTERRUPTED)
    fresh = BranchAndCut(g, np.zeros(30, np.uint8))
    fresh.run(stopped)
    assert not fresh.rounds


def test_graphs_without_a_step_of_weights_are_proven_by_odd_cycles_if_small(monkeypatch):
    monkeypatch.undo()
    g = cut(30, 0.5, 1, "normal")
    solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
    solver.run(Stopping(), work=20_000)
    assert solver.done and solver.nodes < 20 and g.step == 0  # the semidefinite relaxation divides hundreds of nodes


@pytest.mark.parametrize("n", [60, 110])
def test_costs_whose_products_and_sums_overflow(n):
    """1e300: a product of two sums of costs overflowed, and 110 of them in roof duality."""
    Q = np.triu(np.random.default_rng(n).integers(-50, 51, (n, n)).astype(float))
    r = gp.solve(gp.FactorGraph.from_qubo(1e300 * Q), time_limit=0.6)
    assert r.lower_bound <= r.cost < 0.9e300 * gp.solve(gp.FactorGraph.from_qubo(Q), time_limit=0.6).cost
