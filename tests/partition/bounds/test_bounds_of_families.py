"""Every bound is at most the optimum by enumeration, which is at most every cost, on small problems of each family."""

import networkx as nx
import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.partition.bounds.lower_bound import BOUNDS
from graphpart.testing import check_certificate

FAMILIES = {
    "planted-partition": lambda rng, seed: gp.generate.planted_partition(
        int(rng.integers(2, 9)), subsets=2, sigma=float(rng.choice([0.5, 1, 2])), seed=seed
    ),
    "uniform-integers": lambda rng, seed: gp.generate.uniform_integers(int(rng.integers(2, 9)), largest=4, seed=seed),
    "cluster-editing": lambda rng, seed: gp.generate.cluster_editing(
        int(rng.integers(2, 9)), p=float(rng.choice([0.3, 0.5, 0.7])), seed=seed
    ),
    "correlations": lambda rng, seed: gp.generate.correlations(int(rng.integers(2, 9)), rows=5, seed=seed),
    "modularity": lambda rng, seed: gp.generate.modularity(
        nx.gnm_random_graph(int(rng.integers(3, 9)), int(rng.integers(3, 12)), seed=seed), weight=None
    ),
    "digits": lambda rng, seed: gp.generate.digits(int(rng.integers(2, 9)), seed=seed),
    "machine-parts": lambda rng, seed: gp.generate.machine_parts(
        int(rng.integers(2, 5)), int(rng.integers(2, 6)), cells=2, outside=float(rng.choice([0.1, 0.4])), seed=seed
    ),
    "soft-requirements": lambda rng, seed: gp.generate.soft_requirements(int(rng.integers(2, 9)), seed=seed),
    "grid": lambda rng, seed: gp.generate.grid(2, int(rng.integers(2, 5)), seed=seed),
    "volume": lambda rng, seed: gp.generate.volume(
        int(rng.integers(2, 9)), bodies=2, noise=float(rng.choice([0.5, 1, 2])), seed=seed
    ),
    "lifted-grid": lambda rng, seed: gp.generate.lifted_grid(
        int(rng.integers(1, 4)),
        int(rng.integers(2, 4)),
        sigma=float(rng.choice([0.5, 1, 2])),
        lifted=0.5,
        reach=2,
        seed=seed,
    ),
    "lifted-random": lambda rng, seed: gp.generate.lifted_random(
        int(rng.integers(1, 3)), int(rng.integers(2, 4)), seed=seed
    ),
    "sparse-random": lambda rng, seed: gp.generate.sparse_random(8, int(rng.integers(1, 20)), seed=seed),
}
COUNT = trials(10)
METHODS = ("greedy-joining", "greedy-moving", "kernighan-lin", "kernighan-lin-pairs")


def check_family(family, seeds, bounds=tuple(BOUNDS), methods=METHODS):
    """How many problems were checked."""
    for seed in seeds:
        p = FAMILIES[family](np.random.default_rng(seed), seed).problem
        best, slack = gp.partition.brute_force(p), p.n * p._tolerance
        for name in bounds:
            certificate = gp.partition.lower_bound(p, name)
            assert certificate.bound <= best.cost + slack, (family, seed, name)
            assert certificate.verify(p), (family, seed, name)
            if seed % 5 == 0:
                check_certificate(p, certificate, best.labels.tolist())
        for name in methods:
            assert gp.solve(p, method=name).cost >= best.cost - slack, (family, seed, name)
        r = gp.partition.reduce(p)
        small = gp.partition.brute_force(r.problem)
        assert abs(p.evaluate(r.lift(small)) - best.cost) <= slack, (family, seed, "reduce")
    return len(seeds)


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_optima_and_costs_are_in_order(family):
    assert check_family(family, range(COUNT)) == COUNT


def test_all_families_of_set_partition_are_there():
    factor_graphs = {
        "factor-tree", "factor-chain", "factor-grid", "noisy-image", "scene", "qubo", "max-cut", "spin-glass",
        "radio-links",
    }  # fmt: skip
    assert set(FAMILIES) == {family.name for family in gp.generate.FAMILIES} - factor_graphs
