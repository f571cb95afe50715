"""Every method on factor graphs keeps one record of costs and bounds, which are those of the whole problem."""

import math

import numpy as np
import pytest

import graphpart as gp
from graphpart.methods import methods_for

METHODS = {method.name: method for method in methods_for("crf")}


def random_pairs(rng, n, count, labels, submodular=False):
    """Factors over random pairs: the tables are Gaussian, or |i - j| times a number."""
    pairs = np.array([(i, j) for i in range(n) for j in range(i)])
    pairs = pairs[rng.permutation(len(pairs))[:count]]
    tables = rng.standard_normal((len(pairs), labels, labels))
    if submodular:
        tables = np.abs(tables[:, :1, :1]) * np.abs(np.subtract.outer(np.arange(labels), np.arange(labels)))
    groups = [(np.arange(n)[:, None], rng.standard_normal((n, labels))), (pairs, tables)]
    return gp.FactorGraph.from_arrays([labels] * n, groups, constant=7.0)


def two_hard_components():
    """And a path that hangs on one of them, and another one alone."""
    rng = np.random.default_rng(3)
    f = gp.FactorGraph()
    for i in range(70):
        f.add_variable(i, domain=4)
    f.add_constant(-100.0)
    edges = [(a, b) for part in (range(30), range(30, 60)) for a in part for b in part if a < b and rng.random() < 0.5]
    edges += [(59, 60), *((i, i + 1) for i in range(60, 64)), *((i, i + 1) for i in range(65, 69))]
    for a, b in edges:
        f.add_factor((a, b), rng.standard_normal((4, 4)))
    return f


def problems():
    rng = np.random.default_rng(0)
    yield "small", random_pairs(rng, 8, 12, 2)
    yield "forest", gp.generate.factor_tree(40, 3, seed=1).problem
    yield "submodular", random_pairs(rng, 12, 30, 3, submodular=True)
    yield "sixty variables", random_pairs(rng, 60, 180, 4)
    yield "two hard components", two_hard_components()


@pytest.mark.parametrize("name", METHODS)
def test_one_record(name):
    method, taken = METHODS[name], 0
    for case, f in problems():
        if method.largest is not None and f.n > min(method.largest, 40):
            continue
        seen, bounds = [], []

        class Listener:
            def __call__(self, seconds, cost, seen=seen):
                seen.append((seconds, cost))

            def on_bound(self, seconds, bound, bounds=bounds):
                bounds.append((seconds, bound))

        limits = {"max_iterations": 20} if "max_iterations" in method.options else {"time_limit": 0.3}
        if method.anytime:
            limits = {"max_iterations": 2}
        try:
            r = method.function(f, callback=Listener(), **limits)
        except (gp.InvalidProblem, gp.CyclicGraph):
            assert method.restricted, case
            continue
        taken += 1
        slack = 1e-9 * (1 + abs(r.cost))
        assert seen, case
        for record, falls in ((seen, True), (r.history, True), (bounds, False), (r.bounds, False)):
            times, values = [time for time, _ in record], [value for _, value in record]
            assert times == sorted(times) and values == sorted(values, reverse=falls), case
        assert seen[-1][1] >= r.cost - slack and r.history[-1][1] == r.cost, case
        assert all(cost >= r.cost - slack for _, cost in seen), case
        best = np.array([cost for _, cost in r.history if cost < math.inf])
        assert all(np.abs(best - cost).min() <= slack for _, cost in seen if cost < math.inf), case
        assert r.bounds[-1][1] == r.lower_bound <= r.cost, case
        assert all(bound <= r.cost + slack for _, bound in bounds), case
    assert taken >= 1
