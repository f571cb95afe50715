"""Branch and cut, the integer program and brute force reach the same optimum on random problems of every family.

``python tests/partition/exact_solvers/test_agreement.py COUNT SOLVER`` compares COUNT problems with the integer
program.
"""

import sys
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.generate import cluster_editing, correlations, grid, modularity, planted_partition, sparse_random
from graphpart.generate import uniform_integers as uniform
from graphpart.partition import brute_force, exact, ilp
from graphpart.testing import tolerance_of


def dense_noise(n, rng, seed):
    return gp.SetPartition.from_pairs(n, np.transpose(np.triu_indices(n, 1)), rng.normal(size=n * (n - 1) // 2))


def required(n, rng, seed):
    """A third of the pairs, in quarters, with required joins and cuts that agree with a hidden partition."""
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < 0.5
    hidden = rng.integers(0, 3, n)
    pairs = [(a, b) for a, b in rng.integers(0, n, (4, 2)).tolist() if a != b]
    joins, cuts = ([(a, b) for a, b in pairs if (hidden[a] == hidden[b]) == same] for same in (True, False))
    cost = rng.integers(-9, 10, some.sum()) / 4
    return gp.SetPartition.from_pairs(n, (u[some], v[some]), cost, must_join=joins, must_cut=cuts)


def of_graph(n, rng, seed):
    graph = nx.gnp_random_graph(n, 0.5, seed=seed)
    graph.add_edge(0, 1)
    return modularity(graph).problem


PROBLEMS = {
    "planted": lambda n, rng, seed: planted_partition(n, 3, float(rng.choice([0.5, 1, 2])), seed=seed).problem,
    "grid": lambda n, rng, seed: grid(max(n // 4, 1), 4, 0.3, 3, seed=seed).problem,
    "sparse": lambda n, rng, seed: sparse_random(n, min(2 * n, n * (n - 1) // 2), seed=seed).problem,
    "signs": lambda n, rng, seed: sparse_random(n, min(2 * n, n * (n - 1) // 2), signs=True, seed=seed).problem,
    "integers": lambda n, rng, seed: uniform(n, int(rng.integers(1, 9)), seed=seed).problem,
    "editing": lambda n, rng, seed: cluster_editing(n, float(rng.random()), seed=seed).problem,
    "correlations": lambda n, rng, seed: correlations(n, 6, seed=seed).problem,
    "modularity": of_graph,
    "noise": dense_noise,
    "required": required,
}


def random_problems(count, largest, first_seed):
    """(name, problem) of all families in turn, from 3 elements to `largest`."""
    for seed in range(first_seed, first_seed + count):
        rng = np.random.default_rng(seed)
        name = list(PROBLEMS)[seed % len(PROBLEMS)]
        yield f"{name} {seed}", PROBLEMS[name](int(rng.integers(3, largest + 1)), rng, seed)


def agree(p, reference, name):
    r = exact(p)
    assert r.status == reference.status == "optimal", name
    assert abs(r.cost - reference.cost) <= 2 * tolerance_of(p), (name, r.cost, reference.cost)


def test_with_brute_force():
    for name, p in random_problems(trials(600), 9, 0):
        agree(p, brute_force(p), name)


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_with_the_integer_program(solver):
    for name, p in random_problems(20 if solver == "cbc" else 50, 12, {"cbc": 10_000, "highs": 20_000}[solver]):
        agree(p, ilp(p, solver=solver), name)


if __name__ == "__main__":
    seen: Counter = Counter()
    for name, p in random_problems(int(sys.argv[1]), 12, 100_000):
        agree(p, ilp(p, solver=sys.argv[2]), name)
        seen[name.split()[0]] += 1
    print(sys.argv[2], sum(seen.values()), "problems agree:", dict(seen))
