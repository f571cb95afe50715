"""Groups and limits as users give them, on every constructor."""

import math

import networkx as nx
import numpy as np
import pytest

import graphpart as gp

SOURCES = ["crm", "shop", "crm", None]
PAIRS = {"a": ["x", "x", "y"], "b": ["y", "z", "z"], "p": [0.9, 0.8, 0.7]}
PEOPLE = {"id": ["w", "x", "y", "z"], "source": [None, *SOURCES[:3]], "number": [7, 0, 1, 0]}


def graph():
    G = nx.Graph()
    G.add_weighted_edges_from([("x", "y", -3.0), ("x", "z", -2.0), ("y", "z", -1.0)], "cost")
    G.add_node("w")
    nx.set_node_attributes(G, {"x": "crm", "y": "shop", "z": "crm"}, "source")
    nx.set_node_attributes(G, {"x": 1, "y": 1}, "street")
    return G


def clusters(r):
    return sorted(sorted(map(str, cluster)) for cluster in r.clusters if len(cluster) > 1)


def test_forms_of_a_grouping():
    import pandas as pd

    C = np.array([[0, -3.0, -2, 0], [-3, 0, -1, 0], [-2, -1, 0, 0], [0, 0, 0, 0]])
    forms = [
        SOURCES,
        tuple(SOURCES),
        np.array([5, 2, 5, -1]),
        np.array(SOURCES, object),
        [1.0, 2.0, 1.0, math.nan],
        pd.Series(SOURCES),
        pd.Series([1, 2, 1, pd.NA], dtype="Int64"),
        pd.Series(SOURCES, index=list("xyzw")),
        {"x": "crm", "y": "shop", "z": "crm"},
        [SOURCES],
        [SOURCES, np.arange(4)],
    ]
    for form in forms:
        p = gp.SetPartition.from_matrix(C, list("xyzw"), groups=form)
        assert len(p.groups) == 1 and clusters(gp.solve(p)) == [["x", "y"]], form
    assert gp.SetPartition.from_matrix(C, list("xyzw"), groups=SOURCES, group_cost=0).groups is None
    two = gp.SetPartition.from_matrix(C, list("xyzw"), groups=[SOURCES, [0, 0, 0, 0]], group_cost=[math.inf, 2.5])
    assert two.evaluate([0, 0, 1, 2]) == -0.5 and two.evaluate([0, 1, 0, 2]) == math.inf


def test_graphs_name_node_attributes():
    G = graph()
    assert clusters(gp.solve(G, groups="source")) == [["x", "y"]]
    assert clusters(gp.solve(G, groups=["source", "street"])) == [["y", "z"]]
    assert clusters(gp.solve(G, groups="source", group_cost=0.5)) == [["x", "y", "z"]]
    assert gp.solve(G, n_clusters=3).n_clusters == 3
    similar = gp.SetPartition.from_similarity(graph(), "cost", threshold=-4.0, groups="source", group_cost=9.0)
    assert similar.groups.price.tolist() == [9.0]
    with pytest.raises(gp.InvalidProblem, match="no node has the attribute 'sauce' that groups names; nodes"):
        gp.SetPartition(G, groups="sauce")
    assert gp.solve(gp.SetPartition(G), max_size=2).cost == gp.solve(G, max_size=2).cost


def test_groups_of_a_table_of_pairs_name_their_elements():
    """The rows of pairs do not tell the order of elements: groups by order alone are refused, not taken by chance."""
    import pandas as pd

    rows, groups = {"a": ["z", "z", "y"], "b": ["y", "x", "x"], "p": [0.9] * 3}, [1, 1, 2]  # of x, y and z

    def made(grouping, rows=rows, **options):
        return gp.SetPartition.from_frame(rows, "a", "b", probability="p", groups=grouping, **options)

    by_order = (groups, tuple(groups), np.array(groups), pd.Series(groups), [groups], [{"x": 1, "y": 1}, groups])
    numbers = {"a": [7, 7, 5], "b": [5, 3, 3], "p": [0.9] * 3}
    for grouping in (*by_order, ["source", "photo"], ["source"] * 3):
        with pytest.raises(gp.InvalidProblem, match=r'expected a column of elements.*elements=t, id="id", groups="sou'):
            made(grouping)
        with pytest.raises(gp.InvalidProblem, match="that does not name elements"):
            made(grouping, numbers)
    told = pd.Series(groups, list("xyz"))
    for p in (made(told), made(told.to_dict()), made([told, {"x": 1, "y": 1}]), made(told[::-1])):
        assert p.evaluate([{"x", "z"}, {"y"}]) < 0 and p.evaluate([{"x", "y"}, {"z"}]) == math.inf
    for options in ({"nodes": list("xyz")}, {"elements": {"id": list("xyz")}, "id": "id"}):
        for grouping in by_order:
            assert made(grouping, **options).evaluate([{"x", "y"}, {"z"}]) == math.inf
    counted = {"a": [2, 2, 1], "b": [1, 0, 0], "p": [0.9] * 3}  # identifiers that are their places
    for grouping in by_order[:-1]:
        assert made(grouping, counted).evaluate([0, 0, 1]) == math.inf
        assert made(grouping, numbers, nodes=[3, 5, 7]).evaluate([0, 0, 1]) == math.inf
    assert made(pd.Series(groups, [3, 5, 7]), numbers).evaluate([0, 0, 1]) == math.inf


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "pyarrow"])
def test_a_frame_of_elements(library):
    make = dict
    if library != "dict":
        module = pytest.importorskip(library)
        make = module.table if library == "pyarrow" else module.DataFrame
    p = gp.SetPartition.from_frame(
        make(PAIRS), "a", "b", probability="p", elements=make(PEOPLE), id="id", groups="source", max_size=3
    )
    assert list(p.nodes) == PEOPLE["id"] and clusters(gp.solve(p)) == [["x", "y"]]
    q = gp.SetPartition.from_frame(
        make(PAIRS), "a", "b", probability="p", elements=make(PEOPLE), id="id", groups=["source", "number"],
        group_cost=[1.0, math.inf],
    )  # fmt: skip
    assert clusters(gp.solve(q)) == [["x", "y"]] and sorted(q.groups.price.tolist()) == [1.0, math.inf]


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"elements": PEOPLE, "groups": "source"}, gp.InvalidProblem, "elements without id: expected the column of"),
        ({"elements": PEOPLE, "id": "name"}, gp.InvalidProblem, "no column 'name'.* in elements|column 'name'"),
        ({"elements": PEOPLE, "id": "id", "groups": "sauce"}, gp.InvalidProblem, "'sauce'"),
        ({"id": "id"}, gp.InvalidProblem, "id is 'id' without elements"),
        ({"elements": {"id": ["x", "y", "x"]}, "id": "id"}, gp.InvalidProblem, "'x' is in rows 0 and 2 of elements"),
        ({"elements": {"id": ["x", None]}, "id": "id"}, gp.InvalidProblem, "column 'id' of elements is null in row 1"),
        ({"elements": {"id": ["x", "y"]}, "id": "id"}, gp.InvalidProblem, "'z' is in column 'a' or 'b' but not among"),
        ({"elements": PEOPLE, "id": "id", "nodes": ["x"]}, gp.InvalidOption, "both nodes and elements given"),
        ({"groups": "source"}, gp.InvalidProblem, "groups is 'source': expected a group for each element"),
    ],
)
def test_wrong_frames_are_one_line(options, error, says):
    with pytest.raises(error, match=says) as caught:
        gp.SetPartition.from_frame(PAIRS, "a", "b", probability="p", **options)
    assert "\n" not in str(caught.value)


def test_other_constructors():
    from scipy.sparse import coo_array

    upper = coo_array(([-3.0, -2.0, -1.0], ([0, 0, 1], [1, 2, 2])), shape=(4, 4))
    demands = {"groups": SOURCES, "group_cost": math.inf, "max_size": 2, "n_clusters": (2, 4)}
    problems = [
        gp.SetPartition.from_scipy(upper, **demands),
        gp.SetPartition.from_matrix((upper + upper.T).tocoo(), **demands),
        gp.SetPartition.from_matrix((upper + upper.T).toarray(), dense=False, **demands),
        gp.SetPartition.from_pairs(4, [(0, 1), (0, 2), (1, 2)], [-3.0, -2.0, -1.0], **demands),
        gp.SetPartition.from_similarity(-(upper + upper.T).toarray(), **demands),
        gp.SetPartition.from_affinities([[[3.0, 1.0, 0.0, 0.0]]], [(0, 1)], kind="weight", **demands),
        gp.SetPartition.from_embeddings(np.eye(4), threshold=1.5, **demands),
    ]
    for p in problems:
        r = gp.solve(p)
        p._check_feasible(r.labels)
        assert p._limits.max_size == 2 and (p._limits.least, p._limits.most) == (2, 4)
        assert r.labels[0] != r.labels[2]
        assert "at most one in a cluster" in repr(p) and "at most 2 elements in a cluster" in repr(p)
