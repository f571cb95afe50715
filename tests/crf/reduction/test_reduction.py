"""Reduction: what is known agrees with enumeration, the smaller problem has the same optimum, lifting is exact."""

import math
import os

import numpy as np
import pytest
from reference_crf import all_energies
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf.exact_solvers.brute_force import brute_force
from graphpart.crf.reduction.persistency import persistency, reduce, reduced
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping

TRIALS = int(os.environ.get("GRAPHPART_TRIALS", trials(3000)))  # 10^5 were run once


def check(f, whole):
    energies = all_energies(f)
    least = energies.min()
    try:
        r = reduce(f)
    except InfeasibleProblem:
        assert least == math.inf
        return 0
    if least == math.inf:
        return 0
    tolerance = 0.0 if whole else 1e-11
    optima = np.argwhere(np.atleast_1d(energies) <= least + tolerance)[:, : f.n]
    p = r.persistency
    if whole:
        assert ((optima == p.strong) | (p.strong < 0)).all()
    assert ((p.weak == p.strong) | (p.strong < 0)).all() and (p.weak == r.labels).all()
    start = np.cumsum(f.domains) - f.domains
    agree = ((optima == p.weak) | (p.weak < 0)).all(axis=1)
    inside = p.remaining[start + optima].all(axis=1) if f.n else np.ones(1, bool)
    assert (agree & inside).any()
    small = brute_force(r.problem)
    assert small.cost + r.constant == pytest.approx(least, abs=tolerance)
    lifted = r.lift(small)
    assert f.evaluate(lifted) == pytest.approx(least, abs=tolerance)
    # Any labeling keeps its energy, and lifting does not mix variables up.
    some = np.random.default_rng(0).integers(0, r.problem.domains) if r.problem.n else np.zeros(0, np.int64)
    energy = r.problem.evaluate(some)
    assert f.evaluate(r.lift(some)) == (pytest.approx(energy + r.constant, abs=1e-9) if energy < math.inf else math.inf)
    unknown = [f.variables[i] for i in np.flatnonzero(r.labels < 0)]
    assert [name for name in unknown if name in r.problem.variables] == list(r.problem.variables)  # one of those tied
    return int((r.labels >= 0).sum())


@pytest.mark.parametrize("max_domain", [2, 4])
def test_sound_against_enumeration(max_domain):
    rng = np.random.default_rng([21, max_domain])
    known = total = 0
    for trial in range(TRIALS // 2):
        whole = bool(trial % 2)
        arity = 2 if trial % 3 else 3
        forbidden = (0.0, 0.0, 0.15, 0.4)[trial // 6 % 4]
        f = random_factor_graph(rng, max_domain=max_domain, max_arity=arity, whole=whole, forbidden=forbidden)
        try:
            known += check(f, whole)
        except AssertionError as error:
            raise AssertionError(f"trial {trial}") from error
        total += f.n
    assert 0.2 * total < known < 0.98 * total


def naive_dead(f):
    """Strict dead ends by definition, until there are none; the labels left of each variable."""
    left = [set(range(d)) for d in f.domains.tolist()]
    tables = [f.factor(i) for i in range(f.m)]

    def worst(v, a, b):
        total = 0.0
        for members, table in tables:
            if v in members:
                rows = np.moveaxis(table, members.index(v), 0)
                rows = rows[np.ix_(range(len(rows)), *(sorted(left[u]) for u in members if u != v))]
                total += (rows[a] - rows[b]).min()
        return total

    again = True
    while again:
        again = False
        for v in range(f.n):
            for a in sorted(left[v]):
                if any(worst(v, a, b) > 0 for b in left[v] if b != a):
                    left[v].discard(a)
                    again = True
    return left


def test_finds_what_the_definition_does():
    rng = np.random.default_rng(22)
    found = 0
    for trial in range(100):
        f = random_factor_graph(rng, n=5, max_domain=4, max_arity=3, whole=True)
        left = naive_dead(f)
        p = persistency(f)
        at = 0
        for v, d in enumerate(f.domains.tolist()):
            assert set(np.flatnonzero(p.remaining[at : at + d])) <= left[v], trial
            found += d - len(left[v])
            at += d
    assert found > 100


def test_ties_are_weak():
    f = gp.FactorGraph.from_arrays([3], [([[0]], [[1.0, 1.0, 2.0]])])
    p = persistency(f)
    assert p.strong.tolist() == [-1] and p.weak[0] in (0, 1) and p.remaining.sum() == 1


def test_infeasible_and_degenerate():
    r = reduce(gp.FactorGraph())
    assert r.problem.n == 0 and r.lift([]).shape == (0,)
    r = reduce(gp.FactorGraph.from_arrays([1, 3, 2], [], ["a", "b", "c"], constant=2.0))
    assert r.constant == 2.0 and r.labels[0] == 0 and f"{r.persistency.strong.tolist()}" == "[0, -1, -1]"
    assert r.problem.n == 0 and r.lift([]).tolist() == [0] * 3
    walls = [([[0], [1]], [[0.0, np.inf], [np.inf, 0.0]]), ([[0, 1]], [[[0.0, np.inf], [0.0, 0.0]]])]
    with pytest.raises(InfeasibleProblem, match="every labeling is forbidden"):
        reduce(gp.FactorGraph.from_arrays([2, 2], walls))


@pytest.mark.parametrize("magnitude", [1e-300, 1e300])
def test_huge_and_tiny_costs(magnitude):
    rng = np.random.default_rng(23)
    for _ in range(trials(60)):
        f = random_factor_graph(rng, max_domain=3, max_arity=3, whole=True)
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * (magnitude / 1000), constant=0.0)
        r = reduce(g)
        least = all_energies(g).min()
        assert brute_force(r.problem).cost + r.constant == pytest.approx(least, rel=1e-9)


def test_chain_is_walked_and_time_limit_is_kept():
    # Only the first variable knows its label, then one after the other follows.
    n = 2000
    follow = np.array([[0.0, 2.0], [2.0, 0.0]])
    f = gp.FactorGraph.from_arrays(
        [2] * n,
        [
            ([[0]], [[0.0, 9.0]]),
            (np.arange(n)[:, None], np.tile([0.0, 0.5], (n, 1)) * np.array([1, -1])[np.arange(n) % 2][:, None]),
            (np.stack([np.arange(n - 1), np.arange(1, n)], 1), np.stack([follow] * (n - 1))),
        ],
    )
    r = reduce(f)
    assert r.problem.n == 0 and f.evaluate(r.lift([])) == pytest.approx(r.constant)
    stopped = reduce(f, time_limit=0)
    assert stopped.problem.n == n and stopped.constant == 0.0 and r.completed and not stopped.completed


def one_to_one(rng, d, whole):
    """A table that allows one label of each variable for each label of the other, or none for some."""
    table = np.full((d, d), np.inf)
    at = rng.permutation(d)
    costs = rng.integers(-4, 5, d).astype(float) if whole else rng.standard_normal(d)
    table[np.arange(d), at] = np.where(rng.random(d) < 0.15, np.inf, costs)
    return table


def test_variables_whose_labels_follow_from_each_other_become_one():
    rng = np.random.default_rng(24)
    contracted = proven = 0
    for trial in range(160):
        whole = bool(trial % 2)
        n, d = int(rng.integers(2, 7)), int(rng.integers(2, 4))
        f = gp.FactorGraph.from_arrays([d] * n, [])
        for _ in range(int(rng.integers(1, n + 1))):  # chains and cycles of pairs, in both directions
            f.add_factor([int(v) for v in rng.choice(n, 2, replace=False)], one_to_one(rng, d, whole))
        for _ in range(int(rng.integers(1, 2 * n))):
            scope = rng.choice(n, int(rng.integers(1, min(n, 3) + 1)), replace=False)
            table = rng.integers(-4, 5, (d,) * len(scope)) * 10.0 ** rng.integers(0, 4)
            f.add_factor([int(v) for v in scope], np.where(rng.random(table.shape) < 0.05, np.inf, table))
        energies = all_energies(f)
        least = energies.min()
        try:
            small = reduced(f, (), Stopping())
        except InfeasibleProblem:
            assert least == math.inf, trial
            continue
        known = np.flatnonzero(small.labels >= 0)
        assert small.problem.n < n
        contracted += n - len(known) - small.problem.n
        allowed = np.argwhere(energies < math.inf)
        inside = all_energies(small.problem)
        # Allowed labelings are the same, one to one, and have the same energies.
        assert np.isfinite(inside).sum() == len(allowed), trial
        for labels in np.argwhere(np.isfinite(np.atleast_1d(inside)))[:20, : small.problem.n]:
            lifted = small.lift(labels)
            assert (small.project(lifted) == labels).all()
            assert f.evaluate(lifted) == pytest.approx(small.problem.evaluate(labels) + small.constant), trial
        if least < math.inf:
            for r in (gp.solve(f), gp.crf.exact(f)):
                assert str(r.status) == "optimal" and r.cost == pytest.approx(least), trial
                proven += 1
            assert gp.crf.search(f, max_iterations=1).cost >= least - 1e-9
            r = reduce(f)
            assert brute_force(r.problem).cost + r.constant == pytest.approx(least), trial
    assert contracted > 100 and proven > 100


def test_a_table_with_one_entry_makes_both_variables_known():
    for seed in range(12):
        rng, n = np.random.default_rng([24, seed]), 7
        f = gp.FactorGraph.from_arrays([2] * n, [(np.arange(n)[:, None], 0.7 * rng.standard_normal((n, 2)))])
        pairs = [[a, b] for a in range(n) for b in range(a + 1, n)]
        only = np.full((2, 2), np.inf)
        only[tuple(rng.integers(2, size=2))] = 1.0
        f.add_factor([0, 1], only)
        for pair in pairs:
            if rng.random() < 0.4:
                f.add_factor(pair, rng.normal() * np.eye(2))
        assert (reduced(f, (), Stopping()).problem.domains > 1).all()
        r = reduce(f)
        best = r.lift(brute_force(r.problem))
        assert f.evaluate(best) == pytest.approx(all_energies(f).min()), seed
