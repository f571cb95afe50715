"""Exchanges within sizes of clusters: no change that helps is left, small problems to the optimum, points in clusters
of equal size, ends, and the same work twice."""

import math

import numpy as np
import pytest
from grouped import grouped_problem, seeds
from scipy.optimize import linear_sum_assignment

import graphpart as gp
from graphpart.common.variates import exponential_variates
from graphpart.partition.anytime_search._exchanges import Exchanges
from graphpart.partition.anytime_search.annealing import Annealer
from graphpart.partition.anytime_search.exchanges import ExchangeRounds
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


def cost_within(p, labels):
    """The cost of labels if they obey all limits, else inf."""
    return math.inf if p._limits.violation(canonical(labels)) else p._evaluate_labels(canonical(labels))


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
        listed = ExchangeRounds.listed(Contraction(p).problem)
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


@pytest.mark.parametrize("seed", range(4))
def test_tasks_find_the_optimum_and_do_the_same_again(seed):
    p = balanced(9, 3, seed, must_cut=[(0, 1), (2, 3)], must_join=[(4, 5)])
    contraction = Contraction(p)
    q = contraction.problem
    rounds, turn = ExchangeRounds(ExchangeRounds.listed(q), 1.0), turn_of(q, packed(q))
    tasks = rounds.plan(turn)
    found = [rounds.perform(task, Stopping()) for task in tasks]
    again = rounds.perform(tasks[0], Stopping())
    assert again.labels.tolist() == found[0].labels.tolist() and again.work == found[0].work > 0
    least = min(q._evaluate_labels(each.labels) for each in found) + contraction.constant
    assert least == gp.partition.brute_force(p).cost


def test_a_task_ends_when_it_is_told_to():
    p = balanced(60, 10, 1)
    rounds, turn = ExchangeRounds(ExchangeRounds.listed(p), 1.0), turn_of(p, packed(p))
    found = rounds.perform(rounds.plan(turn)[0], Stopping(time_limit=0))
    assert found.labels.tolist() == turn.pool.labels.tolist()


def test_other_strategies_search_where_a_table_would_be_too_large_and_where_nothing_has_a_size():
    grid = gp.generate.grid(150, 150, seed=1).problem
    assert ExchangeRounds.listed(grid) is None and ExchangeRounds.listed(grid.require(n_clusters=5)) is None
    assert ExchangeRounds.listed(grid.require(max_size=3)) is None
    assert ExchangeRounds.listed(grid.require(max_size=5000)) is not None


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
