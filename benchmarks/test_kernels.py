"""Micro-benchmarks of each kernel at several sizes, with pytest-benchmark; not part of the normal test run.

    python -m pytest -o addopts="" benchmarks/test_kernels.py --benchmark-only
    python -m pytest -o addopts="" benchmarks/test_kernels.py --benchmark-only --benchmark-autosave
    python -m pytest -o addopts="" benchmarks/test_kernels.py --benchmark-only --benchmark-compare

The second line keeps the figures in .benchmarks/, the third compares with the last that were kept. Every method of the
table that is a local search is measured, from where it starts by default, with that start made beforehand.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import graphpart as gp
from graphpart.methods import methods_for

DENSE = {f"complete-{n}": ("planted-partition", {"n": n, "subsets": n // 30, "sigma": 3.0}) for n in (100, 300, 1000)}
SPARSE = {
    "sparse-1000": ("sparse-random", {"n": 1000, "m": 10_000}),
    "sparse-10000": ("sparse-random", {"n": 10_000, "m": 100_000}),
    "grid-100": ("grid", {"height": 100, "width": 100}),
    "grid-300": ("grid", {"height": 300, "width": 300}),
}
INSTANCES = DENSE | SPARSE
LOCAL = [
    method
    for method in methods_for("partition")
    if "max_iterations" in method.options and not method.exact and method.name != "search"  # without an end of its own
]


@cache
def problem(name: str) -> gp.SetPartition:
    family, options = INSTANCES[name]
    p = gp.generate.find_family(family).function(**options).problem
    if not p.is_dense:
        p._rows()
    return p


@cache
def joined(name: str) -> gp.PartitionResult:
    return gp.partition.greedy_joining(problem(name))


@pytest.mark.parametrize("name", INSTANCES)
@pytest.mark.parametrize("method", LOCAL, ids=lambda method: method.name)
def test_local_search(benchmark, method, name):
    p = problem(name)
    initial = None if method.name == "greedy-joining" else joined(name)
    options = {"seed": 0} if "seed" in method.options else {}
    benchmark.group = name
    result = benchmark(method.function, p, initial=initial, max_iterations=10**6, **options)
    assert result.cost <= joined(name).cost


@pytest.mark.parametrize("name", INSTANCES)
def test_one_kernighan_lin_iteration(benchmark, name):
    p, start = problem(name), joined(name)
    benchmark.group = name
    result = benchmark(gp.partition.kernighan_lin, p, initial=start, max_iterations=1)
    assert result.cost <= start.cost


@pytest.mark.parametrize("name", INSTANCES)
def test_evaluate(benchmark, name):
    p, labels = problem(name), joined(name).labels
    benchmark.group = name
    assert benchmark(p._evaluate_labels, labels) == joined(name).cost


@pytest.mark.parametrize("name", DENSE)
def test_from_matrix(benchmark, name):
    matrix = np.array(problem(name).matrix)
    benchmark.group = name
    assert benchmark(gp.SetPartition.from_matrix, matrix).n == len(matrix)


@pytest.mark.parametrize("name", SPARSE)
def test_from_pairs(benchmark, name):
    p = problem(name)
    order = np.random.default_rng(0).permutation(p.m)
    u, v, cost = p.u[order], p.v[order], p.cost[order]
    benchmark.group = name
    assert benchmark(gp.SetPartition.from_pairs, p.n, (u, v), cost).m == p.m


@pytest.mark.parametrize("name", SPARSE)
def test_rows(benchmark, name):
    p = problem(name)
    benchmark.group = name

    def rows() -> None:
        p._neighbours = None  # kept once made
        p._rows()

    benchmark(rows)


@pytest.mark.parametrize("n", [8, 10, 12])
def test_brute_force(benchmark, n):
    p = gp.generate.uniform_integers(n, largest=100, seed=1).problem
    benchmark.group = "brute-force"
    assert benchmark(gp.partition.brute_force, p).status == "optimal"


@pytest.mark.parametrize("family", ["planted-partition", "grid", "sparse-random"])
def test_generators(benchmark, family):
    options = {
        "planted-partition": {"n": 1000, "subsets": 30},
        "grid": {"height": 400, "width": 500},
        "sparse-random": {"n": 50_000, "m": 500_000},
    }[family]
    benchmark.group = "generators"
    assert benchmark(gp.generate.find_family(family).function, **options).problem.n
