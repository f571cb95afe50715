"""SetPartition: every constructor, every way to say a partition, and every mistake with its message."""

import copy
import math
import pickle
import time
import tracemalloc

import networkx as nx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from strategies import partitions, problem_and_start
from trials import trials

import graphpart as gp
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import canonical
from graphpart.partition.problem.pair_costs import FORMER


def cost_by_definition(p, labels):
    u, v, cost = p.pairs()
    joined = [c for a, b, c in zip(u.tolist(), v.tolist(), cost.tolist(), strict=True) if labels[a] == labels[b]]
    if any(labels[a] != labels[b] for a, b in p.must_join.tolist()):
        return math.inf
    return math.fsum(joined) if math.inf not in joined else math.inf


class TestFromGraph:
    def test_nodes_and_costs(self):
        G = nx.Graph()
        G.add_edge(("x", 1), "b", cost=-2)
        G.add_edge("b", frozenset({3}), cost=np.float32(0.5))
        p = gp.SetPartition(G)
        assert list(p.nodes) == [("x", 1), "b", frozenset({3})]
        assert p.evaluate([{("x", 1), "b", frozenset({3})}]) == -1.5

    def test_attribute_name(self):
        G = nx.Graph()
        G.add_edge(0, 1, price=4.0, cost=1.0)
        assert gp.SetPartition(G, cost="price").evaluate([0, 0]) == 4

    def test_parallel_edges_add_up(self):
        G = nx.MultiGraph()
        G.add_edge(0, 1, cost=4.0)
        G.add_edge(1, 0, cost=-6.0)
        p = gp.SetPartition(G)
        assert (p.m, p.evaluate([0, 0])) == (1, -2)

    def test_graph_comes_back(self):
        G = nx.gnp_random_graph(12, 0.2, seed=1)
        rng = np.random.default_rng(1)
        nx.set_edge_attributes(G, {edge: rng.normal() for edge in G.edges}, "cost")
        for dense in (True, False):
            back = gp.SetPartition(G, dense=dense).graph
            assert list(back) == list(G)
            assert {frozenset(e): c for *e, c in back.edges(data="cost")} == {
                frozenset(e): c for *e, c in G.edges(data="cost")
            }

    def test_requirements_come_back(self):
        G = nx.path_graph(3)
        nx.set_edge_attributes(G, {(0, 1): -math.inf, (1, 2): math.inf}, "cost")
        back = gp.SetPartition(G).graph
        assert back.edges[0, 1]["cost"] == -math.inf
        assert back.edges[1, 2]["cost"] == math.inf

    def test_input_is_not_changed(self):
        G = nx.path_graph(3)
        nx.set_edge_attributes(G, 1.0, "cost")
        before = nx.to_dict_of_dicts(G)
        gp.solve(gp.SetPartition(G), method="kernighan-lin")
        assert nx.to_dict_of_dicts(G) == before

    @pytest.mark.parametrize(
        ("graph", "message"),
        [
            (nx.DiGraph([(0, 1)]), "the graph is directed: expected an undirected one; G.to_undirected()"),
            (nx.Graph([(0, 0, {"cost": 1})]), "node 0 has a self-loop"),
            (nx.Graph([(0, 1)]), r"attribute 'cost' of edge \(0, 1\) is missing: expected a number"),
            (nx.Graph([(0, 1, {"cost": "high"})]), r"attribute 'cost' of edge \(0, 1\) is 'high': expected a number"),
            (nx.Graph([(0, 1, {"cost": math.nan})]), r"attribute 'cost' of edge \(0, 1\) is nan"),
            (nx.Graph([(0, 1, {"cost": 10**400})]), "expected a number"),
            (nx.Graph([(0, 1, {"cost": "3"})]), r"attribute 'cost' of edge \(0, 1\) is '3': expected a number"),
            ([(0, 1)], "got list: expected a networkx graph"),
        ],
    )
    def test_mistakes(self, graph, message):
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.SetPartition(graph)

    def test_from_similarity(self):
        G = nx.Graph()
        G.add_edge("a", "b", weight=0.75)
        G.add_edge("b", "c", weight=0.25)
        p = gp.SetPartition.from_similarity(G, threshold=0.5)
        assert p.evaluate([0, 0, 0]) == 0
        assert p.evaluate([0, 0, 1]) == -0.25
        with pytest.raises(gp.InvalidProblem, match=r"attribute 'strength' .* is missing"):
            gp.SetPartition.from_similarity(G, weight="strength", threshold=0.5)
        with pytest.raises(gp.InvalidOption, match="similarity without threshold: expected the similarity from which"):
            gp.SetPartition.from_similarity(G)
        with pytest.raises(gp.InvalidOption, match="threshold is inf"):
            gp.SetPartition.from_similarity(G, threshold=math.inf)
        with pytest.raises(gp.InvalidOption, match="threshold is 'high': expected a finite number"):
            gp.SetPartition.from_similarity(G, threshold="high")


class TestFromMatrix:
    def test_diagonal_is_ignored(self):
        C = np.array([[math.nan, -1.0], [-1.0, 7.0]])
        with pytest.warns(gp.GraphPartWarning, match=r"matrix\[0, 0\] is nan, .* the diagonal is ignored, but"):
            assert gp.SetPartition.from_matrix(C).evaluate([0, 0]) == -1
        assert math.isnan(C[0, 0])
        C[1, 1] = math.nan  # all of it: on purpose
        assert gp.SetPartition.from_matrix(C).evaluate([0, 0]) == -1

    def test_the_matrix_is_copied(self):
        C = np.array([[0.0, -1.0], [-1.0, 0.0]])
        p = gp.SetPartition.from_matrix(C)
        C[0, 1] = 5
        assert p.evaluate([0, 0]) == -1
        with pytest.raises(ValueError, match="read-only"):
            p.matrix[0, 1] = 5

    def test_storage_by_density(self):
        C = np.zeros((40, 40))
        C[0, 1] = C[1, 0] = -1
        assert not gp.SetPartition.from_matrix(C).is_dense
        assert gp.SetPartition.from_matrix(C, dense=True).is_dense
        assert gp.SetPartition.from_matrix(C - 1).is_dense
        assert not gp.SetPartition.from_matrix(C - 1, dense=False).is_dense

    def test_rounding_is_averaged_out(self):
        C = np.array([[0, 1.0, 2.0], [1.0 + 1e-12, 0, 3.0], [2.0, 3.0, 0]])
        p = gp.SetPartition.from_matrix(C)
        assert (p.matrix == p.matrix.T).all()

    def test_scipy_sparse(self):
        C = scipy.sparse.coo_array(([-1.0, -1.0, 2.0, 2.0], ([0, 1, 1, 2], [1, 0, 2, 1])), shape=(50, 50))
        p = gp.SetPartition.from_matrix(C)
        assert (p.n, p.m, p.is_dense) == (50, 2, False)

    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            ([[0, 1], [0, 0]], r"matrix\[0, 1\] is 1.0 but matrix\[1, 0\] is 0.0: expected a symmetric matrix"),
            ([[0, 1e9, 0], [1e9, 0, 0.5], [0, 0, 0]], r"matrix\[1, 2\] is 0.5 but"),
            ([[0, 5, math.inf], [0, 0, 0], [math.inf, 0, 0]], r"matrix\[0, 1\] is 5.0 but"),
            ([[0, -1], [math.nan, 0]], r"matrix\[1, 0\] is nan"),
            ([[0, 1j], [1j, 0]], "matrix has dtype complex128"),
        ],
    )
    def test_mistakes_in_scipy_sparse(self, matrix, message):
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.SetPartition.from_matrix(scipy.sparse.coo_array(np.array(matrix)))

    def test_masked_entries(self):
        C = np.ma.masked_greater([[0.0, 5.0], [5.0, 0.0]], 1)
        with pytest.raises(gp.InvalidProblem, match="matrix has masked entries"):
            gp.SetPartition.from_matrix(C)
        with pytest.raises(gp.InvalidProblem, match="costs has masked entries"):
            gp.SetPartition.from_pairs(2, [(0, 1)], C[0, 1:])

    def test_names(self):
        p = gp.SetPartition.from_matrix([[0, -1], [-1, 0]], nodes="ab")
        assert gp.solve(p).partition == [{"a", "b"}]

    @pytest.mark.parametrize(
        ("matrix", "message"),
        [
            ([[0, 1, 2], [1, 0, 3]], r"matrix has shape \(2, 3\): expected \(n, n\)"),
            ([1, 2], r"matrix has shape \(2,\)"),
            ([[0, 1], [2, 0]], r"matrix\[0, 1\] is 1.0 but matrix\[1, 0\] is 2.0: expected a symmetric matrix"),
            ([[0, math.nan], [1, 0]], r"matrix\[0, 1\] is nan"),
            ([[0, 1], [math.nan, 0]], r"matrix\[1, 0\] is nan"),
            ([[0, math.inf], [1, 0]], r"matrix\[0, 1\] is inf but matrix\[1, 0\] is 1.0"),
            ([["0", "1"], ["1", "0"]], "matrix has dtype <U1: expected real numbers"),
            ([[0, 1j], [1j, 0]], "matrix has dtype complex128"),
            ([[0, 1e308], [1e308, 0]], "the sum of absolute costs overflows"),
        ],
    )
    def test_mistakes(self, matrix, message):
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.SetPartition.from_matrix(matrix)

    def test_wrong_names(self):
        with pytest.raises(gp.InvalidProblem, match="1 node for 2 elements"):
            gp.SetPartition.from_matrix(np.zeros((2, 2)), nodes=["a"])
        with pytest.raises(gp.InvalidProblem, match="node 'a' is named twice"):
            gp.SetPartition.from_matrix(np.zeros((2, 2)), nodes=["a", "a"])


class TestFromPairs:
    def test_duplicates_add_up_in_either_direction(self):
        p = gp.SetPartition.from_pairs(1000, [(3, 1), (1, 3), (0, 999)], [1.0, 2.0, -1.0])
        assert [x.tolist() for x in p.pairs()] == [[0, 1], [999, 3], [-1.0, 3.0]]

    def test_a_tuple_of_two_arrays(self):
        p = gp.SetPartition.from_pairs(5, (np.array([0, 1]), np.array([2, 3])), [1.0, 2.0])
        assert p.evaluate([0, 0, 0, 0, 0]) == 3

    @settings(max_examples=trials(200))
    @given(p=partitions(max_n=8))
    def test_order_of_pairs_does_not_matter(self, p):
        u, v, cost = p.pairs()
        order = np.random.default_rng(p.n).permutation(len(u))
        other = gp.SetPartition.from_pairs(p.n, (v[order], u[order]), cost[order], dense=p.is_dense)
        for x, y in zip(p.pairs(), other.pairs(), strict=True):
            np.testing.assert_array_equal(x, y)

    @pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")
    def test_nothing_dense_for_a_sparse_problem(self):
        n = 200_000
        tracemalloc.start()
        p = gp.SetPartition.from_pairs(n, np.stack([np.arange(n - 1), np.arange(1, n)], 1), np.ones(n - 1) * -1)
        assert gp.solve(p, method="kernighan-lin").n_clusters == 1
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 400 * n

    @pytest.mark.parametrize(
        ("n", "pairs", "costs", "message"),
        [
            (3, [(0, 3)], [1.0], r"pair 0 is \(0, 3\): expected indices from 0 to 2"),
            (3, [(0, 1), (-1, 2)], [1.0, 1.0], r"pair 1 is \(-1, 2\)"),
            (3, [(1, 1)], [1.0], r"pair 0 is \(1, 1\): expected two different elements"),
            (3, [(0, 1)], [math.nan], r"pair 0 is \(0, 1\) with cost nan"),
            (3, [(0, 1)], [1.0, 2.0], "1 pairs but costs of shape"),
            (3, [(0, 1, 2)], [1.0], r"pairs has shape \(1, 3\): expected \(m, 2\)$"),
            (3, ([0, 0, 1], [1, 2, 2]), [1.0] * 3, r"shape \(2, 3\): expected \(m, 2\); numpy\.transpose\(pairs\)"),
            (3, [(0.0, 1.0)], [1.0], "pairs has dtype float64: expected integers"),
            (3, [(0, 1)], ["a"], "costs has dtype"),
            (3, [(0, 2**32)], [1.0], r"pair 0 is \(0, 4294967296\)"),
            (-1, [], [], "n is -1: expected 0 to"),
            (10**12, [], [], "n is 1000000000000: expected 0 to"),
            (2.5, [], [], "n is 2.5: expected an integer"),
            (3, [(0, 1), (1, 2)], [1e308, 1e308], "overflows"),
            (3, [(0, 1), (0, 1)], [1e308, 1e308], "overflows"),
        ],
    )
    def test_mistakes(self, n, pairs, costs, message):
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.SetPartition.from_pairs(n, pairs, costs)

    def test_a_dense_problem_that_does_not_fit(self):
        with pytest.raises(gp.InvalidProblem, match="needs a matrix of 8e\\+09 GB"):
            gp.SetPartition.from_pairs(10**9, [(0, 1)], [1.0], dense=True)


class TestRequirements:
    @pytest.mark.parametrize("dense", [True, False])
    def test_costs_of_required_pairs(self, dense):
        p = gp.SetPartition.from_pairs(
            4, [(0, 1), (1, 2), (2, 3)], [-3.0, 1.0, math.inf], must_join=[(0, 1)], must_cut=[(1, 3)], dense=dense
        )
        assert p.must_join.tolist() == [[0, 1]]
        assert p._must_cut.tolist() == [[1, 3], [2, 3]]
        assert p.evaluate([0, 0, 1, 2]) == -3  # the cost of a pair in must_join still counts
        assert p.evaluate([0, 1, 1, 2]) == math.inf
        assert p.evaluate([0, 0, 1, 1]) == math.inf

    @pytest.mark.parametrize("dense", [True, False])
    def test_contradictions(self, dense):
        with pytest.raises(gp.InfeasibleProblem, match="0 and 2 must be cut, but required joins connect them"):
            gp.SetPartition.from_pairs(3, [(0, 2)], [math.inf], must_join=[(0, 1), (1, 2)], dense=dense)
        with pytest.raises(gp.InfeasibleProblem):
            gp.SetPartition.from_pairs(2, [(0, 1), (0, 1)], [math.inf, -math.inf], dense=dense)
        C = [[0, -math.inf], [-math.inf, 0]]
        with pytest.raises(gp.InfeasibleProblem):
            gp.SetPartition.from_matrix(C, must_cut=[(0, 1)], dense=dense)

    def test_nodes_as_numpy_integers_are_found_at_once(self):
        n = 10**6  # range.index looks at every element for an integer that is not Python's own
        pairs = np.arange(n - 2000, n).reshape(-1, 2)
        started = time.process_time()
        range(n).index(np.int64(n - 1))
        once, started = time.process_time() - started, time.process_time()
        p = gp.SetPartition.from_pairs(n, [], [], must_join=pairs)
        assert len(p.must_join) == 1000
        assert time.process_time() - started < 200 * once  # there are 2000

    def test_mistakes(self):
        for pairs, message in (
            ([(0, 7)], "7 is not a node of the problem, whose first node is 0"),
            ([(1, 1)], "expected two different elements"),
            ([3], "expected a pair of nodes$"),
            ([(0, 1, 2)], "expected a pair of nodes; a group of nodes is a list or a set"),
            ([[0, 1, 7]], r"\[0, 1, 7\] in (together|apart): 7 is not a node of the problem"),
            ([[0, 1, 0]], r"\[0, 1, 0\] in (together|apart): expected different elements"),
        ):
            with pytest.raises(gp.InvalidProblem, match=message):
                gp.SetPartition.from_pairs(3, [], [], must_join=pairs)
            with pytest.raises(gp.InvalidProblem, match=message):
                gp.SetPartition.from_pairs(3, [], [], must_cut=pairs)

    def test_lists_and_sets_are_groups(self):
        """Families: all of one in one cluster, or each of one in another; those of two are pairs, of one nothing."""
        families = [["d", "a", "b"], ["c"], {"e", "f"}, frozenset("gc"), [], ("b", "h"), {"i", "j", "k", "l"}]
        pairs = [(a, b) for family in families for a in family for b in family if a < b]
        names = list("abcdefghijkl")
        p = gp.SetPartition.from_pairs(12, [], [], names, must_join=families)
        q = gp.SetPartition.from_pairs(12, [], [], names, must_join=pairs)
        assert p._must_join_classes().tolist() == [0, 0, 1, 0, 2, 2, 1, 0, 3, 3, 3, 3]
        assert np.array_equal(p._must_join_classes(), q._must_join_classes())
        p, q = (gp.SetPartition.from_pairs(12, [], [], names).require(apart=some) for some in (families, pairs))
        assert p._must_cut.tolist() == q._must_cut.tolist() and len(p._must_cut) == 12
        with pytest.raises(gp.InvalidProblem, match="lifted pairs"):  # of which each has a cost
            gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], lifted=([[0, 1, 2]], [1.0]))


class TestPartitions:
    @settings(max_examples=trials(400))
    @given(case=problem_and_start(max_n=8, kinds=("integer", "quarter", "real", "huge", "tiny")))
    def test_cost_is_what_the_definition_says(self, case):
        p, labels = case
        expected = cost_by_definition(p, labels.tolist())
        assert p.evaluate(labels) == pytest.approx(expected, rel=1e-15, abs=0)

    def test_sums_keep_tiny_costs_beside_huge_ones(self):
        for dense in (True, False):
            p = gp.SetPartition.from_pairs(3, [(0, 1), (0, 2), (1, 2)], [1e16, 1.0, -1e16], dense=dense)
            assert p.evaluate([0, 0, 0]) == 1.0

    def test_every_form(self):
        p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], nodes=["a", "b", "c"])
        forms = [[7, 7, 5], np.array([1, 1, 0]), [{"b", "a"}, {"c"}], [["a", "b"], ("c",)], {"a": 1, "b": 1, "c": "x"}]
        for form in [*forms, gp.solve(p, method="greedy-joining", initial=[0, 0, 1]), iter([0, 0, 1])]:
            assert p.labels(form).tolist() == [0, 0, 1]

    @pytest.mark.parametrize(
        ("partition", "message"),
        [
            ([0, 1], r"labels have shape \(2,\): expected \(3,\)"),
            ([0.5, 1.0, 2.0], "labels have dtype float64: expected integers"),
            ([{"a"}, {"b"}], "'c' is in no cluster"),
            ([{"a", "b"}, {"b", "c"}], "'b' is in two clusters"),
            ([{"a", "b", "c", "d"}], "'d' is not a node of the problem"),
            ({"a": 0, "b": 1}, "'c' has no label"),
            ({"a": 0, "b": 1, "c": 2, "d": 3}, "'d' is not a node"),
            ([1, "1", 1], "expected labels of one kind"),
            (np.ma.array([0, 0, 1], mask=[0, 1, 0]), "labels have masked entries"),
            (7, "got int: expected labels, sets of nodes, a mapping or a Result"),
        ],
    )
    def test_mistakes(self, partition, message):
        p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], nodes=["a", "b", "c"])
        with pytest.raises(gp.InvalidPartition, match=message):
            p.evaluate(partition)

    def test_a_result_for_the_same_nodes_in_another_order(self):
        p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], nodes=["a", "b", "c"])
        q = gp.SetPartition.from_pairs(3, [(1, 2)], [-1.0], nodes=["c", "a", "b"])
        assert q.evaluate(gp.solve(p)) == -1
        with pytest.raises(gp.InvalidPartition, match="'a' is not a node"):
            gp.SetPartition.from_pairs(3, [(1, 2)], [-1.0]).evaluate(gp.solve(p))

    def test_objective(self):
        p = gp.SetPartition.from_pairs(2, [(0, 1)], [-2.0], offset=10.0, sense=-1)
        assert p.objective(p.evaluate([0, 0])) == 12
        with pytest.raises(gp.InvalidProblem, match="sense is 2"):
            gp.SetPartition.from_pairs(2, [], [], sense=2)
        with pytest.raises(gp.InvalidProblem, match="offset is nan"):
            gp.SetPartition.from_pairs(2, [], [], offset=math.nan)


class TestDerived:
    @settings(max_examples=trials(200))
    @given(case=problem_and_start(max_n=8))
    def test_contraction_keeps_cost_differences(self, case):
        p, start = case
        blocks = p.labels(start)
        small = p._contract(blocks)
        within = p.evaluate(blocks)
        for labels in (np.arange(small.n), np.zeros(small.n, int)):
            expected = p.evaluate(labels[blocks]) if small.n else 0.0
            if math.isfinite(expected):
                assert within + small.evaluate(labels) == pytest.approx(expected, abs=1e-9)
            else:
                assert small.evaluate(labels) == math.inf

    @settings(max_examples=trials(200))
    @given(p=partitions(max_n=8))
    def test_components_are_independent(self, p):
        components = p._components()
        G = p.graph
        G.remove_edges_from([(a, b) for a, b, c in G.edges(data="cost") if c == 0])
        assert [set(c) for c in nx.connected_components(G)] == [
            {p.nodes[i] for i in np.flatnonzero(components == k)} for k in range(components.max(initial=-1) + 1)
        ]

    @settings(max_examples=trials(200))
    @given(case=problem_and_start(max_n=8))
    def test_restriction(self, case):
        p, labels = case
        elements = np.flatnonzero(p.labels(labels) == 0)
        small = p._restrict(elements)
        assert list(small.nodes) == [p.nodes[i] for i in elements]
        if math.isfinite(p.evaluate(np.where(p.labels(labels) == 0, 0, 1 + np.arange(p.n)))):
            assert small.evaluate(np.zeros(len(elements), int)) == pytest.approx(
                p.evaluate(np.where(p.labels(labels) == 0, 0, 1 + np.arange(p.n))), abs=1e-9
            )

    @settings(max_examples=trials(100))
    @given(p=partitions(max_n=7))
    def test_pickles_and_copies(self, p):
        for other in (pickle.loads(pickle.dumps(p)), copy.copy(p), copy.deepcopy(p)):
            assert (other.n, list(other.nodes), other.offset, other.sense) == (p.n, list(p.nodes), p.offset, p.sense)
            assert other.is_dense == p.is_dense
            assert other.must_join.tolist() == p.must_join.tolist()
            for x, y in zip(p.pairs(), other.pairs(), strict=True):
                np.testing.assert_array_equal(x, y)

    def test_tolerance_is_relative_to_the_costs_of_one_element(self):
        p = gp.SetPartition.from_pairs(4, [(0, 1), (0, 2), (1, 3)], [3.0, -4.0, 1.0], must_cut=[(2, 3)])
        assert p._magnitude == 7
        assert p._tolerance == 7 * 2.0**-50


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("huge", [1e7, 1e12, 1e18])
@pytest.mark.parametrize("method", ["brute-force", "ilp"])
def test_a_huge_cost_does_not_hide_small_ones(seed, huge, method):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(8, 1)
    costs = np.where(rng.random(len(u)) < 0.15, huge, rng.normal(size=len(u)))
    p = gp.SetPartition.from_pairs(8, (u, v), costs)
    expected = gp.solve(gp.SetPartition.from_pairs(8, (u, v), np.where(costs == huge, math.inf, costs)), "brute-force")
    result = gp.solve(p, method)
    assert str(result.status) == "optimal"
    assert result.cost == pytest.approx(expected.cost, abs=1e-6)
    assert result.lower_bound <= expected.cost + 1e-6


def test_a_huge_cost_elsewhere():
    p = gp.SetPartition.from_pairs(6, [(0, 1), (2, 3), (3, 4), (2, 4)], [1e18, -3.0, -2.0, 4.0])
    for method in ("brute-force", "ilp", "auto", "exact"):
        assert gp.solve(p, method).cost == -3


def test_arguments_of_the_wrong_kind():
    with pytest.raises(gp.InvalidProblem, match="pairs has rows of different lengths"):
        gp.SetPartition.from_pairs(3, [(0, 1), (1,)], [1.0, 2.0])
    with pytest.raises(gp.InvalidProblem, match="nodes is 2: expected one name for each element"):
        gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], 2)
    with pytest.raises(gp.InvalidProblem, match="together is 5: expected pairs of nodes"):
        gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], must_join=5)
    p = gp.SetPartition.from_pairs(3, [(0, 1)], [1.0])
    with pytest.raises(gp.InvalidPartition, match="a label cannot be hashed"):
        p.evaluate({0: [1], 1: [2], 2: [1]})
    with pytest.raises(gp.InvalidPartition, match="got str: expected labels"):
        p.evaluate("aab")


@pytest.mark.parametrize("joins", [False, True])
def test_contraction_takes_labels_there_and_back(joins):
    rng = np.random.default_rng(3)
    for n in (1, 2, 9, 30):
        u, v = np.triu_indices(n, 1)
        must_join = rng.integers(0, n, (n // 3, 2)).tolist() if joins else []
        must_join = [(a, b) for a, b in must_join if a != b]
        p = gp.SetPartition.from_pairs(n, (u, v), rng.integers(-9, 9, len(u)), must_join=must_join)
        for c in (Contraction(p), Contraction(p, canonical(np.minimum(p._must_join_classes(), n // 2)))):
            assert (c.problem is p) == (len(c.first) == n)
            assert c.first.tolist() == np.unique(c.sets, return_index=True)[1].tolist()
            inner = canonical(rng.integers(0, 3, c.problem.n))
            labels = c.lift(inner)
            assert c.project(labels).tolist() == inner.tolist() and canonical(labels).tolist() == labels.tolist()
            assert p._evaluate_labels(labels) == c.problem._evaluate_labels(inner) + c.constant


def test_nan_among_similarities_and_among_costs():
    matrix = np.array([[1.0, np.nan], [np.nan, 1.0]])
    with pytest.raises(gp.InvalidProblem, match=r"is nan: expected a number, inf \(join\) or -inf \(cut\)"):
        gp.SetPartition.from_similarity(matrix, threshold=0.5)
    with pytest.raises(gp.InvalidProblem, match=r"is nan: expected a number, inf \(cut\) or -inf \(join\)"):
        gp.SetPartition.from_matrix(matrix)


def test_the_problem_shows_what_is_for_users():
    assert len([name for name in dir(gp.SetPartition) if not name.startswith("_")]) <= 35


@pytest.mark.parametrize("name", FORMER)
def test_former_names_warn_and_work(name):
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0])
    with pytest.warns(DeprecationWarning, match=f"SetPartition.{name} will be removed in version 0.4: use "):
        found = getattr(p, name)
    assert callable(found) or repr(found) == repr(getattr(p, f"_{name}"))
    if name == "evaluate_labels":
        assert found(np.zeros(3, np.int32)) == p.evaluate([0, 0, 0]) == 1.0
    assert not hasattr(p, f"{name}_") and not hasattr(p, f"__{name}")
