"""Starts that leave elements or variables out: every method of the table that takes one, in every form."""

import math

import numpy as np
import pytest

import graphpart as gp
from graphpart.crf.problem.given_labels import start_of as start_of_labeling
from graphpart.methods import methods_for
from graphpart.partition.results.starts import start_of

STARTING = {kind: [m.name for m in methods_for(kind) if "initial" in m.options] for kind in ("partition", "crf")}


def problem(rng: np.random.Generator, n: int = 7) -> gp.SetPartition:
    costs = np.triu(rng.integers(-4, 5, (n, n)).astype(float), 1)
    names = [f"e{i}" for i in range(n)]
    joins = [("e0", "e1")] if rng.random() < 0.5 else []
    return gp.SetPartition.from_matrix(costs + costs.T, names, must_join=joins, dense=bool(rng.random() < 0.5))


def alone(p: gp.SetPartition, given: dict[str, int]) -> np.ndarray:
    """The rule by its words: what is left out is alone, or with what it must be joined with."""
    labels = [given.get(name, 100 + i) for i, name in enumerate(p.nodes)]
    for a, b in p.must_join.tolist():
        keep = min(labels[a], labels[b])
        labels = [keep if label in (labels[a], labels[b]) else label for label in labels]
    return p.labels(labels)


@pytest.mark.parametrize("method", STARTING["partition"])
def test_partitions(method: str) -> None:
    rng = np.random.default_rng(3)
    options = {"time_limit": 0.05} if method == "search" else {}
    for _ in range(6 if method in ("search", "ilp") else 25):
        p = problem(rng)
        labels = rng.integers(0, 3, p.n)
        if len(p.must_join):
            labels[1] = labels[0]
        given = {name: int(k) for name, k in zip(p.nodes, labels, strict=True) if rng.random() < 0.6}
        array = np.array([given.get(name, -1) for name in p.nodes])
        sets = [{name for name in given if given[name] == k} for k in sorted(set(given.values()))]
        expected = alone(p, given)
        for form in [given, array, array.tolist(), *([sets] if sets else [])]:
            assert start_of(p, form).tolist() == expected.tolist()
            r = gp.solve(p, method, initial=form, **options)
            assert r.cost <= p.evaluate(expected)
            p._check_feasible(r.labels)


def test_greedy_joining_goes_on_from_what_is_given() -> None:
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [5.0, -1.0, -1.0])
    assert gp.partition.greedy_joining(p, initial={0: "x", 1: "x"}).labels.tolist() == [0, 0, 0, 0]


def test_a_result_of_another_problem_is_taken_by_name() -> None:
    old = gp.solve(gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [-1.0, -1.0], ["a", "b", "gone", "c"]))
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2)], [1.0, 1.0], ["new", "b", "c", "a"])
    assert p.labels(old, partial=True).tolist() == [-1, 0, 1, 0]
    assert gp.solve(p, "greedy-moving", initial=old).cost == 0
    with pytest.raises(gp.InvalidPartition, match="not a node of the problem"):
        p.labels(old)
    with pytest.raises(gp.InvalidPartition, match="none of the 4 elements of the result"):
        gp.solve(gp.SetPartition.from_pairs(1, [], [], ["z"]), "greedy-joining", initial=old)
    counted = gp.solve(gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0]))
    assert gp.SetPartition.from_pairs(5, [], []).labels(counted, partial=True).tolist() == [0, 0, 1, -1, -1]
    assert gp.SetPartition.from_pairs(2, [], []).labels(counted, partial=True).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"e0": 0, "zz": 1}, "'zz' is not a node"),
        ([0, -1], "labels have shape"),
        ([{"e0"}, {"e0"}], "in two clusters"),
    ],
)
def test_wrong_partitions(form: object, message: str) -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 1.0], ["e0", "e1", "e2"], must_join=[("e0", "e1")])
    with pytest.raises(gp.InvalidPartition, match=message):
        gp.solve(p, "kernighan-lin", initial=form)


def test_without_a_start_labels_stay_strict() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0])
    assert p.labels([-1, -1, 0]).tolist() == [0, 0, 1]
    with pytest.raises(gp.InvalidPartition, match="has no label"):
        p.labels({0: 1})


def graph(rng: np.random.Generator, n: int = 6, forbidden: bool = False) -> gp.FactorGraph:
    f = gp.FactorGraph()
    for i in range(n):
        f.add_variable(f"v{i}", domain=2)
        f.add_factor((f"v{i}",), rng.integers(-5, 6, 2).astype(float))
    for i in range(n - 1):
        table = rng.integers(0, 4) * np.array([[0.0, 1.0], [1.0, 0.0]])
        if forbidden:
            table[0, 1] = math.inf
        f.add_factor((f"v{i}", f"v{i + 1}"), table)
    return f


def least_given(f: gp.FactorGraph, given: dict[str, int]) -> list[int]:
    """The rule by its words, from the factors one by one."""
    sums = {name: np.zeros(int(d)) for name, d in zip(f.variables, f.domains, strict=True)}
    for k in range(f.m):
        scope, table = f.factor(k)
        names = [f.variables[i] for i in scope]
        free = [name for name in names if name not in given]
        if len(free) == 1:
            sums[free[0]] = sums[free[0]] + table[tuple(given.get(name, slice(None)) for name in names)]
    return [given.get(name, int(np.argmin(sums[name]))) for name in f.variables]


@pytest.mark.parametrize("method", STARTING["crf"])
def test_labelings(method: str) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        f = graph(rng)
        given = {name: int(rng.integers(2)) for name in f.variables if rng.random() < 0.6}
        expected = least_given(f, given)
        array = np.array([given.get(name, -1) for name in f.variables])
        for form in (given, array):
            assert start_of_labeling(f, form).tolist() == expected
            assert gp.solve(f, method, initial=form).cost <= f.evaluate(expected) + 1e-9


def test_labelings_of_other_factor_graphs_and_wrong_ones() -> None:
    f = graph(np.random.default_rng(0))
    old = gp.solve(graph(np.random.default_rng(1), 8), "icm")
    assert f.labels(old, partial=True).tolist() == old.labels[:6].tolist()
    longer = graph(np.random.default_rng(2), 9)
    assert longer.labels(old, partial=True).tolist() == [*old.labels.tolist(), -1]
    assert gp.solve(longer, "icm", initial=old).cost < math.inf
    with pytest.raises(gp.InvalidPartition, match="'zz'"):
        gp.solve(f, "icm", initial={"zz": 0})
    with pytest.raises(gp.InvalidPartition, match="label -2"):
        gp.solve(f, "icm", initial=[-2] + [0] * 5)
    with pytest.raises(gp.InvalidPartition, match="label -1"):
        f.labels([-1] * 6)
    other = gp.FactorGraph()
    other.add_variable("zz")
    with pytest.raises(gp.InvalidPartition, match="none of the 8 variables"):
        gp.solve(other, "icm", initial=old)


def test_given_labels_that_are_forbidden_leave_the_rest_to_its_own_costs() -> None:
    f = graph(np.random.default_rng(0), forbidden=True)
    start = start_of_labeling(f, {"v0": 0, "v1": 1})
    assert start[:2].tolist() == [0, 1] and set(start.tolist()) <= {0, 1}
    assert gp.solve(f, "icm", initial={"v0": 0, "v1": 1}).cost < math.inf


def test_given_evidence_a_start_may_leave_variables_out() -> None:
    f = graph(np.random.default_rng(0))
    r = gp.crf.solve_given(f, {"v0": 1}, "icm", initial={"v1": 1})
    assert r.labels[0] == 1
