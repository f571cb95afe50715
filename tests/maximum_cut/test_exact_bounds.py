"""Bounds of two sides in exact arithmetic: penalties beside small weights, ties, extreme and decimal weights.

A bound may never exceed the optimum, not by a rounding error either, and has to meet it when the search is over.
"""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart.crf.bounds.cutting import Cutting
from graphpart.crf.certificates.judging import judge_of_labels
from graphpart.maximum_cut import branch_and_cut, odd_cycles
from graphpart.maximum_cut.branch_and_cut import BranchAndCut
from graphpart.maximum_cut.linear_program import LinearProgram, Rows
from graphpart.maximum_cut.reduction import Reduction
from graphpart.maximum_cut.signed_graph import SignedGraph
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.exact_solvers.two_clusters import TwoClusters
from graphpart.stopping import Stopping

KINDS = ["units", "whole", "any", "decimal", "penalties", "whole and penalties", "magnitudes", "equal"]


def numbers(rng: np.random.Generator, kind: str, count: int) -> np.ndarray:
    """Weights of one kind."""
    sign = rng.choice([-1.0, 1.0], count)
    heavy = np.where(rng.random(count) < 0.3, 10.0 ** rng.integers(6, 13, count), 0.0) * sign
    return {
        "units": sign,
        "whole": rng.integers(-9, 10, count).astype(float),
        "any": rng.normal(size=count),
        "decimal": np.round(rng.normal(size=count), 2),
        "penalties": np.where(heavy != 0, heavy, rng.normal(size=count)),
        "whole and penalties": np.where(heavy != 0, heavy, rng.integers(-5, 6, count)),
        "magnitudes": sign * 10.0 ** rng.uniform(-12, 12, count),
        "equal": np.full(count, 0.1),
    }[kind]


def random_graph(rng: np.random.Generator, kind: str, largest: int) -> SignedGraph:
    """Sparse to complete, some disconnected."""
    n = int(rng.integers(0, largest + 1))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < rng.choice([0.3, 0.6, 1.0])
    if rng.random() < 0.2:
        kept &= (u < n // 2) == (v < n // 2)
    u, v = u[kept].astype(np.int32), v[kept].astype(np.int32)
    return SignedGraph.from_pairs(n, u, v, numbers(rng, kind, len(u)), float(rng.choice([0.0, 3.0, 0.7])))


def least_cost(g: SignedGraph) -> Fraction:
    """The least cost of all sides, in fractions."""
    edges = [(a, b, Fraction(w)) for a, b, w in zip(g.u.tolist(), g.v.tolist(), g.weight.tolist(), strict=True)]
    every = ((0, *sides) for sides in itertools.product((0, 1), repeat=max(g.n - 1, 0)))
    return Fraction(g.constant) + min(sum((w for a, b, w in edges if side[a] != side[b]), Fraction()) for side in every)


graphs = st.builds(
    lambda seed, kind: random_graph(np.random.default_rng(seed), kind, 7),
    st.integers(0, 2**32 - 1),
    st.sampled_from(KINDS),
)


@given(graphs, st.sampled_from(["squares", "vertices", "inner points"]))
@settings(max_examples=trials(300), deadline=None)
def test_the_certified_bound_is_tight_and_never_above_the_optimum(g, relaxation):
    best = least_cost(g)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(branch_and_cut, "DENSE", 0 if relaxation == "squares" else 10**6)
        if relaxation == "inner points":
            patch.setattr(odd_cycles, "LARGE", 0)
        patch.setattr(branch_and_cut, "STEPLESS", 0)
        solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
        size = abs(g.constant) + float(np.abs(g.weight).sum())
        solver.resolution = 0.0 if g.step else 2.0**-44 * size
        while not solver.done:
            solver.run(Stopping(), work=20)
            assert Fraction(solver.certified) <= best
    assert float(Fraction(solver.cost) - best) <= 2.0**-44 * size
    if g.is_exact:
        assert solver.certified == solver.cost == best
    assert solver.cost - solver.certified <= 2.0**-43 * size


@pytest.mark.parametrize("seed", [112, 200, 329])
def test_the_bound_meets_the_cost_where_no_half_of_a_node_has_better_sides(seed, monkeypatch):
    """Reduced costs have fixed edges such that both values of another one contradict them."""
    for module, name, value in (
        (branch_and_cut, "DENSE", 10**6),
        (odd_cycles, "LARGE", 0),
        (odd_cycles, "STEADY", 0),
        (odd_cycles, "GAIN", 10.0),
        (branch_and_cut, "Reduction", lambda g: SimpleNamespace(graph=g, lift=lambda sides: sides, error=0.0)),
    ):
        monkeypatch.setattr(module, name, value)
    g = random_graph(np.random.default_rng(10**6 + seed), KINDS[seed % len(KINDS)], 10)
    solver = BranchAndCut(g, np.zeros(g.n, np.uint8))
    solver.run(Stopping())
    assert solver.done and solver.nodes == 1 and solver.certified == solver.cost == least_cost(g)


@given(graphs)
@settings(max_examples=trials(100), deadline=None)
def test_reduction_changes_the_optimum_by_its_error_at_most(g):
    reduction = Reduction(g)
    change = abs(least_cost(reduction.graph) - least_cost(g))
    assert change <= Fraction(reduction.error)
    assert reduction.error <= 2.0**-45 * (abs(g.constant) + float(np.abs(g.weight).sum()))
    assert reduction.error == 0 or not g.is_exact


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
@settings(max_examples=trials(100), deadline=None)
def test_bounds_of_multipliers_are_rounded_down_by_little(seed, kind):
    rng = np.random.default_rng(seed)
    columns, k = int(rng.integers(1, 9)), int(rng.integers(0, 12))
    program = LinearProgram(np.abs(numbers(rng, kind, columns)), lambda: math.inf)
    sizes = rng.integers(1, columns + 1, k)
    members = [rng.choice(columns, size, replace=False) for size in sizes]
    flat = np.concatenate([np.zeros(0, int), *members]).astype(np.int32)
    entries = rng.choice([-1.0, 1.0], len(flat))
    program.add(Rows(np.cumsum(sizes), flat, entries, rng.integers(-3, 2, k).astype(float)))
    lower = (rng.random(columns) < 0.2).astype(float)
    program.confine(lower, np.maximum(lower, rng.random(columns) < 0.8))
    multipliers = np.abs(numbers(rng, kind, k)) * (rng.random(k) < 0.7) / 3
    reduced, exact = [Fraction(c) for c in program.cost.tolist()], Fraction()
    for m, row, least in zip(multipliers.tolist(), np.split(np.arange(len(flat)), program.rows.ends)[:k],
                             program.rows.least.tolist(), strict=True):  # fmt: skip
        exact += Fraction(m) * Fraction(least)
        for e in row:
            reduced[flat[e]] -= Fraction(m) * Fraction(entries[e])
    for r, low, high in zip(reduced, program.lower.tolist(), program.upper.tolist(), strict=True):
        exact += min(r * Fraction(low), r * Fraction(high))
    bound = Fraction(program.bound(program.cost, multipliers)[0])
    size = float(multipliers @ np.abs(program.rows.least)) + sum(abs(float(r)) for r in reduced)
    assert exact - Fraction(2.0**-48 * size + 1e-300) - Fraction(multipliers.sum()) / 2**90 <= bound <= exact


FORMS = ["tables", "quadratic", "at most two", "two", "at most three"]


def problem(rng: np.random.Generator, form: str) -> gp.FactorGraph | gp.SetPartition:
    """A random problem of this form, with up to nine variables, or up to seven elements."""
    kind = KINDS[int(rng.integers(len(KINDS)))]
    scale = float(rng.choice([1.0, 1.0, 1e-9, 1e9]))
    g = random_graph(rng, kind, 9 if form in ("tables", "quadratic") else 7)
    pairs, weight = np.stack([g.u, g.v], 1), scale * g.weight
    if form == "quadratic":
        matrix = np.zeros((g.n, g.n))
        matrix[g.u, g.v] = weight
        return gp.FactorGraph.from_qubo(matrix + np.diag(scale * numbers(rng, kind, g.n)))
    if form == "tables":
        single = scale * numbers(rng, kind, 2 * g.n).reshape(g.n, 2)
        tables = scale * numbers(rng, kind, 4 * g.m).reshape(g.m, 2, 2)
        return gp.FactorGraph.from_arrays([2] * g.n, [(np.arange(g.n)[:, None], single), (pairs, tables)])
    limits = {"two": 2 if g.n > 1 else (1, 2), "at most two": (1, 2), "at most three": (1, 3)}[form]
    return gp.SetPartition.from_pairs(g.n, pairs, weight, n_clusters=limits)


def optimum(p: gp.FactorGraph | gp.SetPartition) -> Fraction:
    """The least cost of all solutions, in fractions."""
    costs = []
    if isinstance(p, gp.FactorGraph):
        tables = [Fraction(x) for x in p.tables.tolist()]
        factors = [
            (p.scope[i:j].tolist(), t) for i, j, t in zip(p.scope_start, p.scope_start[1:], p.table_start, strict=False)
        ]
        for y in itertools.product((0, 1), repeat=p.n):
            at = (t + sum(y[v] << k for k, v in enumerate(reversed(scope))) for scope, t in factors)
            costs.append(sum((tables[i] for i in at), Fraction(p.constant)))
    else:
        limits, (u, v, cost) = p._limits, p.pairs()
        pairs = [(a, b, Fraction(c)) for a, b, c in zip(u.tolist(), v.tolist(), cost.tolist(), strict=True)]
        for y in itertools.product(range(limits.most), repeat=max(p.n - 1, 0)):
            if p.n == 0 or len({0, *y}) >= limits.least:
                costs.append(sum((c for a, b, c in pairs if (0, *y)[a] == (0, *y)[b]), Fraction()))
    return min(costs)


def test_a_linear_program_that_would_be_interrupted_is_not_begun_where_the_gap_is_wide(monkeypatch):
    f = gp.generate.spin_glass(6, 3, seed=1).problem
    labels, work = np.zeros(f.n, np.int32), []
    for far in (0.0, math.inf):
        monkeypatch.setattr(branch_and_cut, "FAR", far)
        one = Cutting(f, labels, f.evaluate_labels(labels))
        one.go_on(Stopping(), None, 500)
        work.append(one.solver._bounding.work)
    assert 0 < work[0] < 500 < work[1]


@pytest.mark.parametrize("form", ["tables", "quadratic", "at most two"])
@pytest.mark.filterwarnings("ignore::graphpart.errors.GraphPartWarning")
def test_branch_and_cut_proves_decimal_costs_as_whole_numbers(form, monkeypatch):
    """It ends as soon as its bound is less than a step below the cost; the bound holds for the costs as they are."""
    seen = 0
    for seed in range(trials(150)):
        rng = np.random.default_rng(seed)
        with monkeypatch.context() as patch:
            patch.setattr(f"{__name__}.KINDS", ["decimal", "equal", "units"])
            p = problem(rng, form)
        labels, best = np.zeros(p.n, np.int32), optimum(p)
        if isinstance(p, gp.FactorGraph):
            solver: Cutting | TwoClusters = Cutting(p, labels, p.evaluate_labels(labels))
            solver.go_on(Stopping(), None, math.inf)
            bound, judge = solver.certified, judge_of_labels(p, solver.labels)
        else:
            solver = TwoClusters(p, labels)
            solver.run(Stopping(), None)
            bound, judge = solver.bound, judge_of_partition(p)
        assert Fraction(bound) <= best, seed
        assert judge.meets(bound, solver.cost) or not judge.step, seed
        if solver.solver is not None and solver._unit != 1.0:
            seen += 1
            whole = solver.solver.g
            assert whole.is_exact and np.array_equal(2 * whole.weight, np.rint(2 * whole.weight)), seed
    assert seen


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::graphpart.errors.GraphPartWarning")
def test_small_problems_of_all_forms_are_proven(form):
    """Costs, bounds and certificates against all solutions."""
    for seed in range(trials(200)):
        rng = np.random.default_rng(seed)
        p, method = problem(rng, form), str(rng.choice(["auto", "exact"]))
        best, found = optimum(p), gp.solve(p, method, certificate=True)
        judge = judge_of_labels(p, found.labels) if isinstance(p, gp.FactorGraph) else judge_of_partition(p)
        size = float(np.abs(p.tables if isinstance(p, gp.FactorGraph) else p.pairs()[2]).sum())
        allowed = 0 if judge.step and not judge.error else 2 * max(judge.tolerance, judge.error, 2.0**-50 * size)
        assert found.status == "optimal", seed
        assert abs(Fraction(found.cost) - best) <= allowed, seed
        assert Fraction(found.lower_bound) - best <= allowed, seed
        assert found.certificate.verify(p, exact=True), seed
        assert abs(Fraction(found.certificate.bound) - best) <= allowed + 2 * found.certificate.tolerance, seed
