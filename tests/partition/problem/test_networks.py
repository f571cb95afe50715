"""Modularity, the constant Potts model and cluster editing, against networkx, igraph and their definitions."""

import math

import networkx as nx
import numpy as np
import pytest
from scipy.sparse import coo_array
from trials import trials

import graphpart as gp
from graphpart.partition.problem.forms import matrix_of


def random_graph(rng, seed):
    n = int(rng.integers(1, 12))
    G = nx.gnp_random_graph(n, 0.4, seed=seed, directed=bool(rng.integers(2)))
    for a, b in G.edges:
        G[a][b]["weight"] = float(rng.integers(1, 5))
    if rng.random() < 0.3:
        G.add_edge(0, 0, weight=2.0)
    return G


def test_modularity_is_that_of_networkx_and_of_the_matrix():
    rng = np.random.default_rng(1)
    for seed in range(trials(200)):
        G = random_graph(rng, seed)
        if not G.number_of_edges():
            with pytest.raises(gp.InvalidProblem, match="the sum of absolute weights is 0"):
                gp.SetPartition.from_modularity(G)
            continue
        n = len(G)
        labels = rng.integers(0, 3, n)
        sets = [found for k in range(3) if (found := {a for a in range(n) if labels[a] == k})]
        resolution = float(rng.choice([0.0, 0.5, 1.0, 1.7]))
        expected = nx.community.modularity(G, sets, resolution=resolution)
        generated = gp.generate.modularity(G, resolution=resolution).problem
        assert generated.objective(generated.evaluate(labels)) == pytest.approx(expected, abs=1e-12)
        matrix = nx.to_scipy_sparse_array(G, nodelist=range(n))
        for data in (G, matrix):
            for dense in (True, False):
                p = gp.SetPartition.from_modularity(data, resolution, dense=dense)
                assert p.is_dense == dense and p.objective(p.evaluate(labels)) == pytest.approx(expected, abs=1e-12)
        np.testing.assert_allclose(matrix_of(p), matrix_of(generated), atol=1e-15)


def test_modularity_of_weights_of_both_signs():
    rng = np.random.default_rng(2)
    for _ in range(trials(200)):
        n = int(rng.integers(2, 12))
        W = np.triu(rng.integers(-3, 4, (n, n)) * (rng.random((n, n)) < 0.5), 1)
        directed = bool(rng.integers(2))
        W = W + (np.triu(rng.integers(-3, 4, (n, n)), 1).T if directed else W.T)
        if not W.any():
            continue
        labels = rng.integers(0, 3, n)
        same = labels[:, None] == labels[None]
        value = 0.0
        for part, sign in ((np.maximum(W, 0), 1), (np.maximum(-W, 0), -1)):
            if part.any():
                value += sign * ((part - np.outer(part.sum(1), part.sum(0)) / part.sum()) * same).sum()
        for dense in (True, False):
            p = gp.SetPartition.from_modularity(coo_array(W.astype(float)), dense=dense)
            assert p.objective(p.evaluate(labels)) == pytest.approx(value / np.abs(W).sum(), abs=1e-12)


def test_cpm_and_editing_by_their_definitions():
    rng = np.random.default_rng(3)
    for seed in range(trials(100)):
        G = random_graph(rng, seed)
        n = len(G)
        labels = rng.integers(0, 3, n)
        inside = sum(d["weight"] for a, b, d in G.edges(data=True) if labels[a] == labels[b])
        pairs = sum(k * (k - 1) // 2 for k in np.bincount(labels).tolist()) * (2 if G.is_directed() else 1)
        for dense in (True, False):
            p = gp.SetPartition.from_cpm(G, 0.3, "weight", dense=dense)
            assert p.objective(p.evaluate(labels)) == pytest.approx(inside - 0.3 * pairs, abs=1e-10)
        if G.is_directed() or G.has_edge(0, 0):
            with pytest.raises(gp.InvalidProblem, match=r"directed|self-loop"):
                gp.SetPartition.from_editing(G)
            continue
        edits = sum(G.has_edge(a, b) != (labels[a] == labels[b]) for a in range(n) for b in range(a))
        for dense in (True, False):
            p = gp.SetPartition.from_editing(G, dense=dense)
            assert p.objective(p.evaluate(labels)) == edits


def test_igraph_and_names():
    igraph = pytest.importorskip("igraph")
    g = igraph.Graph.Famous("Zachary")
    p = gp.SetPartition.from_modularity(g, dense=False)
    r = gp.partition.multilevel(p)
    assert r.objective == pytest.approx(g.modularity(r.labels.tolist()), abs=1e-12)
    G = nx.Graph([("a", "b"), ("b", "c")])
    assert gp.SetPartition.from_cpm(G, 0.5).nodes == ["a", "b", "c"]
    assert nx.community.modularity(G, gp.solve(gp.SetPartition.from_modularity(G)).partition) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("graph", "value"), [(nx.karate_club_graph(), 0.419790), (nx.les_miserables_graph(), 0.560008)]
)
def test_known_networks_are_proven(graph, value):
    for dense in (None, False):
        r = gp.solve(gp.SetPartition.from_modularity(graph, weight=None, dense=dense))
        assert r.status == "optimal" and round(r.objective, 6) == value


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: gp.SetPartition.from_modularity(7), gp.InvalidProblem, "got int: expected a graph"),
        (lambda: gp.SetPartition.from_modularity(nx.path_graph(3), -1.0), gp.InvalidOption, "resolution is -1"),
        (lambda: gp.SetPartition.from_cpm(nx.path_graph(3), math.nan), gp.InvalidOption, "resolution is nan"),
        (
            lambda: gp.SetPartition.from_modularity(nx.Graph([(0, 1, {"weight": "x"})])),
            gp.InvalidProblem,
            "is 'x': expected a number",
        ),
        (
            lambda: gp.SetPartition.from_modularity(nx.Graph([(0, 1, {"weight": math.inf})])),
            gp.InvalidProblem,
            "is inf",
        ),
        (lambda: gp.SetPartition.from_editing(coo_array(np.ones((2, 3)))), gp.InvalidProblem, r"shape \(2, 3\)"),
    ],
)
def test_bad_networks(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("dense", [False, True])
def test_groups_and_limits_of_networks(dense):
    """Two nodes of one group stay apart, and clusters are small, whatever the objective."""
    graph = nx.complete_graph(5)
    nx.set_node_attributes(graph, {0: "x", 1: "x"}, "side")
    options = {"dense": dense, "groups": "side", "max_size": 2}
    for p in (
        gp.SetPartition.from_modularity(graph, **options),
        gp.SetPartition.from_cpm(graph, 0.2, **options),
        gp.SetPartition.from_editing(graph, **options),
    ):
        r = gp.solve(p)
        assert r.labels[0] != r.labels[1]
        assert np.bincount(r.labels).max() <= 2
    with pytest.raises(gp.InvalidProblem, match="expected a group for each element"):
        gp.SetPartition.from_editing(nx.to_scipy_sparse_array(graph), groups="side")


def test_graphs_of_rustworkx_are_told_how_to_become_graphs_of_networkx():
    class PyGraph:
        """As that of rustworkx: no attribute of it is called as those of networkx are."""

        def weighted_edge_list(self):
            return [(0, 1, -1.0), (1, 2, 2.0)]

    graph = PyGraph()
    message = r"got PyGraph: expected .*networkx.*igraph; of rustworkx: G = nx.Graph\(\); G.add_weighted_edges_from"
    for call in (
        gp.solve,
        gp.SetPartition,
        gp.SetPartition.from_modularity,
        gp.SetPartition.from_editing,
        gp.frustration,
        lambda G: gp.SetPartition.from_similarity(G, threshold=0.5),
    ):
        with pytest.raises(gp.InvalidProblem, match=message) as error:
            call(graph)
        assert "\n" not in str(error.value)
    G = nx.Graph()
    G.add_weighted_edges_from(graph.weighted_edge_list(), "cost")
    assert gp.solve(G).cost == -1.0
