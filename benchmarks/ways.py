"""One problem said in several ways: the cost, the bound and the status of `auto` should be the same.

python benchmarks/ways.py --seconds 5 --sizes 20 100 300

A line for each way; "above" is by how much its cost is above the least of all ways, as a share of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

import graphpart as gp

Ways = dict[str, Callable[[], tuple[Any, float]]]  # problem, and what to add to its cost


def groups(n: int, seed: int = 0, count: int = 3) -> Ways:
    """Groups of which no two elements may be together."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % count
    u, v = np.triu_indices(n, 1)
    costs = rng.normal(0.3, 1.0, len(u))
    apart = group[u] != group[v]
    pairs, cuts = np.stack([u[apart], v[apart]], 1), np.stack([u[~apart], v[~apart]], 1)
    matrix = np.zeros((n, n))
    matrix[u, v] = matrix[v, u] = np.where(apart, costs, np.inf)
    from_pairs = gp.SetPartition.from_pairs
    return {
        "groups": lambda: (from_pairs(n, pairs, costs[apart], groups=group, dense=False), 0.0),
        "groups in a matrix": lambda: (from_pairs(n, pairs, costs[apart], groups=group, dense=True), 0.0),
        "cuts": lambda: (from_pairs(n, pairs, costs[apart], must_cut=cuts, dense=False), 0.0),
        "infinite entries": lambda: (gp.SetPartition.from_matrix(matrix), 0.0),
    }


def matching(n: int, seed: int = 0) -> Ways:
    """Two groups: an assignment."""
    return groups(n, seed, 2)


def clusters(n: int, seed: int = 0, k: int = 2) -> Ways:
    """At most k clusters of a sparse graph, or labels of variables."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    used = rng.random(len(u)) < 6.0 / n
    pairs, costs = np.stack([u[used], v[used]], 1), rng.integers(-9, 10, used.sum()).astype(float)
    ways: Ways = {"clusters": lambda: (gp.SetPartition.from_pairs(n, pairs, costs, n_clusters=(1, k)), 0.0)}
    ways["labels"] = lambda: (
        gp.FactorGraph.from_arrays([k] * n, [(pairs, costs[:, None, None] * np.eye(k))]),
        0.0,
    )
    if k == 2:
        couplings = {(int(a), int(b)): -c / 2 for (a, b), c in zip(pairs, costs, strict=True)}
        field = dict.fromkeys(range(n), 0.0)
        ways["Ising model"] = lambda: (gp.FactorGraph.from_ising(couplings, field, constant=costs.sum() / 2), 0.0)
        both = {(int(a), int(b)): 2 * c for (a, b), c in zip(pairs, costs, strict=True)}
        each = -np.bincount(pairs.ravel(), np.repeat(costs, 2), n)
        both |= {(a, a): each[a] for a in range(n)}
        ways["QUBO"] = lambda: (gp.FactorGraph.from_qubo(both, constant=costs.sum()), 0.0)
    return ways


def prices(n: int, seed: int = 0) -> Ways:
    """Groups whose elements pay for being together, or the same prices in listed pairs."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, max(1, n // 10), n)
    u, v = np.triu_indices(n, 1)
    used = rng.random(len(u)) < min(1.0, 12.0 / n)
    costs, same = rng.normal(-0.3, 1.0, len(u)) * used, group[u] == group[v]
    pairs, paid = np.stack([u, v], 1), costs + 0.75 * same
    from_pairs = gp.SetPartition.from_pairs
    return {
        "prices": lambda: (from_pairs(n, pairs[used], costs[used], groups=group, group_cost=0.75, dense=False), 0.0),
        "listed": lambda: (from_pairs(n, pairs[used | same], paid[used | same], dense=False), 0.0),
    }


def three_clusters(n: int, seed: int = 0) -> Ways:
    """At most three clusters."""
    return clusters(n, seed, 3)


def requirements(n: int, seed: int = 0) -> Ways:
    """Required joins, or contracted elements."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    used = rng.random(len(u)) < min(1.0, 12.0 / n)
    pairs, costs = np.stack([u[used], v[used]], 1), rng.normal(size=used.sum())
    joins = [(a, a + 1) for a in range(0, n - 1, 10)]
    plain = gp.SetPartition.from_pairs(n, pairs, costs, must_join=joins, dense=False)
    place = np.arange(n)
    place[[b for _, b in joins]] = [a for a, _ in joins]
    name = np.unique(place, return_inverse=True)[1]
    ends = np.sort(name[pairs], axis=1)
    inner = ends[:, 0] == ends[:, 1]
    keys, at = np.unique(ends[~inner] @ [n, 1], return_inverse=True)
    sums = np.bincount(at, costs[~inner], len(keys))
    small = gp.SetPartition.from_pairs(name.max() + 1, np.stack([keys // n, keys % n], 1), sums, dense=False)
    return {
        "required joins": lambda: (plain, 0.0),
        "contracted": lambda: (small, float(costs[inner].sum())),
    }


def connected(n: int, seed: int = 0) -> Ways:
    """Clusters that the listed pairs have to connect: what they do not connect may be divided at no cost."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    used = rng.random(len(u)) < min(1.0, 12.0 / n)
    pairs, costs = np.stack([u[used], v[used]], 1), rng.normal(size=used.sum())
    return {
        "plain": lambda: (gp.SetPartition.from_pairs(n, pairs, costs, dense=False), 0.0),
        "connected": lambda: (gp.SetPartition.from_pairs(n, pairs, costs, connected=True), 0.0),
    }


def main() -> None:
    """All problems in all ways."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--sizes", type=int, nargs="+", default=[20, 100, 300])
    options = parser.parse_args()
    for n in options.sizes:
        for make in (matching, groups, prices, clusters, three_clusters, requirements, connected):
            found = {}
            for way, problem in make(n).items():
                p, constant = problem()
                found[way] = gp.solve(p, time_limit=options.seconds), constant
            least = min(r.cost + constant for r, constant in found.values())
            for way, (r, constant) in found.items():
                above = (r.cost + constant - least) / max(abs(least), 1e-12)
                print(
                    f"{make.__name__:16} {n:6} {way:20} {r.cost + constant:14.8g} {r.lower_bound + constant:14.8g} "
                    f"above {above:.3%} {r.status}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
