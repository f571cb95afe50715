"""Column generation: the kernels beside all subsets, proofs beside brute force, whole problems beside other bounds."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.common.race import Race
from graphpart.partition.anytime_search.searcher import Searcher
from graphpart.partition.exact_solvers import column_generation, subset_rows
from graphpart.partition.exact_solvers.column_generation import ColumnGeneration, Master
from graphpart.partition.exact_solvers.pricing import Pricing, fitting_weights
from graphpart.partition.exact_solvers.subset_rows import Prices, contained, joined_triples, violated
from graphpart.partition.problem import canonical
from graphpart.stopping import Stopping

pytest.importorskip("highspy")


def random_costs(rng, n):
    """Products of weights less attraction, at times with ties, cut pairs, or an extreme unit; at times just numbers."""
    weight = rng.integers(1, 4, n) if rng.random() < 0.5 else rng.random(n) + 0.1
    cost = np.outer(weight, weight).astype(float)
    attracts = np.triu(rng.random((n, n)) < rng.choice([0.2, 0.5, 0.8]), 1)
    amount = rng.integers(1, 9, (n, n)) if rng.random() < 0.5 else 6 * rng.random((n, n))
    cost -= np.where(attracts | attracts.T, np.triu(amount, 1) + np.triu(amount, 1).T, 0)
    if rng.random() < 0.2:
        noise = rng.normal(0, 1, (n, n))
        cost = noise + noise.T
    if rng.random() < 0.3:
        cut = np.triu(rng.random((n, n)) < 0.2, 1)
        cost[cut | cut.T] = np.inf
    np.fill_diagonal(cost, 0.0)
    return cost * rng.choice([1.0, 1.0, 2.0**-60, 1e9])


def problem_of(cost):
    u, v = np.triu_indices(len(cost), 1)
    return gp.SetPartition._of_pairs(range(len(cost)), u.astype(np.int32), v.astype(np.int32), cost[u, v])


def weights_for(rng, cost):
    """Fitted weights if there are any, or any at all: bounds have to be valid for all."""
    weight = fitting_weights(cost)
    if weight is None or rng.random() < 0.3:
        weight = rng.random(len(cost)) * math.sqrt(np.abs(cost[np.isfinite(cost)]).max(initial=1.0))
    return weight


def random_triples(rng, n, scale):
    """Some triples, each once, and penalties of them; at times many, at times 0."""
    triples = np.array(list(itertools.combinations(range(n), 3)), np.int32).reshape(-1, 3)
    triples = triples[rng.random(len(triples)) < rng.choice([0.0, 0.1, 0.6])]
    return triples, rng.exponential(scale, len(triples)) * (rng.random(len(triples)) < 0.8)


@pytest.mark.parametrize("seed", range(trials(120)))
def test_all_subsets_below_a_limit_are_found(seed):
    rng = np.random.default_rng([1, seed])
    n = int(rng.integers(1, 9))
    cost = random_costs(rng, n)
    pricing = Pricing(cost, weights_for(rng, cost))
    scale = np.abs(cost[np.isfinite(cost)]).max(initial=1.0)
    prices = rng.normal(-1.0, 2.0, n) * scale
    prices = Prices(prices, *random_triples(rng, n, scale))
    limit = float(rng.normal(0.0, 3.0)) * scale
    found, is_all = pricing.below(prices, limit, 1000, -math.inf, 1, 100_000, Stopping())
    assert is_all
    expected, value_of = set(), {}
    for size in range(1, n + 1):
        for subset in itertools.combinations(range(n), size):
            value = sum(cost[a, b] for a, b in itertools.combinations(subset, 2)) - prices.elements[list(subset)].sum()
            for triple, penalty in zip(prices.triples.tolist(), prices.penalties, strict=True):
                value += penalty * (len(set(triple) & set(subset)) >= 2)
            assert abs(value - limit) > 1e-9 * scale
            value_of[subset] = value
            if value < limit:
                expected.add(subset)
    assert {tuple(np.flatnonzero(row)) for row in found} == expected
    starts = (rng.random((3, n)) < 0.5).astype(np.uint8)
    starts[:, 0] = 1
    for row, before in zip(pricing.near(prices, starts, Stopping()), starts, strict=True):
        reduced = prices.reduced(row[None], pricing.costs(row[None]))[0]
        value = value_of[tuple(np.flatnonzero(row))]
        assert value == math.inf or reduced == pytest.approx(value, abs=1e-9 * scale)
        assert reduced <= prices.reduced(before[None], pricing.costs(before[None]))[0] + 1e-9 * scale
    for room, target in ((len(expected) - 1, -math.inf), (1000, math.inf)):
        few, is_all = pricing.below(prices, limit, room, target, len(expected), 100_000, Stopping())
        assert len(few) == len(expected)
        assert is_all == (not expected)


def test_weights_of_networks_are_degrees():
    g = nx.les_miserables_graph()
    u, v, cost = gp.SetPartition.from_modularity(g, weight=None)._to_dense().pairs()
    matrix = np.zeros((len(g), len(g)))
    matrix[u, v] = matrix[v, u] = cost
    weight = fitting_weights(matrix)
    degrees = np.array([degree for _, degree in g.degree()])
    assert np.allclose(weight / weight[0], degrees / degrees[0], rtol=1e-9)
    noise = np.random.default_rng(0).normal(0, 1, (30, 30))
    np.fill_diagonal(noise, 0.0)
    assert fitting_weights(noise + noise.T) is None
    assert fitting_weights(-np.ones((3, 3))) is None


@pytest.mark.parametrize("how", ["enumerated", "divided", "both", "tightened"])
@pytest.mark.parametrize("seed", range(trials(40)))
def test_proofs_agree_with_brute_force(seed, how, monkeypatch):
    monkeypatch.setattr(column_generation, "NEAR", {"enumerated": 10.0, "divided": 0.0}.get(how, 0.05))
    if how == "tightened":  # inequalities that nothing violates, and any penalties
        monkeypatch.setattr(subset_rows, "VIOLATED", -0.99)
        solve, turns = Master.solve, []

        def perturbed(master):
            value, prices, values = solve(master)
            turns.append(master)
            size = np.abs(prices.elements).max(initial=0.0) * (len(turns) < 15 and rng.random() < 0.5)
            penalties = prices.penalties + rng.exponential(0.3, len(prices.penalties)) * size
            elements = prices.elements + 0.3 * rng.normal(0, size, len(prices.elements))
            return value, Prices(elements, prices.triples, penalties), values

        monkeypatch.setattr(Master, "solve", perturbed)
    if how == "both":
        monkeypatch.setattr(column_generation, "ROOM", 12)  # sometimes too few
    rng = np.random.default_rng([2, seed])
    n = int(rng.integers(2, 9))
    cost = random_costs(rng, n)
    p = problem_of(cost)
    optimum = gp.partition.brute_force(p).cost
    scale = np.abs(cost[np.isfinite(cost)]).max(initial=1.0)
    best = {"labels": np.arange(n, dtype=np.int32), "cost": 0.0}

    def offer(labels):
        if p._evaluate_labels(labels) < best["cost"]:
            best.update(labels=canonical(labels), cost=p._evaluate_labels(labels))

    columns = ColumnGeneration(
        cost, weights_for(rng, cost), best["labels"], lambda: best["cost"] - 1e-7 * scale, offer, Stopping()
    )
    for _ in columns.steps():
        assert columns.bound <= max(optimum, best["cost"] - 1e-7 * scale) + 1e-9 * scale
    if how == "enumerated" or columns.bound == math.inf:  # else there were too few subsets for a proof
        assert columns.bound == math.inf
        assert best["cost"] == pytest.approx(optimum, abs=2e-7 * scale)


def test_a_network_that_inequalities_leave_open_is_proven():
    rng = np.random.default_rng(5)
    weight = 1 + rng.pareto(1.6, 50)
    a, b = np.triu_indices(50, 1)
    share = (weight[a] * weight[b]) / (weight[a] * weight[b]).sum()
    edges = np.stack([a, b], 1)[rng.choice(len(a), 170, replace=False, p=share)]
    g = nx.Graph(edges.tolist())
    p = gp.SetPartition.from_modularity(g)
    r = gp.solve(p, "exact")
    assert r.status == "optimal"
    assert r.info["nodes"] == 1


def test_a_run_that_is_stopped_proves_nothing():
    rng = np.random.default_rng(1)
    for seed in range(20):
        cost = random_costs(rng, 8)
        optimum = gp.partition.brute_force(problem_of(cost)).cost
        if optimum == 0:
            continue
        columns = ColumnGeneration(
            cost, np.ones(8), np.arange(8, dtype=np.int32), lambda: 0.0, lambda labels: None, Stopping(0.0)
        )
        for _ in columns.steps():
            pass
        assert columns.bound <= optimum + 1e-9 * abs(optimum), seed


def test_a_gap_that_rounding_hides_is_left_open():
    """With such a resolution, the last division once went on forever."""
    cost = np.full((6, 6), -1.0) + np.eye(6)
    p, best = problem_of(cost), np.zeros(6, np.int32)
    wanted = p._evaluate_labels(best) * (1 + 1e-15)
    columns = ColumnGeneration(cost, np.ones(6), best, lambda: wanted, lambda labels: None, Stopping())
    assert sum(1 for _ in columns.steps()) < 1000
    assert columns.bound <= p._evaluate_labels(best)


def test_a_linear_program_ends_with_the_run():
    master = column_generation.Master(3, Stopping(0.0))
    master.add(np.eye(3, dtype=np.uint8), np.zeros(3))
    with pytest.raises(column_generation.Unsolved):
        master.solve()


@pytest.mark.parametrize("seed", range(trials(20)))
def test_the_best_choice_of_subsets_is_found(seed):
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(2, 8))
    cost = random_costs(rng, n)
    p, offered = problem_of(cost), [1e-9 * np.abs(cost[np.isfinite(cost)]).max(initial=1.0)]
    tiny = 100 * offered[0]
    columns = ColumnGeneration(
        cost, np.zeros(n), np.arange(n, dtype=np.int32), lambda: min(offered) - tiny,
        lambda labels: offered.append(p._evaluate_labels(labels)), Stopping(),
    )  # fmt: skip
    pricing = columns._root.pricing
    subsets = np.array(list(itertools.product([0, 1], repeat=n))[1:], np.uint8)
    subsets = subsets[pricing.costs(subsets) < pricing.forbidden / 2]
    master = column_generation.Master(n, Stopping())
    master.add(subsets, pricing.costs(subsets))
    for _ in columns._choose(columns._root, subsets, master.solve()[1]):
        pass
    assert min(offered) == pytest.approx(min(0.0, gp.partition.brute_force(p).cost), abs=2 * tiny)


def test_shares_of_subsets_that_cost_less_make_the_bound():
    """No choice of given subsets costs less than what any prices prove."""
    rng = np.random.default_rng(8)
    for seed in range(30):
        n = int(rng.integers(2, 7))
        cost = random_costs(rng, n)
        node = ColumnGeneration(cost, np.ones(n), np.arange(n), lambda: 0.0, list, Stopping())._root
        subsets = np.array(list(itertools.product([0, 1], repeat=n))[1:], np.uint8)
        scale = np.abs(node.pricing.finite).max()
        prices = Prices(rng.normal(0, 1, n) * scale, *random_triples(rng, n, scale))
        unit = 2.0 ** columns_unit(cost, node)
        optimum = gp.partition.brute_force(problem_of(cost)).cost * unit
        assert column_generation.proves(node, prices, subsets) <= optimum + 1e-9 * abs(optimum), seed


@pytest.mark.parametrize("seed", range(trials(20)))
def test_violated_triples_beside_all_triples(seed):
    rng = np.random.default_rng([9, seed])
    n = int(rng.integers(1, 9))
    subsets = (rng.random((12, n)) < 0.5).astype(np.uint8)
    values = rng.random(12) * (rng.random(12) < 0.7)
    every = list(itertools.combinations(range(n), 3))
    amount = {t: sum(v for s, v in zip(subsets, values, strict=True) if s[list(t)].sum() >= 2) for t in every}
    inside = contained(subsets, np.array(every, np.int32).reshape(-1, 3))
    assert np.allclose(values @ inside, [amount[t] for t in every])
    found = list(map(tuple, violated(subsets, values, np.zeros((0, 3), np.int32)).tolist()))
    over = {t for t in every if amount[t] > 1.0 + subset_rows.VIOLATED}
    assert set(found) <= over and len(found) == len(set(found)) and bool(found) == bool(over)
    assert found == sorted(found, key=lambda t: -amount[t])
    known = np.array(found[:1], np.int32).reshape(-1, 3)
    assert found[:1] != list(map(tuple, violated(subsets, values, known).tolist()))[:1] or not found


def test_triples_when_elements_are_merged():
    triples = np.array([[0, 1, 2], [0, 2, 4], [1, 3, 4], [0, 1, 3], [2, 4, 5]], np.int32)
    assert joined_triples(triples, 1, 4).tolist() == [[0, 1, 2], [0, 1, 3], [1, 2, 4]]
    assert joined_triples(np.zeros((0, 3), np.int32), 0, 1).shape == (0, 3)


def columns_unit(cost, node):
    """The exponent of the unit of a node."""
    k = np.argmax(np.abs(np.where(np.isfinite(cost), cost, 0.0)))
    given, there = cost.ravel()[k], node.pricing.cost.ravel()[k]
    return 0 if given == 0 else round(math.log2(there / given))


def test_a_search_helps_once_columns_are_generated():
    """A search that nobody wants yet has no turn; it begins with column generation."""
    g = nx.gnm_random_graph(70, 180, seed=3)
    r = gp.solve(gp.SetPartition.from_modularity(g), "exact", time_limit=0.5)
    assert r.lower_bound <= r.cost
    p = problem_of(random_costs(np.random.default_rng(0), 8))
    wanted = []
    searcher = Searcher(p, np.arange(8, dtype=np.int32), True, 0, 1, wanted=lambda: bool(wanted))
    assert searcher.needs == math.inf
    race = Race([searcher], searcher.labels, searcher.cost)
    race.run(Stopping(1.0))
    assert race.spent() == {"search": 0.0}
    wanted.append(True)
    assert searcher.needs == 0.0
