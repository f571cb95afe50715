"""Blocks, far cycles and regions of the gap: what branch and cut takes apart, against brute force and networkx."""

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.common.groups import group
from graphpart.partition import proving
from graphpart.partition.bounds import _kernels, relaxation
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.partition.exact_solvers import regions as regions_module
from graphpart.partition.exact_solvers.regions import Regions
from graphpart.partition.exact_solvers.whole import TreeParameters
from graphpart.partition.pieces.blocks import glued, split_at_articulations
from graphpart.partition.problem import SetPartition, canonical
from graphpart.partition.problem.derived import connected
from graphpart.stopping import Stopping

COSTS = (
    lambda rng, m: rng.integers(-2, 3, m).astype(float),  # ties and zeros
    lambda rng, m: rng.normal(0, 1, m),
    lambda rng, m: rng.choice([-4.5951, -2.1972, -0.4055, 0.0, 0.4055, 2.1972, 4.5951], m),
    lambda rng, m: rng.normal(0, 1, m) * 10.0 ** rng.integers(-3, 9, m),  # few huge ones
)


def tree_of_blocks(rng):
    """Small graphs that share an element with one before: cycles, cliques, pairs."""
    edges, n = set(), 1
    while n < 9:
        size = int(rng.integers(2, 5))
        members = [int(rng.integers(n)), *range(n, n + size - 1)]
        n += size - 1
        clique = rng.random() < 0.5
        edges |= set(itertools.combinations(sorted(members), 2)) if clique else cycle(members)
    return n, edges


def cycle(members):
    pairs = zip(members, [*members[1:], members[0]], strict=True)
    return {(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]}


def series_parallel(rng):
    """Edges doubled by a new element beside, or divided by one: many separating pairs."""
    edges, n = {(0, 1)}, 2
    while n < 10:
        a, b = sorted(edges)[int(rng.integers(len(edges)))]
        if rng.random() < 0.4:
            edges.discard((a, b))
        edges |= {(min(a, n), max(a, n)), (min(b, n), max(b, n))}
        n += 1
    return n, edges


def ladder(rng):
    k = int(rng.integers(3, 6))
    edges = (
        {(i, i + 1) for i in range(k - 1)} | {(k + i, k + i + 1) for i in range(k - 1)} | {(i, k + i) for i in range(k)}
    )
    return 2 * k, edges


def knit(rng):
    """Most of them have no integral point, and fall apart nowhere."""
    return 10, {pair for pair in itertools.combinations(range(10), 2) if rng.random() < 0.5}


SHAPES = (tree_of_blocks, series_parallel, ladder, knit)


def problem(seed):
    rng = np.random.default_rng(seed)
    n, edges = SHAPES[seed % 4](rng)
    pairs = np.array(sorted(edges))
    costs = COSTS[(seed // 4) % 4](rng, len(pairs))
    costs[rng.random(len(pairs)) < 0.07] = np.inf
    joins = []
    if rng.random() < 0.3:
        free = np.flatnonzero(np.isfinite(costs))
        joins = [tuple(pairs[k].tolist()) for k in rng.permutation(free)[:1]]
    return rng, n, pairs, costs, joins


def make(n, pairs, costs, joins):
    try:
        return SetPartition.from_pairs(n, pairs, costs, must_join=joins, dense=False)
    except gp.InfeasibleProblem:
        return None


def used_regions(monkeypatch):
    """Small problems are treated like large sparse ones."""
    loose = replace(relaxation.PARAMETERS, complete_up_to=0, complete_from=2.0)
    monkeypatch.setattr(relaxation, "PARAMETERS", loose)
    small = TreeParameters(regions=4, idle=0)
    monkeypatch.setattr(proving, "PARAMETERS", replace(proving.PARAMETERS, tree=small))


def test_exact_finds_the_optimum_of_what_hangs_together_loosely(monkeypatch):
    used_regions(monkeypatch)
    runs, count = Regions.steps, []
    monkeypatch.setattr(Regions, "steps", lambda *given: (count.append(1), runs(*given))[1])
    solved = 0
    for seed in range(480):
        _, n, pairs, costs, joins = problem(seed)
        p = make(n, pairs, costs, joins)
        if p is None:
            continue
        best = gp.partition.brute_force(p).cost
        r = gp.partition.exact(p)
        assert r.status == gp.Status.OPTIMAL, seed
        scale = np.abs(costs[np.isfinite(costs)]).max(initial=0.0)
        assert abs(r.cost - best) <= 1e-6 * scale, (seed, r.cost, best)
        assert r.lower_bound <= best + 1e-6 * scale, seed
        solved += 1
    assert solved > 400 and len(count) > 10


@pytest.mark.parametrize("largest", [4, 400])
def test_bounds_by_regions_are_valid(largest, monkeypatch):
    """Whatever multipliers and partition they begin with; and so is what reduced costs then say of pairs outside."""
    used_regions(monkeypatch)
    monkeypatch.setattr(regions_module, "LARGEST", largest)
    gained = improved = 0

    def solve(q, labels, seconds):
        found = gp.partition.brute_force(q)
        return found.labels, found.cost - 1e-9, True

    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        n = 12  # two odd wheels, whose relaxation has a gap each, and links between them
        pairs, costs = [], []
        for hub in (0, 6):
            for i in range(5):
                pairs += [(hub, hub + 1 + i), (hub + 1 + i, hub + 1 + (i + 1) % 5)]
                costs += [-1.0 - 0.2 * rng.random(), 1.0 + 0.2 * rng.random()]
        for a, b in itertools.product(range(6), range(6, 12)):
            if rng.random() < 0.1:
                pairs.append((a, b))
                costs.append(float(rng.normal(0, 0.5)))
        p = SetPartition.from_pairs(n, pairs, costs, dense=False)
        stopping = Stopping()
        r = Relaxation(p, stopping)
        r.start(*pass_messages(p, stopping, rounds=1))
        for _ in range(int(rng.integers(0, 12))):
            r.round(int(rng.integers(1, 60)))
            r.separate()
        best = gp.partition.brute_force(p)
        labels = best.labels.copy()
        labels[rng.integers(n, size=seed % 3)] = 0
        labels = canonical(labels)
        regions = Regions(p, r, labels, solve, stopping)
        before = p._evaluate_labels(labels)
        base = r.proves(r.rows.multipliers)
        list(regions.steps())
        assert regions.gain >= 0 and base + regions.gain <= best.cost + 1e-7, seed
        assert regions.cost == p._evaluate_labels(regions.labels) <= before
        elements = np.concatenate([region.elements for region in regions.regions] or [np.zeros(0, int)])
        assert len(np.unique(elements)) == len(elements)
        # with a pair outside decided against its reduced cost, no partition costs less than the bound plus that
        reduced = r.reduced(r.rows.multipliers)
        for e in np.flatnonzero(regions.outside)[:3].tolist():
            required = {"must_join" if reduced[e] > 0 else "must_cut": [(int(r.u[e]), int(r.v[e]))]}
            u, v, cost = p.pairs()
            other = gp.partition.brute_force(SetPartition.from_pairs(n, (u, v), cost, dense=False, **required)).cost
            assert other >= base + regions.gain + abs(reduced[e]) - 1e-7, seed
        gained += regions.gain > 1e-6
        improved += regions.cost < before
    assert gained > 5 and improved > 5


def test_blocks_are_those_of_networkx():
    for seed in range(trials(200)):
        rng = np.random.default_rng([3, seed])
        n, edges = (
            tree_of_blocks(rng)
            if seed % 2
            else (9, {pair for pair in itertools.combinations(range(9), 2) if rng.random() < 0.2})
        )
        if not edges:
            continue
        pairs = np.array(sorted(edges))
        p = SetPartition.from_pairs(n, pairs, np.ones(len(pairs)), dense=False)
        parts = split_at_articulations(p)
        expected = sorted(sorted(block) for block in nx.biconnected_components(nx.Graph(sorted(edges))))
        assert sorted(elements.tolist() for elements, _ in parts) == expected
        assert sum(np.count_nonzero(part.pairs()[2]) for _, part in parts) == p.m
        labels = [(elements, canonical(rng.integers(0, 2, len(elements)))) for elements, _ in parts]
        whole = glued(n, labels)
        for elements, mine in labels:
            assert canonical(whole[elements]).tolist() == mine.tolist()


def test_no_pair_has_no_block():
    assert split_at_articulations(SetPartition.from_pairs(3, np.zeros((0, 2), int), [])) == []
    assert glued(3, []).tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(trials(60)))
def test_far_cycles_are_as_short_as_those_of_networkx(seed):
    rng = np.random.default_rng([5, seed])
    n = int(rng.integers(3, 25))
    u, v = (x.astype(np.int32) for x in np.nonzero(np.triu(rng.random((n, n)) < rng.choice([0.2, 0.5]), 1)))
    y = rng.choice([0.0, 0.3, 0.9, 1.0, 1.0, 1.0], len(u))
    attracts = rng.random(len(u)) < 0.6
    joins, cuts = np.flatnonzero(attracts), np.flatnonzero(~attracts)
    length = 1.0 - y
    inside, across = joins[length[joins] == 0], joins[length[joins] > 0]
    cluster = connected(n, u[inside], v[inside])
    count = int(cluster.max()) + 1
    across = across[cluster[u[across]] != cluster[v[across]]]
    order, within = group(np.concatenate([u[inside], v[inside]]), n)
    beside = np.concatenate([v[inside], u[inside]])[order]
    tails, heads = np.concatenate([u[across], v[across]]), np.concatenate([v[across], u[across]])
    arcs, starts = group(cluster[tails], count)
    tails, heads, lengths = tails[arcs], heads[arcs], np.tile(length[across], 2)[arcs]
    by_cluster, closing = group(cluster[u[cuts]], count)
    cuts = cuts[by_cluster]
    given = (cluster, within, beside, starts, cluster[heads], lengths, tails, heads)
    given += (closing, u[cuts], v[cuts], length[cuts], 0.01)
    begins, elements, amounts, _ = _kernels.far_cycles(*given, 0, 10**6, 10**9, Stopping())
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(zip(u[joins].tolist(), v[joins].tolist(), length[joins].tolist(), strict=True))
    attracting = {frozenset(pair) for pair in zip(u[joins].tolist(), v[joins].tolist(), strict=True)}
    expected = {}
    for e in cuts.tolist():
        distance = nx.single_source_dijkstra_path_length(graph, int(u[e])).get(int(v[e]), np.inf)
        if distance < length[e] - 0.01 - 1e-5:
            expected[frozenset((int(u[e]), int(v[e])))] = length[e] - distance
    found = {}
    for k, amount in enumerate(amounts.tolist()):
        path = elements[begins[k] : begins[k + 1]].tolist()
        assert len(set(path)) == len(path) >= 3
        assert {frozenset(pair) for pair in itertools.pairwise(path)} <= attracting
        found[frozenset((path[0], path[-1]))] = amount
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(expected[pair], abs=1e-5) for pair in found)
    # some at a time, in turns: nothing is left out
    turn, seen = 0, set()
    for _ in range(count + 1):
        begins, elements, amounts, turn = _kernels.far_cycles(*given, turn, 1, 10**9, Stopping())
        for k in range(len(amounts)):
            seen.add(frozenset((int(elements[begins[k]]), int(elements[begins[k + 1] - 1]))))
    assert seen == expected.keys()


def test_a_volume_is_proven():
    p, truth = gp.generate.volume(1500, seed=3)
    assert p.n == 1500 and len(np.unique(p.pairs()[2])) == 11 and len(np.unique(truth)) == 37
    r = gp.partition.exact(p)
    assert r.status == gp.Status.OPTIMAL
    assert r.cost <= gp.partition.kernighan_lin(p).cost


def test_volumes_are_degenerate_or_refused():
    p, truth = gp.generate.volume(1)
    assert p.n == 1 and p.m == 0 and truth.tolist() == [0]
    p, _ = gp.generate.volume(5, bodies=5, noise=0.0)
    assert p.n == 5
    with pytest.raises(gp.InvalidOption, match="bodies is 6: expected at most 5"):
        gp.generate.volume(5, bodies=6)


# ---------------------------------------------------------------------------------------------------- what is promised

# Costs near whole numbers, without a common step: 9 elements, in the order of their pairs.
BLOCK = [
    1.000000006, -1.999999989, 0.999999964, 1.999999986, 0.999999969, 1.999999976, -0.999999974, -1.000000037,
    -1.000000029, -1.00000004, 0.999999972, 0.999999968, -0.99999998, 0.999999981, 1.99999997, 1.999999983,
    1.000000033, -0.999999966, -1.999999998, 0.999999977, 0.999999962, 1.000000019, -1.999999976, 0.999999988,
    1.000000014, 1.000000009, -1.999999974, 0.999999991, -1.999999972, 0.999999986, -1.00000004, 1.000000036,
    -1.000000034, -1.999999999, -1.000000001, -1.000000036,
]  # fmt: skip


def test_what_blocks_may_miss_does_not_add_up():
    count = 40
    u, v = np.triu_indices(9, 1)
    best = gp.partition.brute_force(gp.SetPartition.from_pairs(9, (u, v), BLOCK)).cost
    ends = [np.concatenate([np.where(w == 0, 0, w + 8 * k) for k in range(count)]) for w in (u, v)]
    p = gp.SetPartition.from_pairs(1 + 8 * count, tuple(ends), np.tile(BLOCK, count), dense=False)
    r = gp.partition.exact(p)
    assert r.status == "optimal" and r.cost - count * best <= 2e-7
    assert 0 < r.info["allowance"] <= 2e-7


def test_a_callback_that_stops_the_search_stops_the_proof():
    p = gp.generate.volume(400, noise=1.6, seed=3).problem
    asked = []
    r = gp.partition.exact(p, time_limit=60, callback=lambda *of: asked.append(of) or len(asked) == 3)
    assert r.status == "interrupted" and len(asked) <= 5
