"""The kernel that finds violated cycles, and what branch and cut makes of them on sparse problems."""

import itertools

import networkx as nx
import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.common.groups import group
from graphpart.kernels._pairs import CompressedRows
from graphpart.partition.bounds import _kernels
from graphpart.partition.bounds.relaxation import PARAMETERS, Relaxation, solve_relaxation
from graphpart.partition.certificates.certificate import certify
from graphpart.partition.certificates.exact_check import check_certificate
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut, Search
from graphpart.stopping import Stopping


def kernel(n, u, v, y, path, closing, tolerance, reach):
    length = 1.0 - y
    ends, others = np.concatenate([u[path], v[path]]), np.concatenate([v[path], u[path]])
    order, starts = group(ends, n)
    by_first, first = group(u[closing], n)
    closing = closing[by_first]
    lengths = np.concatenate([length[path]] * 2)[order]
    others = others[order].astype(np.int32)
    paths, closed = CompressedRows(starts, others, lengths), CompressedRows(first, v[closing], length[closing])
    found = _kernels.cycles(paths, closed, tolerance, reach, Stopping())
    return found, closing


@pytest.mark.parametrize("seed", range(trials(40)))
def test_finds_the_closing_pairs_that_networkx_finds(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    u, v = (x.astype(np.int32) for x in np.nonzero(np.triu(rng.random((n, n)) < rng.choice([0.2, 0.6]), 1)))
    y = rng.choice([0.0, 0.3, 0.5, 0.9, 1.0], len(u)) if seed % 2 else rng.random(len(u))
    kinds = rng.random(len(u)) < 0.6
    path, closing = np.flatnonzero(kinds), np.flatnonzero(~kinds)
    (starts, elements, amounts, violated), order = kernel(n, u, v, y, path, closing, 0.01, n)
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(zip(u[path].tolist(), v[path].tolist(), (1.0 - y[path]).tolist(), strict=True))
    expected = set()
    for e in closing.tolist():
        distance = nx.single_source_dijkstra_path_length(graph, int(u[e])).get(int(v[e]), np.inf)
        assert abs(distance - (1.0 - y[e] - 0.01)) > 1e-5 or distance == pytest.approx(1.0 - y[e] - 0.01)
        if distance < 1.0 - y[e] - 0.01 - 1e-5:
            expected.add(e)
    assert expected <= set(order[violated].tolist())
    value = {frozenset(pair): float(x) for *pair, x in zip(u.tolist(), v.tolist(), y.tolist(), strict=True)}
    attracting = {frozenset(pair) for pair in zip(u[path].tolist(), v[path].tolist(), strict=True)}
    for k, amount in enumerate(amounts.tolist()):
        cycle = elements[starts[k] : starts[k + 1]].tolist()
        pairs = [frozenset(pair) for pair in itertools.pairwise(cycle)]
        assert len(set(cycle)) == len(cycle) >= 3 and set(pairs) <= attracting
        closed = frozenset((cycle[0], cycle[-1]))
        left = sum(value[pair] for pair in pairs) - value[closed] - (len(cycle) - 2)
        assert left == pytest.approx(amount, abs=1e-5) and left > 0.01 - 1e-5


def test_a_short_reach_finds_some_of_the_cycles():
    u, v = np.array([0, 1, 2, 3, 0], np.int32), np.array([1, 2, 3, 4, 4], np.int32)
    y = np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    path, closing = np.arange(4), np.array([4])
    assert kernel(5, u, v, y, path, closing, 0.01, 5)[0][1].tolist() == [4, 3, 2, 1, 0]
    assert not len(kernel(5, u, v, y, path, closing, 0.01, 3)[0][1])


def test_far_cycles_are_found_between_what_is_joined():
    """A chain of attracting pairs, longer than the reach, whose ends repel each other."""
    n = 4 * PARAMETERS.reach
    pairs = np.concatenate([np.stack([np.arange(n - 1), np.arange(1, n)], 1), [[0, n - 1]]])
    p = gp.SetPartition.from_pairs(n, pairs, np.array([-1.0] * (n - 1) + [0.5]))
    stopping = Stopping(20)
    inequalities, multipliers = solve_relaxation(p, stopping)
    certificate = certify(p, "lp", inequalities, multipliers)
    assert certificate.bound == n * -1.0 + 1.5
    check_certificate(p, certificate)
    r = Relaxation(p, Stopping())
    r.y = np.where(r.cost < 0, 1.0, 0.0)
    assert not len(r._cycles(0.01))
    r.far = True
    assert r._cycles(0.01).item(0)[2] == list(range(n - 1, -1, -1))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_left_of_a_root_is_solved_like_the_whole(seed):
    """Sparse problems of which the root leaves a part open, against integer programming."""
    rng = np.random.default_rng(seed)
    height, width = (int(x) for x in rng.integers(7, 12, 2))
    p = gp.generate.grid(height, width, long_range=0.3, reach=4, decimals=1, sigma=1.5, seed=seed).problem
    r = gp.partition.exact(p)
    assert r.status == gp.Status.OPTIMAL
    assert r.cost == pytest.approx(gp.partition.ilp(p, solver="highs").cost, abs=1e-6)


def test_problems_are_left(monkeypatch):
    calls = []
    rest_of = Search.rest_of

    def counted(self, tree, p, *args):
        calls.append(p.n)
        return rest_of(self, tree, p, *args)

    monkeypatch.setattr(Search, "rest_of", counted)
    for seed in range(8):
        p = gp.generate.grid(12, 12, long_range=0.3, reach=4, decimals=1, sigma=1.5, regions=5, seed=seed).problem
        assert gp.partition.exact(p).status == gp.Status.OPTIMAL
    assert calls and min(calls) < 144


def test_what_is_offered_is_taken_over():
    p = gp.generate.uniform_integers(40, 30, seed=5).problem
    best = gp.partition.search(p, max_iterations=10)
    prover = BranchAndCut(p, np.arange(p.n, dtype=np.int32))
    stopping = Stopping()
    for _ in range(4):
        prover.run(stopping, 0.0)  # one step
    assert prover.cost > best.cost and prover.smaller is not None
    prover.offer(best.labels, best.cost)
    for _ in range(4):
        prover.run(stopping, 0.0)
    left = prover.smaller
    assert left.constant + left.problem.evaluate(left.labels) == pytest.approx(best.cost)
    assert prover.cost == best.cost >= prover.bound


def test_pauses_change_nothing():
    p = gp.generate.uniform_integers(25, 30, seed=2).problem
    labels = np.arange(p.n, dtype=np.int32)
    whole, paused = BranchAndCut(p, labels), BranchAndCut(p, labels)
    whole.run(Stopping(), None)
    stopping = Stopping()
    turns = 0
    while not paused.done:
        paused.run(stopping, 0.0)
        turns += 1
    assert turns > 5 and whole.bound == paused.bound == whole.cost == paused.cost
    assert (whole.work.nodes, whole.work.rounds, whole.work.cuts) == (
        paused.work.nodes, paused.work.rounds, paused.work.cuts,
    )  # fmt: skip
    assert np.array_equal(whole.labels, paused.labels)


def test_what_is_left_of_a_problem_is_lifted():
    p = gp.generate.grid(12, 12, long_range=0.3, reach=4, decimals=1, sigma=1.5, regions=5, seed=1).problem
    prover, stopping, sizes = BranchAndCut(p, np.arange(p.n, dtype=np.int32)), Stopping(), set()
    while not prover.done:
        prover.run(stopping, 0.0)
        left = prover.smaller
        if left is not None:
            sizes.add(left.problem.n)
            cost = left.constant + left.problem._evaluate_labels(left.labels)
            assert p._evaluate_labels(left.lift(left.labels)) == pytest.approx(cost)
    assert min(sizes) < p.n
