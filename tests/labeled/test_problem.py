"""LabeledPartition: its costs, its constructors, and one clear line for each mistake."""

import pickle

import networkx as nx
import numpy as np
import pytest
from labeled import cost_of, random_problem

import graphpart as gp
from graphpart.errors import InfeasibleProblem, InvalidOption, InvalidPartition, InvalidProblem

INF = np.inf


def small():
    return gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0], [0.0, 1.0]], [(1, 0), (1, 2)], [-3.0, 1.0])


def test_evaluate_is_the_formula():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        own, pairs, joined, parted = random_problem(rng)
        try:
            q = gp.LabeledPartition.from_arrays(own, pairs, joined, parted)
        except InfeasibleProblem:
            continue
        labels, classes = rng.integers(0, 3, q.n), rng.integers(0, q.n_classes, q.n)
        assert q.evaluate(labels, classes) == pytest.approx(cost_of(own, pairs, joined, parted, labels, classes))
        H = gp.LabeledPartition(q.graph)
        assert H.evaluate(labels, classes) == q.evaluate(labels, classes)
        assert pickle.loads(pickle.dumps(q)).evaluate(labels, classes) == q.evaluate(labels, classes)


def test_numbers_stand_for_tables_and_tables_turn_with_their_pair():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    q = gp.LabeledPartition.from_arrays(np.zeros((3, 2)), [(2, 0), (0, 1)], np.stack([table, table]), [5.0, 6.0])
    assert q.u.tolist() == [0, 0] and q.v.tolist() == [1, 2]
    assert q.joined.tolist() == [table.tolist(), table.T.tolist()]
    assert q.parted[:, 0, 1].tolist() == [6.0, 5.0]
    assert q.evaluate([0, 1, 0], [0, 0, 1]) == 6.0 + 3.0


def test_inputs_are_not_changed():
    own, joined = np.zeros((2, 2)), np.ones((1, 2, 2))
    q = gp.LabeledPartition.from_arrays(own, [(1, 0)], joined)
    own[0, 0] = joined[0, 0, 0] = 7.0
    assert q.evaluate([0, 0], [0, 0]) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        q.joined[0, 0, 0] = 2.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), [], []), r"label_costs has shape \(3,\): expected \(n, L\)"),
        ((np.zeros((2, 0)), [], []), r"label_costs has shape \(2, 0\)"),
        (([[0.0, np.nan]], [], []), r"label_costs\[0, 1\] is nan"),
        (([[0.0, -INF]], [], []), r"label_costs\[0, 1\] is -inf"),
        ((np.zeros((2, 1)), [(0, 2)], [1.0]), r"pair 0 is \(0, 2\): expected indices from 0 to 1"),
        ((np.zeros((2, 1)), [(1, 1)], [1.0]), r"pair 0 is \(1, 1\): expected two different elements"),
        ((np.zeros((2, 1)), [(0, 1), (1, 0)], [1.0, 1.0]), r"pairs 0 and 1 are both \(0, 1\): expected each pair once"),
        ((np.zeros((2, 1)), [(0.0, 1.0)], [1.0]), "pairs has dtype float64"),
        ((np.zeros((2, 1)), [0, 1], [1.0]), r"pairs has shape \(2,\): expected \(m, 2\)"),
        ((np.zeros((2, 2)), [(0, 1)], [1.0, 2.0]), r"joined has shape \(2,\): expected \(1,\)"),
        ((np.zeros((2, 2)), [(0, 1)], np.zeros((1, 2, 3))), r"joined has shape \(1, 2, 3\)"),
        ((np.zeros((2, 1)), [(0, 1)], [np.nan]), "joined.* is nan"),
        ((np.zeros((2, 1)), [(0, 1)], [-INF]), "is -inf.*together by parted=inf"),
        ((np.zeros((2, 1)), [(0, 1)], [1.0], [np.nan]), "parted.* is nan"),
        ((np.full((2, 1), 1e300), [], []), "add up to 2e.300"),
    ],
)
def test_wrong_arrays(arguments, message):
    with pytest.raises(InvalidProblem, match=message) as caught:
        gp.LabeledPartition.from_arrays(*arguments)
    assert "\n" not in str(caught.value)


def test_what_is_forbidden_altogether():
    with pytest.raises(InfeasibleProblem, match="every class of 'b' costs inf"):
        gp.LabeledPartition.from_arrays([[0.0], [INF]], [], [], nodes=["a", "b"])
    with pytest.raises(InfeasibleProblem, match=r"pair \(0, 1\) costs inf together and apart"):
        gp.LabeledPartition.from_arrays([[0.0], [0.0]], [(0, 1)], [INF], INF)


def test_graphs_with_mistakes():
    G = nx.Graph()
    G.add_node("a", label_costs=[0.0, 1.0])
    G.add_node("b", label_costs=[0.0])
    with pytest.raises(InvalidProblem, match=r"'label_costs' of node 'b' has shape \(1,\): expected \(2,\)"):
        gp.LabeledPartition(G)
    G.nodes["b"]["label_costs"] = [0.0, 0.0]
    G.add_edge("b", "a")
    with pytest.raises(InvalidProblem, match=r"'joined' of edge \('a', 'b'\) is missing"):
        gp.LabeledPartition(G)
    G["a"]["b"]["joined"] = [[0.0, 1.0], [2.0, 3.0]]
    assert gp.LabeledPartition(G).evaluate([0, 0], {"a": 0, "b": 1}) == 1.0
    G["a"]["b"]["joined"] = "1"
    with pytest.raises(InvalidProblem, match="is '1': expected a number or a table"):
        gp.LabeledPartition(G)
    with pytest.raises(InvalidProblem, match="a multigraph"):
        gp.LabeledPartition(nx.MultiGraph(G))
    with pytest.raises(InvalidProblem, match="got int: expected a networkx graph"):
        gp.LabeledPartition(7)


def test_solutions_with_mistakes():
    q = small()
    with pytest.raises(InvalidPartition, match=r"classes have shape \(2,\): expected \(3,\)"):
        q.evaluate([0, 0, 1], [0, 1])
    with pytest.raises(InvalidPartition, match="the class of 1 is 2: expected 0 to 1"):
        q.evaluate([0, 0, 1], [0, 2, 0])
    with pytest.raises(InvalidPartition, match="2 has no class"):
        q.evaluate([0, 0, 1], {0: 0, 1: 1})
    with pytest.raises(InvalidProblem, match="classes are missing"):
        q.evaluate([0, 0, 1])
    r = q.require(apart=[(0, 1)])
    with pytest.raises(InvalidPartition, match="0 and 1 must not be together with the classes 0 and 1"):
        r.check([0, 0, 1], [0, 1, 0])


def test_requirements():
    q = small()
    assert gp.solve(q).labels.tolist() == [0, 0, 1]
    assert gp.solve(q, apart=[(0, 1)]).labels.tolist() == [0, 1, 2]
    assert gp.solve(q, together=[(0, 2)]).labels.tolist() == [0, 0, 0]
    assert gp.solve(q.require(groups=["x", "x", "y"])).labels.tolist() == [0, 1, 2]
    priced = q.require(groups=["x", "x", "y"], group_cost=2.5)
    assert priced.evaluate([0, 0, 1], [0, 1, 0]) == -0.5
    far = q.require(groups=["x", "y", "x"], group_cost=1.0)  # of a pair that is not listed
    assert far.m == 3 and far.evaluate([0, 0, 0], [0, 1, 0]) == -1.0
    for name, value in (("max_size", 2), ("n_clusters", 2), ("connected", True), ("lifted", ([(0, 2)], [1.0]))):
        with pytest.raises(InvalidProblem, match=f"{name} is given: a labelled partition can only require together"):
            q.require(**{name: value})
    with pytest.raises(InvalidOption, match=r"takes no togehter.*did you mean 'together'"):
        q.require(togehter=[(0, 1)])
    with pytest.raises(InfeasibleProblem, match=r"pair \(0, 1\) costs inf together and apart"):
        q.require(together=[(0, 1)], apart=[(1, 0)])


def test_what_is_shown():
    q = small()
    assert repr(q) == "<LabeledPartition: 3 elements, 2 classes, 2 pairs>"
    assert "costs of the classes" in q._repr_html_()
    r = gp.solve(q)
    assert repr(r).startswith("<LabeledResult: 2 clusters of 3 elements in 2 classes, cost -3")
    assert "classes" in r._repr_html_() and r.summary()["classes"] == 2
    assert r.labeling == {0: 0, 1: 1, 2: 0} and r.partition == [{0, 1}, {2}]
    assert r.to_frame()["class"].tolist() == [0, 1, 0]
    assert q.evaluate(r) == r.cost and len(r.changes(r)) == 0
