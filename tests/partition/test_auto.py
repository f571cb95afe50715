"""The default method: what it does, what it proves, and what it says."""

import importlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from strategies import is_close, partitions
from trials import trials

import graphpart as gp
from graphpart.partition import auto, default
from graphpart.partition.beforehand import Beforehand
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.partition.problem.forms import without_usual
from graphpart.partition.races import Races, RacesParameters
from graphpart.stopping import Stopping


def random_signs(n, seed=0):
    rng = np.random.default_rng(seed)
    C = np.triu(rng.choice([-1.0, 1.0], (n, n)), 1)
    return C + C.T


def planted(n):
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 3, n)
    C = np.triu(np.where(labels[:, None] == labels, -2.0, 2.0) + rng.integers(-4, 5, (n, n)), 1)
    return C + C.T


def blocks(*matrices):
    n = sum(len(m) for m in matrices)
    C, at = np.zeros((n, n)), 0
    for m in matrices:
        C[at : at + len(m), at : at + len(m)] = m
        at += len(m)
    return C


@given(partitions(max_n=9))
@settings(max_examples=trials(200))
def test_small_problems_are_proven(p):
    r = auto(p)
    assert r.status == gp.Status.OPTIMAL and r.lower_bound == r.cost
    assert is_close(r.cost, gp.partition.brute_force(p).cost, p)


@pytest.mark.parametrize("dense", [True, False])
def test_each_component_is_proven_in_its_own_way(dense):
    agreeing = np.where(np.arange(20)[:, None] // 10 == np.arange(20) // 10, -1.0, 0.5)
    C = blocks(agreeing, random_signs(9), planted(17), np.zeros((3, 3)))
    order = np.random.default_rng(0).permutation(len(C))
    p = gp.SetPartition.from_matrix(C[np.ix_(order, order)], dense=dense)
    r = auto(p, time_limit=60)
    assert r.message == "proven optimal (3 components: 1 by negative costs, 1 by brute force, 1 by branch and cut)"
    total = sum(gp.partition.ilp(gp.SetPartition.from_matrix(m)).cost for m in (agreeing, random_signs(9), planted(17)))
    assert r.cost == r.lower_bound == total


def test_many_components_take_one_pass():
    k = 20000
    pairs = np.stack([np.arange(0, 3 * k, 3), np.arange(1, 3 * k, 3)], 1)
    pairs = np.concatenate([pairs, pairs + 1, pairs + np.array([0, 1])])
    costs = np.repeat([-2.0, -2.0, 3.0], k)
    costs[2 * k + 5 :] = -1.0  # five triangles are frustrated
    r = auto(gp.SetPartition.from_pairs(3 * k, pairs, costs))
    assert r.status == gp.Status.OPTIMAL and r.cost == r.lower_bound == -5 * 2 - (k - 5) * 5
    assert f"{k} components: {k - 5} by negative costs, 5 by brute force" in r.message
    assert r.seconds < 10


def test_large_components_are_left_open_with_a_valid_bound(monkeypatch):
    monkeypatch.setattr(default, "PATIENCE", 1.0)
    p = gp.SetPartition.from_matrix(blocks(random_signs(100), random_signs(8, 1)))
    r = auto(p)
    assert r.status == gp.Status.LOCAL_OPTIMUM and r.seconds < 15
    assert "2 components: 1 by brute force, 1 not proven" in r.message
    eight = gp.partition.brute_force(gp.SetPartition.from_matrix(random_signs(8, 1))).cost
    assert np.minimum(random_signs(100), 0).sum() / 2 + eight <= r.lower_bound <= r.cost


def test_without_a_time_limit_proofs_take_a_few_seconds_at_most():
    r = auto(gp.SetPartition.from_matrix(random_signs(60)))
    assert r.status == gp.Status.LOCAL_OPTIMUM and r.seconds < 15
    assert np.minimum(random_signs(60), 0).sum() / 2 < r.lower_bound < r.cost


def test_parameters_leave_proofs_less_time_and_change_no_label():
    p = gp.SetPartition.from_matrix(random_signs(60))
    r = gp.solve(p, parameters=gp.partition.SearchParameters(proofs=0.0))
    assert r.status == "local_optimum" and " 0.0 s of proofs" in r.message
    assert r.labels.tolist() == gp.solve(p).labels.tolist()


def test_time_limit():
    r = auto(gp.SetPartition.from_matrix(random_signs(45)), time_limit=1.0)
    assert r.status == gp.Status.TIME_LIMIT and r.seconds < 10
    assert r.lower_bound < r.cost
    r = auto(gp.SetPartition.from_matrix(random_signs(45)), time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT and r.lower_bound <= r.cost


def test_initial_target_and_callback():
    C = random_signs(30)
    p = gp.SetPartition.from_matrix(C)
    start = auto(p, time_limit=0.3)
    assert auto(p, initial=start, time_limit=0.2).cost <= start.cost
    r = auto(p, target=-1.0)
    assert r.status == gp.Status.TARGET and r.cost <= -1.0
    r = auto(p, callback=lambda seconds, cost: True)
    assert r.status == gp.Status.INTERRUPTED and np.isfinite(r.lower_bound)
    with pytest.raises(gp.InvalidPartition):
        auto(p, initial=[0])


def test_required_joins_and_their_costs_count_in_the_bound():
    p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (3, 4)], [5.0, -1.0, -2.0], must_join=[(0, 1), (2, 3)])
    r = auto(p)
    assert r.status == gp.Status.OPTIMAL and r.cost == r.lower_bound == gp.partition.brute_force(p).cost == 2.0


def test_nothing_to_do():
    for n in (0, 1, 4):
        r = auto(gp.SetPartition.from_pairs(n, [], []))
        assert r.status == gp.Status.OPTIMAL and r.message == "proven optimal (no pair has a cost)"


def test_an_interrupt_during_enumeration_ends_the_run(monkeypatch):
    module, calls = importlib.import_module("graphpart.partition.races"), []
    enumerated = module.enumerated

    def interrupted(part, stopping):
        calls.append(part)
        labels = enumerated(part, stopping)
        stopping.root.stop(gp.Status.INTERRUPTED)
        return labels

    monkeypatch.setattr(module, "enumerated", interrupted)
    triangle = np.array([[0, 1], [1, 2], [0, 2]])
    p = gp.SetPartition.from_pairs(9, np.concatenate([triangle, triangle + 3, triangle + 6]), [-2.0, -3.0, 4.0] * 3)
    r = gp.solve(p)
    assert (r.status, r.cost, len(calls)) == (gp.Status.INTERRUPTED, -9.0, 1)
    assert r.lower_bound <= -9


@given(partitions(max_n=9, density=0.4))
@settings(max_examples=trials(200))
def test_subsets_hang_together(p):
    labels = auto(p).labels
    graph = nx.Graph()
    graph.add_nodes_from(range(p.n))
    u, v, cost = p.pairs()
    pairs = [*zip(u[cost != 0].tolist(), v[cost != 0].tolist(), strict=True), *map(tuple, p.must_join.tolist())]
    graph.add_edges_from((a, b) for a, b in pairs if labels[a] == labels[b])
    assert nx.number_connected_components(graph) == len(set(labels.tolist()))


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_no_move_lowers_the_cost_of_what_is_called_a_local_optimum(seconds, monkeypatch):
    """Even if the clock ends the races, which know components and joined elements only."""
    monkeypatch.setattr(default, "PATIENCE", seconds)
    called = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        truth = np.repeat(np.arange(2500), rng.geometric(0.45, 2500))
        n = len(truth)
        pairs = np.concatenate(
            [rng.integers(0, n, (3 * n, 2)), np.arange(3 * n)[:, None] // 3 + rng.integers(0, 4, (3 * n, 2))]
        )
        pairs = np.unique(np.sort(np.minimum(pairs, n - 1), axis=1), axis=0)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        costs = np.where(truth[pairs[:, 0]] == truth[pairs[:, 1]], -1.5, 2.0) + rng.normal(0, 1.2, len(pairs))
        p = gp.SetPartition.from_pairs(n, pairs, costs, missing=0.9)
        r = auto(p)
        if r.status == "local_optimum":
            called += 1
            assert gp.partition.greedy_moving(p, initial=r).cost >= r.cost - p._tolerance
            assert gp.partition.kernighan_lin_pairs(p, initial=r).cost >= r.cost - p._tolerance
    assert called


def test_what_comes_apart_is_improved_again():
    # 0 and 1 cost nothing together, 2 repels 0 by as much as it attracts 1: apart, 1 and 2 join.
    p = gp.SetPartition.from_pairs(3, [(0, 2), (1, 2)], [1.0, -1.0])
    start = np.array([0, 0, 1], np.int32)
    for method in (auto, gp.partition.greedy_joining, gp.partition.greedy_moving, gp.partition.kernighan_lin):
        assert method(p, initial=start).labels.tolist() == [0, 1, 1]


def test_the_same_seed_gives_the_same_labels():
    p = gp.SetPartition.from_matrix(random_signs(30))
    first, again = (auto(p, seed=3) for _ in range(2))
    assert first.labels.tolist() == again.labels.tolist() and first.cost == again.cost


def test_time_that_is_left_over_goes_to_what_is_open():
    """Two components that no proof ends for: both have had turns of search and proof, and the whole time is used."""
    C = blocks(random_signs(80), random_signs(90, 1))
    r = auto(gp.SetPartition.from_matrix(C, dense=False), time_limit=3)
    assert r.status == gp.Status.TIME_LIMIT and "2 components: 2 not proven" in r.message
    alone = [auto(gp.SetPartition.from_matrix(m), time_limit=0).cost for m in (random_signs(80), random_signs(90, 1))]
    assert r.cost < sum(alone)
    assert np.minimum(C, 0).sum() / 2 < r.lower_bound < r.cost


def test_branch_and_cut_begins_once_there_is_time_for_it():
    """At first, it needs more than the share of the component; later it proves what bounds alone do not."""
    p = gp.SetPartition.from_matrix(planted(40))
    races = Races(p, np.zeros(p.n, np.int32), Stopping(60), RacesParameters(), 0.0)
    races._solve(races._parts[0], BranchAndCut.needed(p))
    assert not races.provers and not races.proven
    races._solve(races._parts[0], 30.0)
    assert len(races.provers) == 1 and races.proven
    assert races.cost == gp.partition.exact(p).cost


@pytest.mark.parametrize("dense", [False, True])
def test_what_branch_and_cut_needs_depends_on_pairs_with_a_cost(dense):
    C = np.zeros((40, 40))
    C[np.arange(39), np.arange(1, 40)] = C[np.arange(1, 40), np.arange(39)] = -1.0
    p = gp.SetPartition.from_matrix(C, dense=dense)
    assert pairs_with_cost(p) == 39 and BranchAndCut.needed(p) < 1e-3


def test_matrices_where_most_pairs_cost_the_same_are_improved_as_listed_pairs_and_a_background():
    rng = np.random.default_rng(0)
    C = np.triu(np.where(rng.random((300, 300)) < 0.02, -2.0, 1.0), 1)
    p = gp.SetPartition.from_matrix(C + C.T)
    q = without_usual(p)
    assert q.background is not None and without_usual(p) is q
    alone = np.arange(p.n, dtype=np.int32)
    found, expected = (default._improved(Beforehand(one, Stopping()), alone, Stopping(), 0) for one in (p, q))
    assert np.array_equal(found, expected)
    assert p._evaluate_labels(found) < gp.partition.greedy_moving(p).cost
