"""Two requirements at once, one of them that clusters are connected, against an enumeration by definition."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest

import graphpart as gp

N = 5
PARTITIONS = sorted(
    {tuple(gp.SetPartition.from_pairs(N, [], []).labels(x)) for x in itertools.product(range(N), repeat=N)}
)


def random_case(seed):
    rng = np.random.default_rng(seed)
    every = list(itertools.combinations(range(N), 2))
    base = {pair: float(rng.integers(-3, 4)) for pair in every if rng.random() < 0.6}
    far = {pair: float(rng.integers(-3, 4)) for pair in every if pair not in base and rng.random() < 0.5}
    groups = [["x", "y", None][k] for k in rng.integers(0, 3, N)]
    price = math.inf if seed % 2 else 1.5
    return base, far, groups, price, [every[k] for k in rng.integers(0, len(every), 1)]


def least(base, far, groups, price, together=(), apart=()):
    """The least cost of partitions whose clusters are connected by base pairs, and that cost."""
    best = math.inf
    alike = [(a, b) for a, b in itertools.combinations(range(N), 2) if groups[a] is not None and groups[a] == groups[b]]
    for labels in PARTITIONS:
        joined = [pair for pair in itertools.combinations(range(N), 2) if labels[pair[0]] == labels[pair[1]]]
        if not set(together) <= set(joined) or set(apart) & set(joined):
            continue
        G = nx.Graph()
        G.add_nodes_from(range(N))
        G.add_edges_from(pair for pair in joined if pair in base and pair not in apart)
        if nx.number_connected_components(G) != len(set(labels)):
            continue
        cost = sum(base.get(pair, 0.0) + far.get(pair, 0.0) for pair in joined)
        cost += sum(price for pair in alike if pair in joined)
        best = min(best, cost)
    return best


def both(costs):
    return list(costs), list(costs.values())


@pytest.mark.parametrize("seed", range(24))
def test_groups_with_connected_clusters(seed):
    base, far, groups, price, pairs = random_case(seed)
    grouped = {"groups": groups, "group_cost": price}
    apart = pairs if seed % 3 == 0 else []
    wanted = least(base, far, groups, price, apart=apart)
    p = gp.SetPartition.from_pairs(N, *both(base))
    problems = [
        gp.SetPartition.from_pairs(N, *both(base), lifted=both(far), connected=True, apart=apart, **grouped),
        p.require(lifted=both(far), connected=True).require(apart=apart, **grouped),
        gp.SetPartition.from_pairs(N, *both(base), **grouped).require(lifted=both(far), connected=True, apart=apart),
        gp.SetPartition.from_pairs(N, *both(base), dense=False, **grouped).require(
            lifted=both(far), connected=True, apart=apart
        ),
    ]
    for q in problems:
        assert gp.partition.brute_force(q).cost == wanted
        r = gp.solve(q)
        assert r.cost == wanted and r.status == gp.Status.OPTIMAL
    G = nx.Graph()
    G.add_nodes_from((a, {"source": group}) for a, group in enumerate(groups))
    G.add_weighted_edges_from([(a, b, cost) for (a, b), cost in base.items()], "cost")
    H = nx.Graph()
    H.add_weighted_edges_from([(a, b, cost) for (a, b), cost in far.items()], "cost")
    if any(groups):
        r = gp.solve(G, groups="source", group_cost=price, lifted=H, connected=True, apart=apart)
        assert r.cost == wanted


@pytest.mark.parametrize("seed", range(8))
def test_groups_with_connected_clusters_and_joins(seed):
    base, far, groups, price, _ = random_case(100 + seed)
    together = [next(iter(base))]
    a, b = together[0]
    if groups[a] == groups[b] and price == math.inf and groups[a] is not None:
        groups[b] = None
    wanted = least(base, far, groups, price, together=together)
    q = gp.SetPartition.from_pairs(
        N, *both(base), lifted=both(far), connected=True, together=together, groups=groups, group_cost=price
    )
    assert gp.partition.brute_force(q).cost == wanted == gp.solve(q).cost


def test_too_many_pairs_are_named(monkeypatch):
    from graphpart.partition.problem import connectedness

    monkeypatch.setattr(connectedness, "GROUPED_PAIRS", 2)
    with pytest.raises(gp.InvalidProblem, match="groups have 3 pairs of members, which are listed: expected at most 2"):
        gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, 1.0], connected=True, groups=["x"] * 3)
