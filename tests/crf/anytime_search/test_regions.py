"""Regions: what branch and bound says of a region is what enumeration over its variables says."""

import itertools
import math

import numpy as np

import graphpart as gp
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.regions import Regions
from graphpart.stopping import Stopping


def factor_graph(rng: np.random.Generator) -> gp.FactorGraph:
    """Hard and soft tables over up to four variables, costs of several magnitudes, with ties."""
    n = int(rng.integers(2, 8))
    domains = rng.integers(2, 5, n)
    f = gp.FactorGraph()
    for v in range(n):
        f.add_variable(v, int(domains[v]))
    hard = rng.choice([0.0, 0.1, 0.4])
    for _ in range(int(rng.integers(1, 3 * n))):
        scope = rng.choice(n, int(rng.integers(1, min(n, 4) + 1)), replace=False)
        table = rng.integers(-2, 3, domains[scope]) * 10.0 ** rng.integers(0, 4)
        if rng.random() < 0.3:
            table = table + rng.standard_normal(table.shape)
        f.add_factor(scope.tolist(), np.where(rng.random(table.shape) < hard, math.inf, table))
    return f


def energy(factors: list[tuple[list[int], np.ndarray]], labels: np.ndarray) -> float:
    return math.fsum(float(table[tuple(labels[scope])]) for scope, table in factors)


def test_a_region_is_minimised_exactly_given_the_others():
    rng = np.random.default_rng(30)
    better = repaired = kept = 0
    for trial in range(150):
        f = Model(factor_graph(rng)).f
        regions = Regions(f)
        labels = rng.integers(0, f.domains, dtype=np.int32)
        inside = rng.permutation(f.n)[: int(rng.integers(1, f.n + 1))].astype(np.int32)
        before = labels.copy()
        found, proven, work = regions.improved(labels, inside, Stopping())
        assert (labels == before).all() and proven and work > 0, trial
        outside = np.setdiff1d(np.arange(f.n), inside)
        assert (found[outside] == labels[outside]).all(), trial
        # A factor outside that forbids does not matter: its entry is the same for all labels inside.
        factors = [(list(scope), table) for scope, table in map(f.factor, range(f.m)) if {*scope} & {*inside.tolist()}]
        energies = []
        for choice in itertools.product(*(range(f.domains[v]) for v in inside)):
            some = labels.copy()
            some[inside] = choice
            energies.append(energy(factors, some))
        least = min(energies)
        if least == math.inf:
            assert (found == labels).all(), trial
            continue
        assert abs(energy(factors, found) - least) <= 1e-9 * max(1.0, abs(least)), trial
        better += energy(factors, found) < energy(factors, labels) < math.inf
        repaired += energy(factors, labels) == math.inf
        kept += (found == labels).all()
    assert min(better, repaired, kept) > 15


def test_regions_with_too_large_tables_are_left_alone():
    f = gp.FactorGraph.from_arrays([1500, 1500], [([[0, 1]], np.ones((1, 1500, 1500)))])
    labels = np.array([3, 4], np.int32)
    found, proven, _ = Regions(f).improved(labels, np.array([0, 1], np.int32), Stopping())
    assert (found == labels).all() and not proven
    found, proven, _ = Regions(f).improved(labels, np.array([1], np.int32), Stopping())
    assert (found == labels).all() and proven
