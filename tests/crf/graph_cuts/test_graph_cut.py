"""Graph cuts: the flow kernel against networkx, labels against enumeration, messages by definition, what is refused."""

import itertools
import math

import networkx as nx
import numpy as np
import pytest
from reference_bounds import bound_of_messages
from reference_crf import all_energies
from trials import trials

import graphpart as gp
from graphpart.crf.graph_cuts._max_flow import max_flow
from graphpart.crf.graph_cuts.cut_bound import bound_below
from graphpart.crf.graph_cuts.graph_cut import cut_messages, cut_network, graph_cut, is_cuttable
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.stopping import Stopping


def random_network(rng):
    n = int(rng.integers(1, 10))
    m = int(rng.integers(0, 25)) if n > 1 else 0
    ends = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], np.int32).reshape(m, 2)
    capacity = rng.integers(0, 12, (m, 2)) * rng.integers(0, 2, (m, 2))
    return n, ends, capacity.astype(np.int64), rng.integers(-15, 16, n).astype(np.int64)


def test_flow_against_networkx():
    rng = np.random.default_rng(1)
    for trial in range(trials(300)):
        n, ends, capacity, excess = random_network(rng)
        finished, side, rest, left = max_flow(n, ends, capacity, excess, Stopping())
        graph = nx.DiGraph()
        graph.add_nodes_from("st")
        for v, x in enumerate(excess.tolist()):
            graph.add_edge("s", v, capacity=max(x, 0))
            graph.add_edge(v, "t", capacity=max(-x, 0))
        for (u, v), both in zip(ends.tolist(), capacity.tolist(), strict=True):
            for (a, b), c in zip(((u, v), (v, u)), both, strict=True):
                before = graph[a][b]["capacity"] if graph.has_edge(a, b) else 0
                graph.add_edge(a, b, capacity=before + c)
        value = np.maximum(excess, 0).sum() - np.maximum(left, 0).sum()
        assert finished and value == nx.maximum_flow_value(graph, "s", "t"), trial
        # The cut has the same capacity, and the flow is one: nothing negative, nothing lost.
        cut = np.maximum(excess, 0)[~side].sum() + np.maximum(-excess, 0)[side].sum()
        cut += capacity[side[ends[:, 0]] & ~side[ends[:, 1]], 0].sum()
        cut += capacity[~side[ends[:, 0]] & side[ends[:, 1]], 1].sum()
        assert cut == value
        assert (rest >= 0).all() and (rest.sum(1) == capacity.sum(1)).all()
        balance = excess - left
        np.subtract.at(balance, ends[:, 0], (capacity - rest)[:, 0])
        np.add.at(balance, ends[:, 1], (capacity - rest)[:, 0])
        assert (balance == 0).all()


def with_mirror_images(ends, capacity, excess):
    """Both copies of a mirrored network: node v is 2v, its mirror image 2v + 1."""
    u, v = 2 * ends[:, 0], np.where(ends[:, 1] < 0, 2 * ~ends[:, 1] + 1, 2 * ends[:, 1])
    both = np.concatenate([np.stack([u, v], 1), np.stack([v ^ 1, u ^ 1], 1)]).astype(np.int32)
    return both, np.concatenate([capacity, capacity]), np.stack([excess, -excess], 1).ravel()


@pytest.mark.parametrize(("trials", "least", "most"), [(1500, 1, 12), (150, 20, 80)])
def test_a_mirrored_network_is_the_network_of_both_copies(trials, least, most):
    rng = np.random.default_rng(least)
    lost = 0
    for trial in range(trials):
        n = int(rng.integers(least, most + 1))
        m = int(rng.integers(0, 3 * n)) if n > 1 else 0
        ends = np.array([rng.choice(n, 2, replace=False) for _ in range(m)], np.int32).reshape(m, 2)
        ends[:, 1] = np.where(rng.random(m) < rng.choice([0.1, 0.5, 1.0]), ~ends[:, 1], ends[:, 1])
        top = int(rng.choice([2, 4, 30, 10**6]))
        capacity = (rng.integers(0, top, (m, 2)) * rng.integers(0, 2, (m, 2))).astype(np.int64)
        excess = rng.integers(-top, top + 1, n) * (rng.random(n) < rng.choice([0.2, 1.0]))
        whole, capacities, excesses = with_mirror_images(ends, capacity, excess)
        _, _, residual, left = max_flow(2 * n, whole, capacities, excesses, Stopping())
        wanted = (np.maximum(excesses, 0) - np.maximum(left, 0)).sum()
        reached = reached_by_source(whole, residual, left)
        for bits in (24, 0):
            supply = excess << bits
            finished, source, rest, kept = max_flow(n, ends, capacity << bits, supply, Stopping(), mirrored=True)
            assert finished and (rest >= 0).all()
            pushed, moved = (np.abs(supply) - np.abs(kept)).sum(), (capacity << bits) - rest
            if bits:
                assert pushed == wanted << bits and (source == reached[::2]).all(), trial
                assert not moved.sum() and (kept + leaving(n, ends, moved[:, 0]) == supply).all(), trial
            else:  # what cannot be halved is lost: of a capacity, or of an excess
                assert abs(wanted - pushed) <= 2 * moved.sum() + n, trial
                lost += moved.sum()
    assert lost


def reached_by_source(ends, residual, left):
    """By definition: along arcs with residual capacity, from nodes with an excess."""
    reached = left > 0
    while True:
        before = reached.sum()
        for tail, head, room in ((0, 1, residual[:, 0]), (1, 0, residual[:, 1])):
            reached[ends[reached[ends[:, tail]] & (room > 0), head]] = True
        if reached.sum() == before:
            return reached


def leaving(n, ends, moved):
    """What leaves each node of a mirrored network, if so much is moved along the edges."""
    out = np.zeros(n, np.int64)
    np.add.at(out, ends[:, 0], moved)
    np.add.at(out, np.maximum(ends[:, 1], ~ends[:, 1]), np.where(ends[:, 1] < 0, moved, -moved))
    return out


def test_flow_on_a_grid_and_through_a_hub():
    rng = np.random.default_rng(2)
    place = np.arange(40 * 50, dtype=np.int32).reshape(40, 50)
    grid = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
            np.stack([place[:-1].ravel(), place[1:].ravel()], 1),
        ]
    )
    hub = np.stack([np.zeros(1999, np.int32), np.arange(1, 2000, dtype=np.int32)], 1)
    chain = np.stack([np.arange(1999, dtype=np.int32), np.arange(1, 2000, dtype=np.int32)], 1)
    for ends in (grid, hub, chain):
        capacity = rng.integers(0, 4000, (len(ends), 2))
        excess = rng.integers(-1000, 1001, 2000)
        _, side, _, left = max_flow(2000, ends, capacity, excess, Stopping())
        cut = np.maximum(excess, 0)[~side].sum() + np.maximum(-excess, 0)[side].sum()
        cut += capacity[side[ends[:, 0]] & ~side[ends[:, 1]], 0].sum()
        cut += capacity[~side[ends[:, 0]] & side[ends[:, 1]], 1].sum()
        assert cut == np.maximum(excess, 0).sum() - np.maximum(left, 0).sum()


def submodular_table(rng, rows, columns, whole, forbidden):
    """Minus the sums of nonnegative numbers over all cells above and left, plus rows and columns; then walls."""
    cells = rng.integers(0, 4, (rows, columns)) if whole else rng.random((rows, columns))
    cells = cells * (rng.random((rows, columns)) < 0.6)
    a, b = (rng.integers(-5, 6, k) if whole else rng.standard_normal(k) for k in (rows, columns))
    table = a[:, None] + b[None, :] - cells.cumsum(0).cumsum(1).astype(float)
    if forbidden:
        # Allowed pairs are closed under smaller and larger labels: bounds of each, and of one by the other.
        i, j = np.mgrid[:rows, :columns]
        limit = np.sort(rng.integers(0, columns + 2, rows))
        other = np.sort(rng.integers(-2, columns, rows))
        table = np.where((j > limit[i]) | (j < other[i]), np.inf, table)
    return table


def random_problem(rng, max_domain, whole=False, forbidden=0.0):
    n = int(rng.integers(0, 6))
    f = gp.FactorGraph()
    for i in range(n):
        f.add_variable(("v", i), int(rng.integers(1, max_domain + 1)))
    for _ in range(int(rng.integers(0, 3 * n + 1))):
        scope = rng.choice(n, min(n, int(rng.integers(1, 3))), replace=False)
        if len(scope) == 1:
            table = rng.integers(-5, 6, f.domains[scope]) if whole else rng.standard_normal(f.domains[scope])
            table = np.where(rng.random(table.shape) < forbidden / 2, np.inf, table)
        else:
            table = submodular_table(rng, *f.domains[scope].tolist(), whole, rng.random() < forbidden)
        f.add_factor([("v", int(i)) for i in scope], table)
    return f


@pytest.mark.parametrize("max_domain", [2, 5])
@pytest.mark.parametrize("forbidden", [0.0, 0.3])
@pytest.mark.parametrize("whole", [False, True])
def test_optimum_and_proof_against_enumeration(max_domain, forbidden, whole):
    rng = np.random.default_rng([max_domain, int(10 * forbidden), whole])
    infeasible = 0
    for trial in range(150):
        f = random_problem(rng, max_domain, whole, forbidden)
        energies = all_energies(f)
        if energies.min() == math.inf:
            infeasible += 1
            with pytest.raises(InfeasibleProblem):
                graph_cut(f)
            continue
        r = graph_cut(f)
        size = 1 + np.abs(f.tables[np.isfinite(f.tables)]).sum()
        tolerance = 0 if whole else 1e-13 * size
        assert r.status == gp.Status.OPTIMAL and r.cost <= energies.min() + tolerance, trial
        assert r.lower_bound == r.cost == f.evaluate(r.labels)
        same, labels, messages, finished = cut_messages(f, Stopping())
        assert same is f and finished and (labels == r.labels).all()
        bound = bound_of_messages(f, messages)
        assert energies.min() - tolerance <= bound <= energies.min() + tolerance, trial
        _, network = cut_network(f)
        network.run(Stopping())
        assert bound - 1e-12 * size <= bound_below(f.constant, network.bound()) <= energies.min() + tolerance
    assert infeasible < 75


def test_nodes_that_move_to_the_other_tree():
    """Nodes that wait to be scanned by one tree may be at the same distance in the other one by then."""
    rng = np.random.default_rng(232)
    pairs = np.array([(i, i + 3) for i in range(6)] + [(i, i + 1) for i in range(9) if i % 3 < 2])
    weight = abs(rng.standard_normal())
    distance = np.abs(np.arange(3.0)[:, None] - np.arange(3))
    unary = rng.standard_normal((9, 3))
    tables = np.broadcast_to(weight * distance, (len(pairs), 3, 3))
    f = gp.FactorGraph.from_arrays([3] * 9, [(np.arange(9)[:, None], unary), (pairs, tables)])
    assert gp.crf.graph_cut(f).cost == pytest.approx(all_energies(f).min(), abs=1e-9)


def test_convex_costs_of_many_labels():
    rng = np.random.default_rng(3)
    d = 8
    i, j = np.mgrid[:d, :d]
    for cost in (0.1 * abs(i - j), 0.3 * (i - j) ** 2, np.where(abs(i - j) > 3, np.inf, 0.7 * abs(i - j))):
        unary = rng.standard_normal((4, d)) * 3
        f = gp.FactorGraph.from_arrays(
            [d] * 4, [(np.arange(4)[:, None], unary), ([[0, 1], [1, 2], [2, 3], [3, 0]], [cost] * 4)]
        )
        r = graph_cut(f)
        least = min(f.evaluate_labels(np.array(y, np.int32)) for y in itertools.product(range(d), repeat=4))
        assert r.cost == pytest.approx(least, abs=1e-11)
        assert float(bound_of_messages(f, cut_messages(f, Stopping())[2])) == pytest.approx(least, abs=1e-11)


def test_rounding_does_not_make_edges():
    # 0.1 * |i - j| is modular off the diagonal only up to rounding.
    i, j = np.mgrid[:40, :40]
    f = gp.FactorGraph.from_arrays([40, 40], [([[0, 1]], [0.1 * abs(i - j)])])
    assert is_cuttable(f)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_huge_and_tiny_costs(magnitude):
    rng = np.random.default_rng(4)
    for _ in range(50):
        f = random_problem(rng, 3, True, 0.1)
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * magnitude)
        least = all_energies(g).min()
        if least < math.inf:
            r = graph_cut(g)
            assert r.cost == pytest.approx(least, rel=1e-12, abs=1e-12 * magnitude)
            bound = bound_of_messages(g, cut_messages(g, Stopping())[2])
            assert float(bound) == pytest.approx(least, rel=1e-12, abs=1e-11 * magnitude)


def test_costs_of_mixed_magnitude():
    f = gp.FactorGraph.from_arrays(
        [2, 2], [([[0], [1]], [[1e300, 0], [0, 1e-300]]), ([[0, 1]], [[[0, 1.0], [1.0, 0]]])]
    )
    assert graph_cut(f).labels.tolist() == [1, 1] or graph_cut(f).cost == 1.0


def test_degenerate():
    assert graph_cut(gp.FactorGraph()).cost == 0.0
    one = gp.FactorGraph.from_arrays([1, 1, 1, 3, 2], [([[0, 1, 2]], [[[[7.0]]]])], constant=1.0)
    r = graph_cut(one)
    assert r.cost == 8.0 and r.labels.tolist() == [0] * 5
    reduced = gp.FactorGraph.from_arrays([2, 1, 2], [([[0, 1, 2]], [[[[0.0, 1.0]], [[1.0, -1.0]]]])])
    assert graph_cut(reduced).cost == -1.0
    assert float(bound_of_messages(reduced, cut_messages(reduced, Stopping())[2])) == -1.0
    zero = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2]], np.zeros((2, 2, 2)))])
    assert graph_cut(zero).cost == 0.0


def test_parallel_tables_count_together():
    f = gp.FactorGraph.from_arrays(
        [2, 2], [([[0, 1]], [[[0.0, 3.0], [3.0, 0.0]]]), ([[1, 0]], [[[1.0, 0.0], [0.0, 2.0]]]), ([[0]], [[0.0, 1.0]])]
    )
    r = graph_cut(f)
    assert r.cost == all_energies(f).min() == 1.0
    same, _, messages, _ = cut_messages(f, Stopping())
    assert same is not f and bound_of_messages(same, messages) == 1.0


def test_what_is_refused():
    f = gp.FactorGraph()
    for name in "abc":
        f.add_variable(name)
    f.add_factor(("a", "b"), [[1.0, 0.0], [0.0, 1.5]])
    message = (
        r"factor 0 over \('a', 'b'\) is not submodular: table\[0, 0\] \+ table\[1, 1\] = 2.5; expected at most .* = 0"
    )
    with pytest.raises(InvalidProblem, match=message):
        graph_cut(f)
    assert not is_cuttable(f)
    walls = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[np.inf, 0.0], [0.0, np.inf]]])])
    with pytest.raises(InvalidProblem, match="of any two allowed pairs"):
        graph_cut(walls)
    three = gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1, 2]], np.zeros((1, 2, 2, 2)))])
    with pytest.raises(InvalidProblem, match=r"factor 0 over \(0, 1, 2\) has more than two variables"):
        graph_cut(three)
    with pytest.raises(InfeasibleProblem, match="factor 0"):
        graph_cut(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], np.full((1, 2, 2), np.inf))]))
    ends = [([[0], [1]], [[0.0, np.inf], [np.inf, 0.0]]), ([[0, 1]], [[[0.0, np.inf], [0.0, 0.0]]])]
    with pytest.raises(InfeasibleProblem, match="every labeling is forbidden"):
        graph_cut(gp.FactorGraph.from_arrays([2, 2], ends))


def test_stopped_early():
    rng = np.random.default_rng(5)
    place = np.arange(60 * 60).reshape(60, 60)
    pairs = np.concatenate(
        [
            np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], 1),
            np.stack([place[:-1].ravel(), place[1:].ravel()], 1),
        ]
    )
    unary = rng.standard_normal((3600, 4))
    i, j = np.mgrid[:4, :4]
    f = gp.FactorGraph.from_arrays(
        [4] * 3600, [(np.arange(3600)[:, None], unary), (pairs, np.stack([abs(i - j) * 1.0] * len(pairs)))]
    )
    best = graph_cut(f)
    none = graph_cut(f, time_limit=0)
    assert none.status == gp.Status.TIME_LIMIT and none.lower_bound <= best.cost <= none.cost < math.inf
    calls = []
    some = graph_cut(f, callback=lambda seconds, cost: calls.append(cost) or True)
    assert some.status in (gp.Status.INTERRUPTED, gp.Status.OPTIMAL)
    assert some.lower_bound <= best.cost <= some.cost and calls
    with pytest.raises(ZeroDivisionError):
        graph_cut(f, callback=lambda seconds, cost: 1 / 0)


def test_problem_is_unchanged_and_answer_repeats():
    rng = np.random.default_rng(6)
    f = random_problem(rng, 4)
    before = f.tables.copy()
    assert (graph_cut(f).labels == graph_cut(f).labels).all() and (f.tables == before).all()
