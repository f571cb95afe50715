"""What every method on factor graphs promises, on degenerate and random ones."""

import inspect
import pickle
from dataclasses import replace

import numpy as np
import pytest
from strategies_crf import random_factor_graph

import graphpart as gp
from graphpart.methods import methods_for

METHODS = {method.name: method for method in methods_for("crf")}


def degenerate():
    yield "empty", gp.FactorGraph()
    constant = gp.FactorGraph()
    constant.add_constant(-3.5)
    yield "constant", constant
    yield "no factors", gp.FactorGraph.from_arrays([2, 1, 3], [])
    yield "one label", gp.FactorGraph.from_arrays([1, 1], [([[0, 1]], [[[4.0]]])])
    yield "all zero", gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1], [1, 2]], np.zeros((2, 2, 2)))])
    yield "huge", gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1e150, -1e150], [0, 2e150]]])])
    yield "tiny", gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1e-200, -1e-200], [0, 2e-200]]])])
    yield "disconnected", gp.FactorGraph.from_arrays([3] * 4, [([[0, 1], [2, 3]], np.arange(18.0).reshape(2, 3, 3))])
    yield "one left", gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[np.inf, np.inf], [np.inf, 7.0]]])])
    wide = np.arange(2.0).reshape([1] * 41 + [2])
    yield "wide", gp.FactorGraph.from_arrays([1] * 40 + [2], [([list(range(41))], wide)])


def problems():
    yield from degenerate()
    rng = np.random.default_rng(0)
    for k in range(12):
        yield f"random {k}", random_factor_graph(rng, n=5, forest=True, whole=k % 2 == 0)


@pytest.mark.parametrize("name", METHODS)
def test_promises(name):
    method = METHODS[name]
    taken = 0
    for case, f in problems():
        state = pickle.dumps(f)
        try:
            r = gp.solve(f, name)
        except gp.InvalidProblem:
            assert method.restricted, case
            continue
        taken += 1
        assert pickle.dumps(f) == state, case
        assert r.method == name and r.nodes is f.variables
        assert r.labels.dtype == np.int32 and r.labels.shape == (f.n,) and not r.labels.flags.writeable
        assert r.cost == f.evaluate(r.labels) == f.evaluate(r.labeling), case
        assert r.objective == f.objective(r.cost) and r.lower_bound <= r.cost and r.seconds >= 0 and r.message
        assert "\n" not in r.message
        again = gp.solve(f, name)
        apart = {"seconds": 0, "history": (), "bounds": (), "info": {}}
        assert replace(again, labels=r.labels, **apart) == replace(r, **apart)
        assert (again.labels == r.labels).all()
        if method.exact or name == "auto":
            assert r.status == gp.Status.OPTIMAL, case
            assert r.cost <= gp.crf.icm(f, restarts=5, seed=0).cost + 1e-9 * max(1.0, abs(r.cost)), case
        rushed = gp.solve(f, name, time_limit=0)
        assert rushed.cost == f.evaluate(rushed.labels)
        assert rushed.lower_bound <= r.cost + 1e-9 * abs(r.cost)
    assert taken >= 8


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if "initial" in method.options])
def test_not_worse_than_any_start(name):
    rng = np.random.default_rng(1)
    for _ in range(15):
        f = random_factor_graph(rng, n=5, forbidden=0.05)
        start = rng.integers(0, f.domains)
        cost = f.evaluate(start)
        try:
            r = gp.solve(f, name, initial=dict(zip(f.variables, start.tolist(), strict=True)))
        except gp.InfeasibleProblem:
            continue
        except gp.InvalidProblem:
            assert METHODS[name].restricted
            continue
        assert r.cost <= cost
        assert gp.solve(f, name, initial=r).cost <= r.cost


@pytest.mark.parametrize("name", METHODS)
def test_wrong_calls(name):
    method = METHODS[name].function
    for wrong in (7, None, "x", np.zeros((2, 2)), gp.SetPartition.from_pairs(2, [(0, 1)], [1.0])):
        with pytest.raises(gp.InvalidProblem, match="expected a FactorGraph or a bipartite networkx graph"):
            method(wrong)
    f = gp.FactorGraph.from_arrays([2], [([[0]], [[0.0, 1.0]])])
    with pytest.raises(gp.InvalidOption, match="time_limit is -1"):
        method(f, time_limit=-1)
    with pytest.raises(gp.InvalidOption, match="callback is 3"):
        method(f, callback=3)
    if "initial" in inspect.signature(method).parameters:
        with pytest.raises(gp.InvalidPartition):
            method(f, initial=[0, 1])


@pytest.mark.parametrize("name", METHODS)
def test_a_bipartite_networkx_graph_is_taken(name):
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [-1.0, 0.0]]])])
    assert METHODS[name].function(f.graph).labels.tolist() == [1, 0]


@pytest.mark.parametrize("name", METHODS)
def test_an_exception_in_the_callback_reaches_the_caller(name):
    def fail(seconds, cost):
        raise RuntimeError("stop here")

    rng = np.random.default_rng(0)
    n = 16
    scopes = np.array([(i, j) for i in range(n) for j in range(i)])
    if name == "min-sum":
        scopes = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    tables = rng.standard_normal((len(scopes), 1, 1)) * (1 - np.eye(2))
    if name in ("min-sum", "graph-cut"):  # forests, and submodular pairs
        tables = np.abs(tables)
    f = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, tables)])
    with pytest.raises(RuntimeError, match="stop here"):
        METHODS[name].function(f, callback=fail)
