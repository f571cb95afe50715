"""The frustration index of signed networks against enumeration."""

import itertools
import math
import warnings

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart import signed_network

pd = pytest.importorskip("pandas")


@st.composite
def networks(draw: st.DrawFn) -> nx.Graph:
    n = draw(st.integers(0, 7))
    graph = nx.empty_graph(n)
    weights = draw(
        st.sampled_from([st.sampled_from([-1, 1]), st.integers(-3, 3), st.sampled_from([-0.3, 0.1, 0.7, -1e6])])
    )
    for pair in itertools.combinations(range(n), 2):
        if draw(st.booleans()):
            graph.add_edge(*pair, sign=draw(weights))
    return graph


def weight(graph: nx.Graph, label) -> float:
    return math.fsum(abs(s) for a, b, s in graph.edges(data="sign") if (label[a] == label[b]) == (s < 0))


@pytest.mark.filterwarnings("ignore:no pair has a negative sign")
@given(networks())
@settings(max_examples=trials(150), deadline=None)
def test_against_enumeration(graph):
    r = gp.frustration(graph)
    best = min(weight(graph, sides) for sides in itertools.product((0, 1), repeat=len(graph)))
    assert str(r.status) == "optimal" and r.message.startswith("proven optimal")
    assert r.index == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert r.lower_bound == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert set(r.sides) == set(graph) and set(r.sides.values()) <= {0, 1}
    assert weight(graph, r.sides) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert math.fsum(abs(graph.edges[pair]["sign"]) for pair in r.pairs) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert r.balanced == (not r.pairs)
    nodes, pairs = r.to_frame(), r.to_frame(pairs=True)
    assert dict(zip(nodes["node"], nodes["side"], strict=True)) == r.sides
    assert nodes["frustrated"].sum() == 2 * len(r.pairs)
    assert list(zip(pairs["left"], pairs["right"], strict=True)) == r.pairs
    assert [set(part["node"]) for _, part in nodes.groupby("group")] == r.groups
    signs = [graph.edges[pair]["sign"] for pair in r.pairs]
    assert all(s <= 0 if d == "together" else s >= 0 for s, d in zip(signs, pairs["decision"], strict=True))
    groups = {node: k for k, group in enumerate(r.groups) for node in group}
    assert r.groups_index == pytest.approx(weight(graph, groups), rel=1e-9, abs=1e-9)
    assert r.groups_lower_bound - 1e-9 <= r.groups_index <= r.index + 1e-9


def test_frames_and_graphs_agree():
    columns = {"from": ["a", "b", "c", "a"], "to": ["b", "c", "a", "d"], "rating": [-2.0, -3.0, -5.0, 1.0]}
    graph = nx.Graph()
    for a, b, s in zip(*columns.values(), strict=True):
        graph.add_edge(a, b, sign=s)
    of_frame, of_graph = gp.frustration(columns, "from", "to", sign="rating"), gp.frustration(graph)
    assert of_frame.index == of_graph.index == 2.0
    assert [set(pair) for pair in of_frame.pairs] == [set(pair) for pair in of_graph.pairs] == [{"a", "b"}]
    assert of_frame.groups_index == 0.0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: gp.frustration({"a": [1], "b": [2], "sign": [1]}), "which columns name the nodes"),
        (
            lambda: gp.frustration({"a": [1], "b": [2], "s": [1]}, "a", "b", "s"),
            "expected frustration(network, u, v, sign=",
        ),
        (lambda: gp.frustration(nx.path_graph(3)), "attribute 'sign' of edge (0, 1) is missing"),
        (lambda: gp.frustration(nx.DiGraph([(1, 2)])), "the graph is directed"),
        (lambda: gp.frustration(nx.to_numpy_array(nx.path_graph(3))), "expected a sparse matrix, whose zeros"),
        (lambda: gp.frustration({"a": [1], "b": [2], "sign": ["+"]}, "a", "b"), "does not hold numbers"),
    ],
)
def test_bad_input_gets_one_line(call, said):
    with pytest.raises(gp.GraphPartError, match=r"^[^\n]*$") as error:
        call()
    assert said in str(error.value)


def test_a_matrix_of_signs_and_what_is_not_proven():
    graph = nx.gnm_random_graph(60, 500, seed=1)
    for k, edge in enumerate(graph.edges):
        graph.edges[edge]["sign"] = 1 if k % 3 else -1
    r = gp.frustration(graph, time_limit=0.2)
    assert gp.frustration(nx.to_scipy_sparse_array(graph, weight="sign"), time_limit=0.2).lower_bound <= r.index
    shown = r._facts()["index of any number of groups"]
    proven = r.several.status == "optimal"
    assert shown == r.groups_index if proven else shown.startswith("at most")


def test_neutral_pairs_are_never_frustrated():
    frame = {"u": ["a", "b", "a", "c", "c"], "v": ["b", "c", "c", "d", "e"], "sign": [1, -1, 0, 0, 0]}
    found = gp.frustration(frame, "u", "v")
    assert found.index == 0 and found.pairs == [] and found.balanced
    assert found.to_frame()["frustrated"].tolist() == [0] * 5


def test_the_limit_is_kept():
    graph = nx.gnm_random_graph(3000, 15_000, seed=2)
    for k, edge in enumerate(graph.edges):
        graph.edges[edge]["sign"] = 1 if k % 2 else -1
    r = gp.frustration(graph, time_limit=1.0)
    assert r.two.seconds + r.several.seconds < 2.0
    assert 0 <= r.groups_lower_bound <= r.lower_bound <= r.index == weight(graph, r.sides) == len(r.pairs)


def test_any_number_of_groups_is_no_worse_than_two_sides(monkeypatch):
    """Also if the search for groups had no time and left all nodes apart."""
    monkeypatch.setattr(signed_network, "ANY_SHARE", 1e-9)
    graph = nx.gnm_random_graph(2000, 8000, seed=2)
    for u, v in graph.edges:
        graph.edges[u, v]["sign"] = 1 if u % 2 == v % 2 else -1
    r = gp.frustration(graph, time_limit=1.0)
    assert r.groups_lower_bound <= r.groups_index <= r.index < graph.number_of_edges() / 4


def test_signs_of_which_none_is_negative_are_warned_of():
    pairs = pd.DataFrame({"a": [0, 1, 2], "b": [1, 2, 0], "sign": [True, False, True]})
    with pytest.warns(gp.GraphPartWarning, match="no pair has a negative sign, so nothing can be frustrated"):
        assert gp.frustration(pairs, "a", "b").index == 0
    G = nx.Graph([(0, 1), (1, 2), (2, 0)])
    nx.set_edge_attributes(G, 1, "sign")
    G.edges[0, 1]["sign"] = -1
    assert gp.frustration(G).index == 1


@pytest.mark.parametrize("of", ["graph", "frame"])
def test_opposite_signs_of_one_pair_are_no_lack_of_negative_signs(of):
    rows = [("a", "b", 1), ("a", "b", -1), ("b", "c", 1)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(opposite|add up|repeats a pair)")  # which is true
        if of == "graph":
            network = nx.MultiGraph()
            network.add_edges_from((a, b, {"sign": sign}) for a, b, sign in rows)
            r = gp.frustration(network)
        else:
            r = gp.frustration(pd.DataFrame(rows, columns=["a", "b", "sign"]), "a", "b")
    assert r.index == 0 and r.balanced
