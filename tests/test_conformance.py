"""Every method of the table keeps the promises of `graphpart.testing`; methods that break one are caught."""

from dataclasses import replace

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.methods import METHODS, find_method, methods_for
from graphpart.testing import check_method, check_record, partition_problems


@pytest.mark.parametrize("method", [method.name for method in methods_for("partition")])
def test_method_conforms(method):
    check_method(method, problems=trials(10 if method == "ilp" else 30))  # which takes ten times as long as the others


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # some problems have costs of one sign only
@pytest.mark.parametrize("method", [method.name for method in methods_for("partition")])
def test_method_by_the_front_door(method):
    for case, p in partition_problems(seed=1, random=5):
        r = gp.solve(p, method)
        assert r.cost == p.evaluate(r.labels), case
        assert r.method == method


def many_elements():
    """A complete graph with random costs, and a problem with two components that no method proves at once."""
    costs = np.triu(np.random.default_rng(1).normal(size=(200, 200)), 1)
    yield gp.SetPartition.from_matrix(costs + costs.T)
    pairs = np.random.default_rng(2).integers(0, 150, (2, 1500))
    pairs = np.unique(np.sort(pairs[:, pairs[0] != pairs[1]], axis=0), axis=1)
    costs = np.random.default_rng(3).normal(size=2 * pairs.shape[1])
    yield gp.SetPartition.from_pairs(300, tuple(np.concatenate([pairs, pairs + 150], axis=1)), costs)


@pytest.mark.parametrize("method", [m.name for m in methods_for("partition") if m.largest is None])
def test_records_of_larger_problems(method):
    for p in many_elements():
        check_record(find_method(method, "partition").function, p, time_limit=0.3)


def test_names_are_unique_and_functions_are_found():
    names = [(method.problem, method.name) for method in METHODS]
    assert len(set(names)) == len(names)
    for method in METHODS:
        assert callable(method.function) and method.summary
        assert method.name == method.name.lower()


def worse(p, initial=None, time_limit=None):
    """Forgets its start."""
    return gp.partition.greedy_joining(p, time_limit=time_limit)


def boastful(p):
    return replace(gp.partition.greedy_joining(p), status=gp.Status.OPTIMAL, lower_bound=-np.inf)


def too_high(p):
    r = gp.partition.brute_force(p)
    return replace(gp.partition.greedy_joining(p), lower_bound=r.cost + 0.01)


def stale_cost(p):
    r = gp.partition.greedy_joining(p)
    return replace(r, cost=np.nextafter(r.cost, 1e300))


def not_canonical(p):
    r = gp.partition.greedy_joining(p)
    return replace(r, labels=(r.n_clusters - 1 - r.labels).astype(np.int32))


def random_answer(p, rng=np.random.default_rng(0)):  # noqa: B008
    return gp.partition.greedy_joining(p, initial=p.labels(rng.integers(0, 3, p.n))) if rng.random() < 0.5 else worse(p)


@pytest.mark.parametrize(
    ("solver", "message"),
    [
        (worse, "worse than the start|expected InvalidPartition"),
        (boastful, "optimal"),
        (too_high, "lower bound"),
        (stale_cost, "but the labels cost"),
        (not_canonical, "order of first appearance"),
        (lambda p: p._must_join_classes(), "expected a PartitionResult"),
        (random_answer, "second run|raised|must be"),
    ],
)
def test_a_broken_promise_is_caught(solver, message):
    with pytest.raises(AssertionError, match=message):
        check_method(solver)


def test_an_exact_method_has_to_prove():
    with pytest.raises(AssertionError, match="expected optimal"):
        check_method(gp.partition.kernighan_lin, exact=True)
