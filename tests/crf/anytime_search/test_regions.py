"""Regions: what branch and bound says of a region is what enumeration over its variables says; terms of the gap."""

import itertools
import math

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.crf.anytime_search import _kernels, refining
from graphpart.crf.anytime_search.model import Model
from graphpart.crf.anytime_search.refining import Refining
from graphpart.crf.anytime_search.regions import Regions
from graphpart.crf.bounds.contestant import ContestantParameters
from graphpart.crf.bounds.passes import Passes
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


@pytest.mark.parametrize("sent", [False, True])
def test_a_region_is_minimised_exactly_given_the_others(sent):
    """From the costs as they are, and from those that any messages leave."""
    rng = np.random.default_rng(30)
    better = repaired = kept = 0
    for trial in range(150):
        f = Model(factor_graph(rng)).f
        regions = Regions(f)
        if sent:
            count = int(regions.flat.domains[regions.flat.scope].sum())
            regions.reparametrise(10 * np.random.default_rng(trial).standard_normal(count), 0)
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


def test_terms_of_the_gap():
    """Each variable has what its label costs above the least, and a part of what its factors do; together the gap."""
    rng = np.random.default_rng(31)
    for trial in range(trials(100)):
        f = Model(factor_graph(rng)).f
        regions = Regions(f)
        flat = regions.flat
        regions.reparametrise(rng.standard_normal(int(flat.domains[flat.scope].sum())), 1)
        labels = rng.integers(0, f.domains, dtype=np.int32)
        terms = [0] * f.n
        unary = [regions.unary[a:b].tolist() for a, b in itertools.pairwise(flat.first.tolist())]
        for k in range(len(flat.scope_start) - 1):
            at = range(flat.scope_start[k], flat.scope_start[k + 1])
            scope = flat.scope[at].tolist()
            amounts = [regions.sent[regions.begin[i] :][: flat.domains[flat.scope[i]]].tolist() for i in at]
            for v, amount in zip(scope, amounts, strict=True):
                unary[v] = [x + y for x, y in zip(unary[v], amount, strict=True)]
            shape = flat.domains[scope]
            table = flat.tables[flat.table_start[k] :][: shape.prod()].reshape(shape)
            left = {
                choice: int(table[choice]) - sum(a[x] for a, x in zip(amounts, choice, strict=True))
                for choice in itertools.product(*map(range, shape))
                if table[choice] < 2**59
            }
            own = left.get(tuple(labels[scope].tolist()), 2**60)
            for v in scope:
                terms[v] += (own - min(left.values(), default=2**60)) // len(scope)
        for v in range(f.n):
            terms[v] += unary[v][labels[v]] - min(unary[v])
        if max(terms) < 2**59:  # allowed
            assert _kernels.gap_terms(regions, labels).tolist() == terms, trial


def test_variables_around_a_place():
    rng = np.random.default_rng(32)
    seen = np.zeros(100, np.int8)
    for _ in range(trials(40)):
        f = Model(factor_graph(rng)).f
        regions = Regions(f)
        middle, size = int(rng.integers(f.n)), int(rng.integers(1, f.n + 2))
        near = [{v} for v in range(f.n)]
        for scope, _ in map(f.factor, range(f.m)):
            for v in scope:
                near[v] |= {*scope}
        distance = {middle: 0}
        for v in (queue := [middle]):
            for u in sorted(near[v] - distance.keys()):
                distance[u] = distance[v] + 1
                queue.append(u)
        found = _kernels.around(regions, size, middle, seen).tolist()
        assert len({*found}) == len(found) == min(size, len(distance)) and not seen.any()
        assert [distance[v] for v in found] == sorted(distance.values())[: len(found)]


@pytest.mark.parametrize("sizes", [(2, 4), (40, 640)])
def test_refining_never_raises_the_cost_and_ends_at_the_best_of_small_problems(sizes, monkeypatch):
    monkeypatch.setattr(refining, "SMALLEST", sizes[0])
    monkeypatch.setattr(refining, "LARGEST", sizes[1])
    rng = np.random.default_rng(33)
    better = 0
    for trial in range(60):
        f = Model(factor_graph(rng)).f
        labels = rng.integers(0, f.domains, dtype=np.int32)
        cost = f.evaluate_labels(labels)
        if cost == math.inf:
            continue
        passes = Passes(f)
        for _ in range(int(rng.integers(1, 4))):
            passes.iterate(0.0, Stopping())
        one = Refining(f, labels, cost, ContestantParameters(), lambda passes=passes: passes)
        one.run(Stopping(), None if trial % 2 else 60.0)
        assert one.done and one.cost == f.evaluate_labels(one.labels) <= cost, trial
        better += one.cost < cost
        connected = len(_kernels.around(Regions(f), f.n, 0, np.zeros(f.n, np.int8))) == f.n
        if sizes[0] >= f.n and connected:
            assert one.cost <= gp.crf.brute_force(f).cost + 1e-9 * max(1.0, abs(cost)), trial
    assert better > 15
