"""Connected subsets and lifted pairs: the problem itself, and brute force against a plain enumeration."""

import pickle
from itertools import combinations

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from reference import all_partitions

import graphpart as gp
from graphpart.methods import methods_for
from graphpart.partition.pieces.components import split
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import cut_huge, in_fitting_unit
from graphpart.partition.results.finish import joins_help
from graphpart.testing import partition_problems


def problems(seed, random):
    return [p for _, p in partition_problems(seed, random, connected=True)]


def base_pairs(p):
    """Of finite cost."""
    return [(a, b) for a, b, c, far in zip(*p.pairs(), p.lifted, strict=True) if not far and c < np.inf]


def is_connected(p, subset):
    """By a walk over base pairs."""
    subset = set(subset)
    pairs = [pair for pair in base_pairs(p) if subset.issuperset(pair)]
    seen, waiting = set(), [min(subset)]
    while waiting:
        a = waiting.pop()
        if a not in seen:
            seen.add(a)
            waiting += [x + y - a for x, y in pairs if a in (x, y)]
    return seen == subset


def naive_cost(p, labels):
    """By the definition: the sum of costs within subsets; inf if something required is violated."""
    subsets = [[a for a in range(p.n) if labels[a] == k] for k in sorted(set(labels))]
    if any(labels[a] != labels[b] for a, b in p.must_join) or not all(is_connected(p, s) for s in subsets):
        return np.inf
    return sum(c for a, b, c in zip(*p.pairs(), strict=True) if labels[a] == labels[b])


def test_brute_force_is_the_least_of_all_connected_partitions():
    for p in problems(1, 150):
        if p.n > 7:
            continue
        costs = {labels: naive_cost(p, labels) for labels in all_partitions(p.n)}
        r = gp.partition.brute_force(p)
        assert r.cost == pytest.approx(min(costs.values()), abs=p._tolerance), p
        assert r.status == "optimal" and r.lower_bound == r.cost
        first = next(x for x, cost in costs.items() if cost <= min(costs.values()) + p._tolerance)
        assert r.labels.tolist() == list(first)
        for labels, cost in list(costs.items())[:200]:
            assert p._evaluate_labels(np.array(labels, np.int32)) == pytest.approx(cost, rel=1e-12, abs=p._tolerance)


def test_what_is_not_connected_is_named():
    for p in problems(2, 60):
        rng = np.random.default_rng(p.n)
        for _ in range(5):
            labels = p.labels(rng.integers(0, 3, p.n))
            subsets = [np.flatnonzero(labels == k).tolist() for k in range(labels.max(initial=-1) + 1)]
            bad = [s for s in subsets if not is_connected(p, s)]
            cuts = [(a, b) for a, b in p._must_cut.tolist() if labels[a] == labels[b]]
            joins = [(a, b) for a, b in p.must_join.tolist() if labels[a] != labels[b]]
            if bad:
                assert p._evaluate_labels(labels) == np.inf
                with pytest.raises(gp.errors.InvalidPartition, match="no path of base pairs within it links") as error:
                    p.evaluate(labels)
                name = p.nodes[bad[0][0]]
                assert str(error.value).startswith(f"the cluster of {name!r} is not connected")
                with pytest.raises(gp.errors.InvalidPartition):
                    p._check_feasible(labels)
            elif not cuts and not joins:
                p._check_feasible(labels)
                assert np.isfinite(p.evaluate(labels))


def test_the_two_elements_named_are_not_linked():
    p = gp.SetPartition.from_pairs(6, [(1, 2), (4, 5), (2, 3)], [1.0, -1.0, -1.0], lifted=([(1, 5)], [-4.0]))
    with pytest.raises(gp.errors.InvalidPartition, match=r"the cluster of 1 is not connected: .* links 1 and 4$"):
        p._check_feasible(p.labels([0, 1, 1, 1, 1, 1]))
    with pytest.raises(gp.errors.InvalidPartition, match=r"the cluster of 0 is not connected: .* links 0 and 4$"):
        p.evaluate([{0, 4}, {1, 3}, {2}, {5}])


def test_contraction_adds_costs_and_a_base_pair_makes_a_base_pair():
    for p in problems(3, 60):
        rng = np.random.default_rng(p.n + p.m)
        sets = connected_subsets(p, p.labels(rng.integers(0, 3, p.n)))
        for a, b in p.must_join:
            sets = np.where(sets == sets[b], sets[a], sets)
        sets = p.labels(sets)
        if p._evaluate_labels(sets) == np.inf:
            continue
        c = Contraction(p, sets)
        expected, base = {}, set()
        for a, b, cost, far in zip(*p.pairs(), p.lifted, strict=True):
            key = tuple(sorted((int(sets[a]), int(sets[b]))))
            if key[0] != key[1]:
                expected[key] = expected.get(key, 0.0) + cost
                base |= set() if far else {key}
        u, v, cost = c.problem.pairs()
        keys = list(zip(u.tolist(), v.tolist(), strict=True))
        if c.problem is not p:
            assert keys == sorted(expected)
            assert cost.tolist() == pytest.approx([expected[key] for key in keys])
        assert c.problem.lifted.tolist() == [key not in base for key in keys]
        labels = connected_subsets(c.problem, np.zeros(c.problem.n, np.int32))
        lifted = c.problem._evaluate_labels(labels) + c.constant
        assert lifted == pytest.approx(p._evaluate_labels(c.lift(labels)), abs=1e-9 * max(1.0, p._magnitude))
        together = [tuple(pair) for pair in combinations(range(sets.max(initial=-1) + 1), 2) if pair in base]
        gains = [expected[pair] < -p._tolerance for pair in together]
        assert joins_help(p, sets) == any(gains)


def test_flags_are_aligned_with_rows():
    for p in problems(4, 40):
        starts, near, cost = p._rows().arrays
        flags = p._flags_of_rows()
        assert flags.dtype == np.uint8 and len(flags) == len(near)
        u, v, costs = (x.tolist() for x in p.pairs())
        known = {(a, b): (c, far) for a, b, c, far in zip(u, v, costs, p.lifted.tolist(), strict=True)}
        for a in range(p.n):
            for k in range(starts[a], starts[a + 1]):
                assert known[min(a, near[k]), max(a, near[k])] == (cost[k], flags[k])


def test_pieces_of_a_problem_keep_what_is_lifted():
    for p in problems(5, 80):
        if len(p.must_join):
            continue
        best = gp.partition.brute_force(p).cost
        component = p._components()
        assert component.tolist() == connected_subsets(p, np.zeros(p.n, np.int32)).tolist()
        parts = split(p, component)
        assert sum(gp.partition.brute_force(part).cost for _, part in parts) == pytest.approx(best, abs=p._tolerance)
        for elements, part in parts:
            assert part._connected and part.m >= len(elements) - 1
            assert np.array_equal(p._restrict(elements).lifted[: part.m], part.lifted) or part.m != p.m
        for q in (cut_huge(p), in_fitting_unit(p)[0], pickle.loads(pickle.dumps(p)), gp.SetPartition(p.graph)):
            assert q._connected and np.array_equal(q.lifted, p.lifted), q


def test_graphs_of_networkx_keep_lifted_pairs():
    G, H = nx.path_graph("abcd"), nx.Graph()
    nx.set_edge_attributes(G, 0.5, "cost")
    H.add_edge("a", "d", cost=-4.0)
    p = gp.SetPartition(G, lifted=H)
    assert p.m == 4 and p.lifted.sum() == 1 and gp.solve(p, "brute-force").cost == -2.5
    for same in (H, [("d", "a", -4.0)], pd.DataFrame([("a", "d", -4.0)]), ([("a", "d")], [-4.0])):
        assert gp.solve(G, "brute-force", lifted=same).cost == -2.5
        assert p.require(lifted=same).evaluate([{*"abcd"}]) == p.evaluate([{*"abcd"}]) - 4.0
    q = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [0.5] * 3, lifted=[(0, 3, -4.0)])
    assert np.array_equal(q.lifted, p.lifted) and np.array_equal(q.cost, p.cost)
    assert gp.solve(G, "brute-force", connected=True).cost == 0.0
    part = gp.SetPartition(p.graph.subgraph("abc"))
    assert part._connected and part.lifted.tolist() == [False, False]
    H.add_edge("a", "x", cost=1.0)
    with pytest.raises(gp.errors.InvalidProblem, match="node 'x' of lifted is not a node of the graph"):
        gp.SetPartition(G, lifted=H)
    for a, b in H.edges:
        H.edges[a, b].clear()
    with pytest.raises(gp.errors.InvalidProblem, match="is missing"):
        gp.SetPartition(G, lifted=H)


def test_the_same_problem_with_joins_as_a_graph():
    for p in problems(6, 30):
        q = gp.SetPartition(p.graph)
        assert np.array_equal(q.must_join, p.must_join) and np.array_equal(q.lifted, p.lifted)


def test_a_pair_that_is_base_and_lifted_is_base():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 0)], [1.0, 2.0], lifted=([(1, 0), (2, 0), (0, 2)], [4.0, 8.0, 1.0]))
    assert p.cost.tolist() == [7.0, 9.0] and p.lifted.tolist() == [False, True]
    q = p.require(apart=[(1, 2), (0, 1)])
    assert q.cost.tolist() == [np.inf, 9.0, np.inf] and q.lifted.tolist() == [False, True, True]


def test_required_joins_keep_base_pairs():
    p = gp.SetPartition.from_pairs(
        3, [(0, 1), (1, 2)], [-np.inf, 1.0], lifted=([(0, 2)], [-np.inf]), must_join=[(1, 2)]
    )
    assert p.must_join.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert p.cost.tolist() == [0.0, 1.0] and not p.lifted.any()
    assert gp.partition.brute_force(p).cost == 1.0


PATH = [(0, 1), (1, 2), (2, 3)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"must_join": [(0, 4)]}, "0 and 4 must be joined, but no path of base pairs links them"),
        ({"must_join": [(0, 3)]}, "0 and 3 must be joined, but .* of a path, too, such as 1, 2"),
        ({"lifted": ([(0, 2)], [-np.inf])}, "0 and 2 must be joined, but .* such as 1"),
        ({"must_join": [(0, 1)], "must_cut": [(0, 1)]}, "must be cut, but required joins connect them"),
        ({"dense": True}, "connected or lifted together with dense=True is not possible: expected pairs"),
        ({"n_clusters": 1}, "n_clusters is at most 1, .* no base pair leads from one of 2 parts to another"),
        ({"lifted": [(0, 2)]}, "lifted is of type list: expected a graph, triples"),
        ({"lifted": ([(0, 5)], [1.0])}, r"lifted pair 0 is \(0, 5\): expected indices from 0 to 4"),
        ({"lifted": ([(0, 2), (1, 1)], [1.0, 1.0])}, r"lifted pair 1 is \(1, 1\): expected two different"),
        ({"lifted": ([(0, 2)], [1.0, 1.0])}, "1 lifted pairs but lifted costs of shape"),
        ({"lifted": ([(0, 2)], [np.nan])}, r"lifted pair 0 is \(0, 2\) with cost nan"),
        ({"lifted": ([("a", "b")], [1.0])}, "lifted pairs has dtype"),
    ],
)
def test_wrong_input_is_named(options, message):
    with pytest.raises((gp.errors.InvalidProblem, gp.errors.InfeasibleProblem), match=message) as error:
        gp.SetPartition.from_pairs(5, PATH, [1.0, 1.0, 1.0], connected=True, **options)
    assert "\n" not in str(error.value)


def test_wrong_graphs_of_lifted_pairs_are_named():
    G, H = nx.path_graph(3), nx.Graph()
    nx.set_edge_attributes(G, 1.0, "cost")
    H.add_edge(0, 2, weight=-3.0)
    with pytest.raises(gp.InvalidProblem, match=r"^in lifted, .*'cost' of edge \(0, 2\) is missing: .* have 'weight'$"):
        gp.SetPartition(G, lifted=H)
    with pytest.raises(gp.InvalidProblem, match=r"^\(0, 9\) in lifted: 9 is not a node"):
        gp.solve(G, lifted=[(0, 9, -3.0)])
    with pytest.raises(gp.InvalidProblem, match=r"^lifted is a table of 2 columns: expected three"):
        gp.solve(G, lifted=pd.DataFrame({"a": [0], "b": [2]}))
    p = gp.SetPartition(G, connected=True)
    with pytest.raises(gp.InvalidProblem, match=r"^lifted is of type bool: expected a graph, triples"):
        gp.solve(p, lifted=True)


def test_requirements_are_checked():
    p = gp.SetPartition.from_pairs(5, PATH, [1.0] * 3, connected=True)
    q = p.require(together=[(1, 2)])
    assert q._connected and q.lifted is p.lifted
    with pytest.raises(gp.errors.InfeasibleProblem, match="no path of base pairs"):
        p.require(together=[(0, 4)])
    with pytest.raises(gp.errors.InvalidProblem, match="does not tell base pairs"):
        p._to_dense()


def test_methods_that_do_not_obey_say_which_do():
    p = gp.SetPartition.from_pairs(3, PATH[:2], [1.0, 1.0], lifted=([(0, 2)], [-3.0]))
    for method in methods_for("partition"):
        if method.takes(p):
            assert gp.solve(p, method.name, time_limit=1.0).cost >= -1.0
        else:
            with pytest.raises(gp.errors.InvalidProblem, match=r"cannot keep clusters connected.*brute-force"):
                gp.solve(p, method.name, time_limit=1.0)


def test_a_start_that_is_not_connected_is_divided():
    from graphpart.partition.results.starts import repaired_start

    for p in problems(7, 60):
        rng = np.random.default_rng(p.n * 7 + p.m)
        labels, moved = repaired_start(p, rng.integers(0, 3, p.n))
        p._check_feasible(labels)
        assert 0 <= moved <= p.n


def test_brute_force_of_14_elements():
    rng = np.random.default_rng(3)
    u, v = np.triu_indices(14, 1)
    base = v - u <= 2
    p = gp.SetPartition.from_pairs(
        14,
        (u[base], v[base]),
        rng.normal(0.3, 1, base.sum()),
        lifted=((u[~base], v[~base]), rng.normal(size=(~base).sum())),
    )
    r = gp.partition.brute_force(p)
    p._check_feasible(r.labels)
    assert r.status == "optimal" and r.iterations < 10**7


@pytest.mark.parametrize("values", [{"cost": "w"}, {"similarity": "w", "threshold": 0.5}, {"probability": "w"}])
def test_from_frame(values):
    frame = {"a": ["x", "y", "z"], "b": ["y", "z", "w"], "w": [0.25, 0.75, 0.75]}
    more = {"a": ["w", "x"], "b": ["x", "y"], "w": [0.125, 0.5]}
    p = gp.SetPartition.from_frame(frame, "a", "b", lifted=more, **values)
    assert list(p.nodes) == ["x", "y", "z", "w"] and p.lifted.tolist() == [False, True, False, False]
    alone = gp.SetPartition.from_frame(more, "a", "b", nodes="xyzw", **values)
    plain = gp.SetPartition.from_frame(frame, "a", "b", **values)
    for labels in ([0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 1]):
        assert p.evaluate(labels) == pytest.approx(plain.evaluate(labels) + alone.evaluate(labels))
    assert not gp.SetPartition.from_frame(frame, "a", "b", connected=True, **values).lifted.any()
    with pytest.raises(gp.errors.InvalidProblem, match="in lifted, 'v' is in column 'a' or 'b' but not among"):
        gp.SetPartition.from_frame(frame, "a", "b", lifted={"a": ["v"], "b": ["x"], "w": [0.5]}, **values)
    with pytest.raises(gp.errors.InvalidProblem, match="in lifted, no column 'w'"):
        gp.SetPartition.from_frame(frame, "a", "b", lifted={"a": ["v"], "b": ["x"]}, **values)


def test_from_affinities():
    affinities = np.full((3, 2, 4), 0.5)
    affinities[0], affinities[1], affinities[2, :, 0] = 0.25, 0.75, 0.875
    near, far = [(0, 1), (1, 0)], [(0, 3)]
    p = gp.SetPartition.from_affinities(affinities, near, lifted_offsets=far, kind="similarity", threshold=0.5)
    assert p.lifted.sum() == 2 and p.m == 6 + 4 + 2 and p._origin.shape == (2, 4)
    assert p.cost[p.lifted].tolist() == [-0.375] * 2  # which attract, although pairs beyond neighbours do not else
    q = gp.SetPartition.from_affinities(affinities[:2], near, kind="similarity", threshold=0.5, connected=True)
    assert q._connected and not q.lifted.any() and np.array_equal(q.cost, p.cost[~p.lifted])
    with pytest.raises(gp.errors.InvalidProblem, match=r"lifted_offsets has shape .*: expected rows of one length"):
        gp.SetPartition.from_affinities(affinities, near, lifted_offsets=[(0, 0, 3)])
    with pytest.raises(gp.errors.InvalidProblem, match=r"affinities has shape .* for 4 offsets"):
        gp.SetPartition.from_affinities(affinities, near, lifted_offsets=[(0, 3), (0, 2)])
    with pytest.raises(gp.errors.InvalidProblem, match="is given twice"):
        gp.SetPartition.from_affinities(affinities, near, lifted_offsets=[(0, -1)])


def test_from_sparse_matrices_and_igraph():
    from scipy.sparse import coo_array

    base = coo_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    far = coo_array(([-3.0], ([0], [2])), shape=(3, 3))
    p = gp.SetPartition.from_scipy(base, lifted=far)
    assert p.lifted.tolist() == [False, True, False] and gp.partition.brute_force(p).cost == -1.0
    assert gp.SetPartition.from_scipy(base, connected=True)._connected
    with pytest.raises(gp.errors.InvalidProblem, match=r"lifted is no scipy.sparse matrix of shape \(3, 3\)"):
        gp.SetPartition.from_scipy(base, lifted=np.zeros((3, 3)))
    igraph = pytest.importorskip("igraph")
    G, H = igraph.Graph(edges=[(0, 1), (1, 2)]), igraph.Graph(n=3, edges=[(0, 2)])
    G.es["cost"], H.es["cost"] = [1.0, 1.0], [-3.0]
    q = gp.SetPartition.from_igraph(G, lifted=H)
    assert np.array_equal(q.lifted, p.lifted) and np.array_equal(q.cost, p.cost)


def test_region_graphs_take_lifted_pairs():
    g = gp.images.region_graph(np.array([[1, 1, 2, 2, 3, 3]]), boundary=np.full((1, 6), 0.4))
    p = g.problem([1.0, -1.0], lifted=([(0, 2)], [-3.0]))
    assert p.lifted.tolist() == [False, True, False] and gp.partition.brute_force(p).cost == -3.0
    assert g.problem([1.0, -1.0], connected=True)._connected


def test_connected_is_true_or_false_and_lifted_pairs_have_a_form():
    G, L = nx.path_graph(3), nx.Graph([(0, 2)])
    for graph in (G, L):
        nx.set_edge_attributes(graph, 1.0, "cost")
    makers = [
        lambda value: gp.solve(G, connected=value),
        lambda value: gp.SetPartition(G, lifted=L, connected=value),
        lambda value: gp.SetPartition.from_pairs(3, PATH[:2], [1.0, 1.0], connected=value),
        lambda value: gp.SetPartition.from_affinities(np.full((1, 2, 2), 0.5), [(0, 1)], connected=value),
    ]
    for make in makers:
        with pytest.raises(
            gp.errors.InvalidOption, match=r"connected is a Graph: expected True or False; give the graph"
        ):
            make(L)
        for value in (1, "yes", None, [True]):
            with pytest.raises(gp.errors.InvalidOption, match=r"connected is .*: expected True or False; lifted="):
                make(value)
        make(np.True_)
    with pytest.raises(gp.InvalidOption, match=r"^connected is .*: expected"):
        gp.solve(gp.SetPartition(G), connected=L)
    three = np.array([[0, 2], [0, 1], [1, 2]])
    for pairs in (three, list(three), three.tolist(), tuple(three.T)):
        assert gp.SetPartition.from_pairs(3, PATH[:2], [1.0, 1.0], lifted=(pairs, [1.0, 2.0, 3.0]))._connected


def test_triples_of_elements_that_are_tuples():
    G = nx.grid_2d_graph(3, 3)
    nx.set_edge_attributes(G, -1.0, "cost")
    p = gp.SetPartition(G, lifted=[((0, 0), (2, 2), 3.0)])
    assert p.lifted is not None and p.lifted.sum() == 1 and p.pairs()[2].max() == 3.0
