"""Exchanges within sizes of clusters, and between elements that must be apart: no change that helps is left, small
problems to the optimum, points in clusters of equal size, parts of people, ends, and the same work twice."""

import math

import numpy as np
import pytest
from grouped import grouped_problem, seeds
from scipy.optimize import linear_sum_assignment

import graphpart as gp
from graphpart.common.variates import exponential_variates
from graphpart.partition.anytime_search import exchanges
from graphpart.partition.anytime_search._kernels import Exchanges
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.exchanges import ExchangeRounds
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.pool import Pool
from graphpart.partition.anytime_search.strategy import Turn
from graphpart.partition.local_search.limited import packed
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import canonical
from graphpart.partition.problem.limits import sizes_of
from graphpart.stopping import Stopping


def turn_of(p, labels):
    return Turn(Pool(p, labels, 6), Annealer(p), 0, 0, 0, 0.0, [1, 2, 3, 4], np.random.default_rng(0), 2e6)


def balanced(n, size, seed, **options):
    costs = np.random.default_rng(seed).integers(-9, 10, n * (n - 1) // 2).astype(float)
    return gp.SetPartition.from_pairs(
        n, np.triu_indices(n, 1), costs, max_size=size, n_clusters=-(-n // size), **options
    )


def with_a_usual_cost(seed):
    """Pairs that are not listed cost something, too; some pairs must be cut."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.5
    costs = np.where(rng.random(len(u)) < 0.1, np.inf, rng.normal(size=len(u)))
    usual = float(rng.choice([0.3, -0.2]))
    p = gp.SetPartition.from_pairs(n, (u[kept], v[kept]), costs[kept], missing=usual, dense=False)
    try:
        return p.require(max_size=int(rng.integers(1, n + 1)), n_clusters=None if seed % 2 else (1, n - 1))
    except gp.InfeasibleProblem:
        return None


def with_cuts(seed):
    """Some pairs must be cut, or groups are apart; some problems limit the number of clusters."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 10))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < rng.choice([0.4, 1.0])
    costs, cut = rng.integers(-9, 10, len(u)) * rng.choice([1.0, 1e-9, 1e9]), rng.random(len(u)) < 0.2
    more = {"groups": rng.integers(0, 3, n)} if seed % 3 == 1 else {"missing": 0.3, "dense": False} if seed % 3 else {}
    p = gp.SetPartition.from_pairs(
        n, (u[kept], v[kept]), costs[kept], must_cut=np.column_stack([u, v])[cut].tolist(), **more
    )
    try:
        return p.require(n_clusters=(1, n)) if seed % 5 == 0 else p
    except gp.InfeasibleProblem:
        return None


def cost_within(p, labels):
    """The cost of labels if they obey all limits, else inf."""
    violated = p._limits is not None and p._limits.violation(canonical(labels))
    return math.inf if violated else p._evaluate_labels(canonical(labels))


def neighbours(labels, columns):
    """All labels after a move or an exchange."""
    found = []
    for a in range(len(labels)):
        for U in range(columns):
            found.append(labels.copy())
            found[-1][a] = U
        for b in range(a):
            found.append(labels.copy())
            found[-1][[a, b]] = labels[[b, a]]
    return found


def test_no_move_and_no_exchange_is_left_that_lowers_the_cost():
    tried = 0
    for seed in seeds(400):
        p = with_a_usual_cost(seed) if seed % 3 == 0 else grouped_problem(seed, limits=True)
        if p is None or p._limits is None or p._limits.max_size is None:
            continue
        listed = ExchangeRounds.listed(Contraction(p).problem, np.zeros(0, np.int32))
        try:
            start = None if listed is None else packed(listed)
        except gp.InfeasibleProblem:
            continue
        if start is None or not math.isfinite(cost_within(listed, start)):
            continue
        tried += 1
        n, limits = listed.n, listed._limits
        most = min(n, limits.most or n)
        sizes = np.ones(n, np.int64) if listed._sizes is None else listed._sizes
        usual = 0.0 if listed.background is None else listed.background.constant
        kernel = Exchanges(*listed._rows().arrays, sizes, limits.max_size, usual, limits.least, most, listed._tolerance)
        changes = [cost_within(listed, each) for each in neighbours(start, most)]
        cost = cost_within(listed, start)
        proposed = np.asarray(kernel.sample(start, 200, seed))
        for rise in proposed[proposed < np.inf]:
            assert any(abs(cost + rise - other) < 1e-9 for other in changes), seed
        found, _ = kernel.run(start, 5000, 1.0, 0.01, exponential_variates(), seed, 0.0, Stopping())
        least = min((cost_within(listed, each) for each in neighbours(found, most)), default=math.inf)
        assert cost_within(listed, found) <= least + 1e-9, seed
        assert sizes_of(found, sizes).max() <= limits.max_size
    assert tried > 0.1 * len(seeds(400))


def test_without_sizes_no_move_and_no_exchange_of_elements_that_must_be_apart_is_left():
    """And a run from all elements apart finds the optimum of most small problems."""
    optimal = tried = 0
    for seed in seeds(400):
        p = with_cuts(seed)
        listed = None if p is None else ExchangeRounds.listed(Contraction(p).problem, np.zeros(0, np.int32))
        if listed is None or listed.n < 2:
            continue
        n, start = listed.n, np.arange(listed.n, dtype=np.int32)
        cut = {(a, b) for a, b, cost in zip(*(each.tolist() for each in listed.pairs()), strict=True) if cost == np.inf}
        usual = 0.0 if listed.background is None else listed.background.constant
        kernel = Exchanges(*listed._rows().arrays, np.ones(n, np.int64), n, usual, 1, n, listed._tolerance)
        hot = 0.3 * (listed._magnitude or 1.0)
        found, _ = kernel.run(start, 5000, hot, 1e-3 * hot, exponential_variates(), seed, 0.0, Stopping())
        cost, around = cost_within(listed, found), neighbours(found, n)
        wanted = [each for each in around if len(at := np.flatnonzero(each != found)) < 2 or tuple(at) in cut]
        assert cost <= min((cost_within(listed, each) for each in wanted), default=math.inf) + listed._tolerance, seed
        least = gp.partition.brute_force(p).cost - Contraction(p).constant
        assert cost >= least - listed._tolerance * n, seed
        tried, optimal = tried + 1, optimal + (cost <= least + listed._tolerance * n)
    assert tried > 0.5 * len(seeds(400)) and optimal > 0.9 * tried


@pytest.mark.parametrize("seed", range(3))
def test_parts_of_people_cost_less_than_without_exchanges(seed):
    """At most one part of each kind for each person: moves of one part end some 3% above."""
    rng = np.random.default_rng(seed)
    centre = rng.random((20, 2)) * math.sqrt(20)
    person, part = np.repeat(np.arange(20), 12), np.tile(np.arange(12), 20)
    places = centre[person] + 0.25 * rng.standard_normal((len(person), 2))
    far = np.linalg.norm(places[:, None] - places[None], axis=2)
    u, v = np.nonzero(np.triu((far < 1.2) & (part[:, None] != part[None]), 1))
    costs = far[u, v] - 0.5 + 0.2 * rng.standard_normal(len(u))
    p = gp.SetPartition.from_pairs(len(person), (u, v), costs, groups=part)
    r = gp.partition.search(p, max_iterations=3)
    without = gp.partition.search(p, max_iterations=3, parameters=SearchParameters(without=("exchanges",)))
    assert r.cost < 0.99 * without.cost < 0
    found = gp.partition.search(p, max_iterations=3, threads=1)
    assert found.labels.tolist() == r.labels.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_tasks_find_the_optimum_and_do_the_same_again(seed):
    p = balanced(9, 3, seed, must_cut=[(0, 1), (2, 3)], must_join=[(4, 5)])
    contraction = Contraction(p)
    q = contraction.problem
    rounds, turn = ExchangeRounds(ExchangeRounds.listed(q, packed(q)), 1.0), turn_of(q, packed(q))
    tasks = rounds.plan(turn)
    found = [rounds.perform(task, Stopping()) for task in tasks]
    again = rounds.perform(tasks[0], Stopping())
    assert again.labels.tolist() == found[0].labels.tolist() and again.work == found[0].work > 0
    least = min(q._evaluate_labels(each.labels) for each in found) + contraction.constant
    assert least == gp.partition.brute_force(p).cost


def test_a_task_ends_when_it_is_told_to():
    p = balanced(60, 10, 1)
    rounds, turn = ExchangeRounds(ExchangeRounds.listed(p, packed(p)), 1.0), turn_of(p, packed(p))
    found = rounds.perform(rounds.plan(turn)[0], Stopping(time_limit=0))
    assert found.labels.tolist() == turn.pool.labels.tolist()


def test_other_strategies_search_where_a_table_would_be_too_large_and_where_nothing_has_a_size_or_is_cut():
    grid = gp.generate.grid(150, 150, seed=1).problem
    few, many = (np.arange(grid.n, dtype=np.int32) // size for size in (5000, 3))
    for options in ({}, {"n_clusters": 5}):
        assert ExchangeRounds.listed(grid.require(**options), few) is None
    assert ExchangeRounds.listed(grid.require(max_size=3), many) is None
    for options in ({"max_size": 5000}, {"must_cut": [(0, 9000)]}):
        assert ExchangeRounds.listed(grid.require(**options), few) is not None


@pytest.mark.parametrize("kind", ["matrix", "cuts", "groups", "usual"])
def test_in_parts_other_clusters_stay_as_they_are(kind, monkeypatch):
    monkeypatch.setattr(exchanges, "REGION", 15)
    rng, n, gains = np.random.default_rng(5), 80, 0
    u, v = np.nonzero(np.triu(rng.random((n, n)) < 0.08, 1))
    options = {"matrix": {"dense": True}, "usual": {"missing": 0.1}}.get(kind, {})
    options |= (
        {"groups": rng.permutation(n) // 4} if kind == "groups" else {"must_cut": [(a, a + 40) for a in range(40)]}
    )
    p = gp.SetPartition.from_pairs(n, (u, v), rng.normal(-0.5, 1.0, len(u)), **({"dense": False} | options))
    rounds = ExchangeRounds(ExchangeRounds.listed(p, np.zeros(0, np.int32)), 1.0)
    for seed in range(40):
        labels = np.asarray(gp.partition.greedy_joining(p).labels) if seed % 2 else np.arange(n, dtype=np.int32)
        found = rounds.perform(exchanges.ExchangeTask(labels, seed, 3000, (0.03, 0.003)), Stopping()).labels
        assert math.isfinite(p._evaluate_labels(found))
        region = rounds._region(canonical(labels), np.random.default_rng(seed))
        others = np.setdiff1d(np.arange(n), region)
        assert canonical(found[others]).tolist() == canonical(labels[others]).tolist()
        assert not set(found[others]) & set(found[region]) and 15 <= len(region) < n
        gains += p._evaluate_labels(found) < p._evaluate_labels(labels) - 1e-9
    assert gains >= 20


def constrained_means(X, k, rng):
    """k clusters of equal size, whose centres and assignments are improved in turn (Bradley et al. 2000)."""
    centres, before = X[rng.choice(len(X), k, replace=False)], math.inf
    while True:
        distance = np.repeat(((X[:, None] - centres[None]) ** 2).sum(-1), len(X) // k, axis=1)
        row, column = linear_sum_assignment(distance)
        if (cost := distance[row, column].sum()) >= before - 1e-9:
            return column // (len(X) // k)
        before, centres = cost, np.array([X[column // (len(X) // k) == j].mean(0) for j in range(k)])


def test_clusters_of_equal_size_cost_no_more_than_those_of_constrained_means():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(6, 2))[rng.integers(6, size=120)] * 3 + rng.normal(size=(120, 2))
    u, v = np.triu_indices(120, 1)
    p = gp.SetPartition.from_pairs(120, (u, v), ((X[u] - X[v]) ** 2).sum(1) / 20, n_clusters=6, max_size=20)
    means = min(p.evaluate(constrained_means(X, 6, rng)) for _ in range(5))
    r = gp.partition.search(p, max_iterations=3)
    assert np.bincount(r.labels).tolist() == [20] * 6
    assert r.cost <= 1.02 * means
