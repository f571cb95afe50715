"""Two sides of signed graphs against enumeration: reduction, relaxation, branch and cut, with and without highspy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import trials

from graphpart import generate
from graphpart.binary_quadratic.two_sides import signed_graph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.maximum_cut import branch_and_cut, linear_program, odd_cycles
from graphpart.maximum_cut.branch_and_cut import BranchAndCut
from graphpart.maximum_cut.cycle_bounding import FREE, CycleBounding
from graphpart.maximum_cut.odd_cycles import OddCycles
from graphpart.maximum_cut.reduction import Reduction
from graphpart.maximum_cut.signed_graph import SignedGraph
from graphpart.stopping import Stopping

LARGEST = 10


@pytest.fixture(autouse=True)
def _never_dense(monkeypatch):
    """Odd cycles also where the semidefinite relaxation would be better."""
    monkeypatch.setattr(branch_and_cut, "DENSE", 10**6)


@st.composite
def signed_graphs(draw: st.DrawFn) -> SignedGraph:
    """Small graphs: sparse to complete, disconnected ones, ties, weights of many magnitudes."""
    n = draw(st.integers(0, LARGEST))
    pairs = list(itertools.combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs))) if pairs else []
    scale = draw(st.sampled_from([1.0, 1.0, 0.1, 1e-9, 1e9]))
    numbers = draw(st.sampled_from([st.sampled_from([-1, 1]), st.integers(-9, 9), st.floats(-5, 5, width=32)]))
    weights = [scale * w for w in draw(st.lists(numbers, min_size=len(chosen), max_size=len(chosen)))]
    u, v = np.ascontiguousarray(np.array(chosen, np.int32).reshape(-1, 2).T)
    return SignedGraph.from_pairs(n, u, v, np.array(weights, np.float64), draw(st.sampled_from([0.0, 2.5])))


def by_enumeration(g: SignedGraph) -> float:
    """The least cost of all sides, by code that shares nothing with the package."""
    edges = list(zip(g.u.tolist(), g.v.tolist(), g.weight.tolist(), strict=True))
    best = math.inf
    for sides in itertools.product((0, 1), repeat=max(g.n - 1, 0)):
        side = (0, *sides)
        best = min(best, g.constant + math.fsum(w for a, b, w in edges if side[a] != side[b]))
    return best


def close(a: float, b: float, g: SignedGraph) -> bool:
    return abs(a - b) <= 1e-6 * float(np.abs(g.weight).max(initial=0.0)) + 1e-12 * abs(b)


@given(signed_graphs())
@settings(max_examples=trials(150), deadline=None)
def test_reduced_graphs_have_the_same_optimum(g):
    reduction = Reduction(g)
    small = reduction.graph
    assert close(by_enumeration(small), by_enumeration(g), g)
    degrees = np.bincount(np.concatenate([small.u, small.v]), minlength=small.n)
    assert small.n == 0 or degrees.min() > 3
    weights = np.zeros((small.n, small.n))
    weights[small.u, small.v] = weights[small.v, small.u] = np.abs(small.weight)
    assert (2 * weights.max(1, initial=0.0) <= weights.sum(1)).all()  # no edge decides a node
    for seed in range(3):
        sides = np.random.default_rng(seed).integers(0, 2, small.n).astype(np.uint8)
        lifted = reduction.lift(sides)
        assert g.cost(lifted) <= small.cost(sides) + 1e-9 * float(np.abs(g.weight).sum())
        assert (reduction.project(lifted) == sides).all()


@given(signed_graphs(), st.integers(0, 2**32 - 1))
@settings(max_examples=trials(200), deadline=None)
def test_branch_and_cut_against_enumeration(g, seed):
    start = np.random.default_rng(seed).integers(0, 2, g.n).astype(np.uint8)
    solver = BranchAndCut(g, start)
    bounds: list[float] = []
    stopping = Stopping()
    best = by_enumeration(g)
    for _ in range(10_000):
        solver.run(stopping, work=1)
        bounds.append(solver.bound)
        assert solver.bound <= best + 1e-6 * float(np.abs(g.weight).max(initial=0.0)) + 1e-12 * abs(best)
        if solver.done:
            break
    assert solver.done
    assert bounds == sorted(bounds)
    assert close(solver.cost, best, g)
    assert close(g.cost(solver.sides), best, g)


@given(signed_graphs())
@settings(max_examples=trials(100), deadline=None)
def test_without_highspy_scipy_solves_the_programs(g):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear_program, "fault", lambda: RuntimeError("not installed"))
        solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
        solver.run(Stopping(), work=10**6)
    assert solver.done
    assert close(solver.cost, by_enumeration(g), g)


@given(signed_graphs(), st.integers(0, 2**32 - 1))
@settings(max_examples=trials(150), deadline=None)
def test_inequalities_hold_for_all_sides_and_cut_off_the_point(g, seed):
    """Each inequality is satisfied by all sides, and violated by the values that it was found for."""
    relaxation = OddCycles(g, lambda: math.inf)
    rng = np.random.default_rng(seed)
    relaxation.values = rng.choice([0.0, 0.1, 0.3, 0.5, 1.0], g.m)
    count = relaxation.separate(Stopping())
    rows = relaxation.program.rows
    assert count == len(rows)
    starts = rows.starts
    frustrated = [
        g.frustrated(np.array((0, *sides), np.uint8)[: g.n])
        for sides in itertools.islice(itertools.product((0, 1), repeat=max(g.n - 1, 0)), 64)
    ]
    for k in range(len(rows)):
        columns, entries = rows.columns[starts[k] : starts[k + 1]], rows.entries[starts[k] : starts[k + 1]]
        assert len(set(columns.tolist())) == len(columns)
        assert entries @ relaxation.values[columns] < rows.least[k] - odd_cycles.VIOLATION / 2
        for values in frustrated:
            assert entries @ values[columns] >= rows.least[k]


@given(signed_graphs())
@settings(max_examples=trials(200), deadline=None)
def test_separation_is_complete_on_triangles(g):
    """If a triangle's inequality is violated, some inequality is found."""
    relaxation = OddCycles(g, lambda: math.inf)
    rng = np.random.default_rng(g.m)
    values = relaxation.values = rng.choice([0.0, 0.2, 0.5, 1.0], g.m)
    place = {(a, b): e for e, (a, b) in enumerate(zip(g.u.tolist(), g.v.tolist(), strict=True))}
    violated = False
    for a, b, c in itertools.combinations(range(g.n), 3):
        if {(a, b), (b, c), (a, c)} <= place.keys():
            edges = [place[a, b], place[b, c], place[a, c]]
            for broken in itertools.product((0, 1), repeat=3):
                if (sum(broken) + int(g.negative[edges].sum())) % 2:
                    length = sum(1 - values[e] if d else values[e] for e, d in zip(edges, broken, strict=True))
                    violated |= length < 1 - 2 * odd_cycles.VIOLATION
    assert not violated or relaxation.separate(Stopping()) > 0


def test_planar_graphs_need_no_division():
    """The relaxation of a planar graph is exact (Barahona & Mahjoub 1986)."""
    rng = np.random.default_rng(5)
    side = 12
    cell = np.arange(side * side).reshape(side, side)
    u = np.concatenate([cell[:, :-1].ravel(), cell[:-1].ravel()]).astype(np.int32)
    v = np.concatenate([cell[:, 1:].ravel(), cell[1:].ravel()]).astype(np.int32)
    g = SignedGraph.from_pairs(side * side, u, v, rng.normal(size=len(u)))
    solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
    solver.run(Stopping())
    assert solver.done and solver.nodes == 0


def test_costs_differ_by_twice_the_step_where_all_degrees_are_even():
    g = SignedGraph.from_pairs(3, np.array([0, 1, 0], np.int32), np.array([1, 2, 2], np.int32), [1.0, 1.0, -1.0])
    assert g.step == 2.0
    assert SignedGraph.from_pairs(2, np.array([0], np.int32), np.array([1], np.int32), [1.0]).step == 1.0


def test_it_goes_on_where_it_was_stopped():
    rng = np.random.default_rng(3)
    u, v = (x.astype(np.int32) for x in np.triu_indices(24, 1))
    g = SignedGraph.from_pairs(24, u, v, rng.choice([-1.0, 1.0], len(u)))
    whole, parts = (BranchAndCut(g, np.zeros(24, np.uint8)) for _ in range(2))
    whole.run(Stopping())
    while not parts.done:
        parts.run(Stopping(), work=5)
    assert whole.done
    assert whole.cost == parts.cost == whole.bound == parts.bound
    assert parts.rounds >= whole.rounds > 1


def complete(n: int, seed: int) -> SignedGraph:
    u, v = (x.astype(np.int32) for x in np.triu_indices(n, 1))
    return SignedGraph.from_pairs(n, u, v, np.random.default_rng(seed).choice([-1.0, 1.0], len(u)))


@pytest.mark.parametrize("failing", [1, 2, 3])
def test_a_linear_program_that_fails_divides_the_node(failing, monkeypatch):
    """HiGHS may end without a solution and without being interrupted. Then the tree grows instead."""
    g = complete(10, failing)
    solve, calls = OddCycles.solve, itertools.count(1)

    def some(self: OddCycles) -> bool:
        solved, self.program.failed = solve(self), next(calls) % failing == 0
        return solved and not self.program.failed

    monkeypatch.setattr(OddCycles, "solve", some)
    solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
    solver.run(Stopping(), work=10**6)
    assert solver.done
    assert solver.cost == by_enumeration(g)


def test_reduced_costs_of_fixed_edges_fix_nothing():
    """An edge whose value is 0 in all better sides may have any reduced cost from then on."""
    g = complete(9, 4)
    bounding = CycleBounding(g, lambda: math.inf)
    assert bounding.solve()
    bounding.fixed[: g.m // 3], bounding.fixed[g.m // 3 : g.m // 2] = 0, 1
    before = bounding.fixed.copy()
    for sign in (1.0, -1.0):
        bounding.relaxation.reduced = np.where(before == FREE, 0.0, sign * 1e6)
        bounding._fix(0.0)
        assert (bounding.fixed == before).all()


@pytest.mark.parametrize("installed", [True, False])
def test_rows_that_contradict_each_other_prove_any_bound(installed, monkeypatch):
    """All edges of an odd cycle fixed as satisfied: the multipliers prove that no point obeys this."""
    if not installed:
        monkeypatch.setattr(linear_program, "fault", lambda: RuntimeError("not installed"))
    u, v = np.array([0, 1, 0], np.int32), np.array([1, 2, 2], np.int32)
    g = SignedGraph.from_pairs(3, u, v, [1.0, 1.0, -1.0])
    relaxation = OddCycles(g, lambda: math.inf)
    assert relaxation.solve() and relaxation.separate(Stopping()) == 1
    assert relaxation.solve() and relaxation.bound == pytest.approx(g.least + 1)
    relaxation.confine(np.zeros(3), np.zeros(3))
    assert not relaxation.solve()
    assert relaxation.bound > g.least + 3


def test_nodes_are_divided_by_free_edges_only():
    """Also where no value is far from 0 or 1, and no difference of costs counts as a rounding error."""
    g = complete(9, 4)
    bounding = CycleBounding(g, lambda: math.inf)
    bounding.fixed[: g.m // 2] = 0
    assert bounding.solve()
    bounding.relaxation.values[:] = 0.01
    halves = bounding.halves()
    assert halves is not None and halves[0] is bounding.fixed
    assert halves[1][0] == halves[2][0] >= g.m // 2 and [halves[1][1], halves[2][1]] == [0, 1]


@pytest.mark.parametrize("installed", [True, False])
def test_linear_programs_keep_to_the_time(installed, monkeypatch):
    """One program of 400 nodes takes longer than this; it is interrupted, with highspy or without."""
    if not installed:
        monkeypatch.setattr(linear_program, "fault", lambda: RuntimeError("not installed"))
    rng = np.random.default_rng(0)
    u, v = (x.astype(np.int32) for x in np.triu_indices(400, 1))
    kept = rng.random(len(u)) < 0.15
    g = SignedGraph.from_pairs(400, u[kept], v[kept], rng.normal(size=np.count_nonzero(kept)))
    solver = BranchAndCut(g, np.zeros(400, np.uint8))
    stopping = Stopping(0.5)
    solver.run(stopping)
    assert stopping.seconds < 2.0
    assert not solver.done and solver.bound <= solver.cost


def test_inner_points_lead_to_the_same_optimum_and_are_interrupted(monkeypatch):
    """In graphs of any size here."""
    pytest.importorskip("highspy")
    cubes = [generate.spin_glass(4, 3, "signs", seed=seed).problem for seed in range(3)]
    graphs = [signed_graph(quadratic_form(p)) for p in cubes]
    costs = []
    for large in (odd_cycles.LARGE, 0):
        monkeypatch.setattr(odd_cycles, "LARGE", large)
        for g in graphs:
            solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
            solver.run(Stopping())
            assert solver.done and solver.bound == solver.cost == g.cost(solver.sides)
            costs.append(solver.cost)
    assert costs[:3] == costs[3:]
    g = graphs[0]
    relaxation = OddCycles(g, lambda: math.inf)
    relaxation.solve()
    relaxation.separate(Stopping())
    relaxation.inner = True
    assert relaxation.solve() and relaxation.program.inner
    inner = relaxation.bound
    assert np.count_nonzero(relaxation.fractional) > g.m // 2  # no vertex
    relaxation.settle()
    assert relaxation.solve() and not relaxation.program.inner  # the way to a vertex
    assert g.least < inner <= relaxation.bound <= costs[0]
    stopped = OddCycles(g, lambda: 0.0)
    stopped.program.add(relaxation.program.rows)
    stopped.inner = True
    assert not stopped.solve() and stopped.bound == g.least
