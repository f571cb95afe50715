"""Requirements are one value: constructors, `require` and `solve` take the same names and give the same problem."""

import inspect
import itertools
import pickle

import networkx as nx
import numpy as np
import pytest

import graphpart as gp
from graphpart.methods import METHODS, methods_for, required_by
from graphpart.partition.certificates.certificate import fingerprint
from graphpart.partition.problem.requirements import NAMES, Requirements

OPTIONS = {
    "together": {"together": [(0, 1)]},
    "apart": {"apart": [(2, 3)]},
    "groups": {"groups": [0, 1, 0, 1, 2, -1], "group_cost": 0.75},
    "max_size": {"max_size": 3},
    "n_clusters": {"n_clusters": (2, 4)},
}
COMBINATIONS = [
    {name: value for one in chosen for name, value in OPTIONS[one].items()}
    for size in range(len(OPTIONS) + 1)
    for chosen in itertools.combinations(OPTIONS, size)
]


def pairs(seed=0):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(6, 1)
    return u, v, np.round(rng.normal(size=len(u)), 2)


def graph(u, v, cost):
    G = nx.Graph()
    G.add_nodes_from(range(6))
    G.add_weighted_edges_from(zip(u.tolist(), v.tolist(), cost.tolist(), strict=True), "cost")
    return G


def obeys(labels, options):
    """By counting, without the code of requirements."""
    sizes = np.unique(labels, return_counts=True)[1]
    least, most = options.get("n_clusters", (1, 6))
    return (
        all(labels[a] == labels[b] for a, b in options.get("together", ()))
        and all(labels[a] != labels[b] for a, b in options.get("apart", ()))
        and sizes.max() <= options.get("max_size", 6)
        and least <= len(sizes) <= most
    )


def cost_of(u, v, cost, labels, options):
    total = sum(c for a, b, c in zip(u, v, cost, strict=True) if labels[a] == labels[b])
    group = options.get("groups", [-1] * 6)
    for a, b in itertools.combinations(range(6), 2):
        if group[a] == group[b] >= 0 and labels[a] == labels[b]:
            total += options["group_cost"]
    return total


def partitions(n):
    def extend(labels):
        if len(labels) == n:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extend([*labels, label])

    yield from extend([])


@pytest.mark.parametrize("options", COMBINATIONS, ids=lambda options: "+".join(options) or "none")
def test_constructors_require_and_solve_agree_with_enumeration(options):
    u, v, cost = pairs()
    best = min(cost_of(u, v, cost, x, options) for x in partitions(6) if obeys(x, options))
    for dense in (True, False):
        plain = gp.SetPartition.from_pairs(6, (u, v), cost, dense=dense)
        p = gp.SetPartition.from_pairs(6, (u, v), cost, dense=dense, **options)
        q = plain.require(**options)
        for one in (p, q, pickle.loads(pickle.dumps(p))):
            r = gp.solve(one, "brute-force")
            assert r.cost == pytest.approx(best, abs=1e-9) and obeys(r.labels, options)
            assert repr(one) == repr(p) and fingerprint(one) == fingerprint(p)
        assert gp.solve(plain, "brute-force", **options).cost == pytest.approx(best, abs=1e-9)
        assert plain._limits is None and not len(plain.must_join)  # it has not changed
    assert gp.solve(graph(u, v, cost), "exact", **options).cost == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("method", [m for m in methods_for("partition") if m.name != "search"], ids=lambda m: m.name)
def test_a_method_refuses_what_its_line_says_and_obeys_the_rest(method):
    for options in [*COMBINATIONS, {"connected": True}, {"lifted": ([(0, 5)], [-3.0])}]:
        u, v, cost = pairs(1)
        if "lifted" in options:
            u, v, cost = u[:-1], v[:-1], cost[:-1]
        p = gp.SetPartition.from_pairs(6, (u, v), cost, dense=False).require(**options)
        if method.refuses & required_by(p).keys():
            refused = rf"^method {method.name} cannot .* expected one of the methods auto"
            with pytest.raises(gp.InvalidProblem, match=refused) as caught:
                gp.solve(p, method.name)
            assert "\n" not in str(caught.value) and not method.takes(p)
        else:
            r = gp.solve(p, method.name)
            p._check_feasible(r.labels)
            assert method.takes(p) and obeys(r.labels, options) and r.lower_bound <= r.cost + 1e-9


def test_refusals_are_names_of_requirements():
    for method in METHODS:
        assert method.refuses <= set(NAMES)


def test_every_constructor_shows_the_requirements_that_it_takes():
    for name in ("from_pairs", "from_frame", "from_scipy", "from_igraph"):
        known = inspect.signature(getattr(gp.SetPartition, name)).parameters
        assert set(NAMES) <= set(known), name
    assert set(NAMES) <= set(inspect.signature(gp.SetPartition).parameters)
    assert set(NAMES) <= set(inspect.signature(gp.SetPartition.require).parameters)
    with pytest.raises(gp.InvalidOption, match="from_matrix takes no lifted"):
        gp.SetPartition.from_matrix(np.zeros((2, 2)), lifted=1)


def test_older_names_of_pairs_are_accepted_and_add_up():
    u, v, cost = pairs()
    p = gp.SetPartition.from_pairs(6, (u, v), cost, together=[(0, 1)], must_join=[(1, 2)], must_cut=[(3, 4)])
    assert p.must_join.tolist() == [[0, 1], [1, 2]] and p._must_cut.tolist() == [[3, 4]]
    assert Requirements.of({"must_join": [(0, 1)]}).together == [(0, 1)]


def test_generators_of_pairs_are_read_once():
    u, v, cost = pairs()
    p = gp.SetPartition.from_pairs(6, (u, v), cost, dense=True, groups=[0, 0, 1, 1, 2, 2], group_cost=1.0)
    q = p.require(pair for pair in [(0, 2), (1, 3)])
    assert q.must_join.tolist() == [[0, 2], [1, 3]]
    assert q.evaluate([0, 0, 1, 1, 2, 2]) == np.inf
    assert q.evaluate([0, 1, 0, 1, 2, 2]) == pytest.approx(p.evaluate([0, 1, 0, 1, 2, 2]))


def test_connectedness_is_required_afterwards():
    path = [(0, 1), (1, 2), (2, 3)]
    p = gp.SetPartition.from_pairs(4, path, [-1.0, 2.0, -1.0], dense=False)
    q = p.require(connected=True, lifted=None)
    assert q._connected and not q.lifted.any() and not p._connected
    r = p.require(lifted=([(0, 3)], [-9.0]))
    s = gp.SetPartition.from_pairs(4, path, [-1.0, 2.0, -1.0], lifted=([(0, 3)], [-9.0]))
    assert fingerprint(r) == fingerprint(s) and r.lifted.tolist() == s.lifted.tolist()
    assert gp.solve(p, lifted=([(0, 3)], [-9.0])).cost == -9.0
    assert gp.solve(p.require(connected=True, max_size=1)).cost == 0.0


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"group_cost": 1.0}, gp.InvalidOption, "group_cost is given without groups"),
        ({"max_size": 0}, gp.InvalidOption, "max_size is 0: expected a whole number of at least 1"),
        ({"n_clusters": (3, 2)}, gp.InvalidOption, "expected the least number first"),
        ({"together": [(0, 9)]}, gp.InvalidProblem, "9 is not a node of the problem"),
        ({"apart": (0, 1)}, gp.InvalidProblem, r"apart is one pair: expected a list of pairs, such as \[\(0, 1\)\]"),
        ({"connected": 1}, gp.InvalidOption, "connected is 1: expected True or False"),
        ({"together": [(0, 1)], "apart": [(0, 1)]}, gp.InfeasibleProblem, "must be cut, but required joins connect"),
        ({"together": [(0, 1), (1, 2)], "max_size": 2}, gp.InfeasibleProblem, "max_size is 2, but required joins"),
    ],
)
def test_errors_are_the_same_one_line_everywhere(options, error, says):
    u, v, cost = pairs()
    p = gp.SetPartition.from_pairs(6, (u, v), cost)
    G = graph(u, v, cost)
    for call in (
        lambda: gp.SetPartition.from_pairs(6, (u, v), cost, **options),
        lambda: gp.SetPartition(G, **options),
        lambda: p.require(**options),
        lambda: gp.solve(p, **options),
        lambda: gp.solve(G, **options),
    ):
        with pytest.raises(error, match=says) as caught:
            call()
        assert "\n" not in str(caught.value)


def test_pairs_listed_as_joined_connect_also_if_connectedness_is_required_afterwards():
    for dense in (False, True):
        p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-np.inf, 2.0, -1.0], dense=dense)
        q = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-np.inf, 2.0, -1.0], connected=True)
        r = pickle.loads(pickle.dumps(p)).require(max_size=4).require(together=[(2, 3)])
        assert fingerprint(p.require(connected=True)) == fingerprint(q)
        assert gp.solve(r.require(connected=True)).cost == -1.0
        with pytest.raises(gp.InvalidProblem, match="1 and 3 must be joined"):  # which is listed nowhere
            p.require(together=[(1, 3)]).require(connected=True)


def test_unlisted_costs_of_a_matrix_are_lifted_pairs_if_clusters_are_connected():
    """Only between elements that base pairs link."""
    for dense, more in itertools.product((False, True), ({}, {"groups": [0, 0, 1, 1]})):
        plain = {"n": 4, "pairs": [(0, 1), (1, 2)], "costs": [-1.0, 2.0], "missing": 0.5, **more}
        p = pickle.loads(pickle.dumps(gp.SetPartition.from_pairs(**plain, dense=dense))).require(connected=True)
        q = gp.SetPartition.from_pairs(**plain, connected=True)
        assert fingerprint(p) == fingerprint(q) and p.lifted.tolist() == [False, True, False]


@pytest.mark.parametrize("options", COMBINATIONS, ids=lambda options: "+".join(options) or "none")
def test_a_problem_as_a_graph_is_the_same_problem(options):
    u, v, cost = pairs(2)
    cost[3] = -np.inf
    for more in ({}, {"missing": 0.25}):
        p = gp.SetPartition.from_pairs(6, (u[1:], v[1:]), cost[1:], **options, **more)
        r = gp.solve(gp.SetPartition(p.graph), "brute-force")
        assert r.cost == pytest.approx(gp.solve(p, "brute-force").cost, abs=1e-9)
        assert p.evaluate(r.labels) == pytest.approx(r.cost, abs=1e-9)
        part = gp.SetPartition(p.graph.subgraph([1, 2, 3]), together=[(1, 3)])
        assert (1, 3) in {tuple(pair) for pair in np.array([1, 2, 3])[part.must_join].tolist()}


def test_a_problem_without_elements_has_no_cluster_too_few():
    for options in ({"n_clusters": 1}, {"n_clusters": (None, 3)}, {"max_size": 1}):
        assert gp.solve(nx.Graph(), **options).n_clusters == 0
    with pytest.raises(gp.InfeasibleProblem, match="n_clusters is 2, but there are 0 elements"):
        gp.solve(nx.Graph(), n_clusters=2)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"together": [(0, 9)]}, gp.InvalidProblem, r"^\(0, 9\) in together: 9 is not a node"),
        ({"nclusters": 2}, gp.InvalidOption, "did you mean 'n_clusters'"),
        ({"lifted": ([(0, 5)], [np.nan])}, gp.InvalidProblem, r"^lifted pair 0 is \(0, 5\) with cost nan"),
        ({"lifted": ([(0, 9)], [1.0])}, gp.InvalidProblem, r"^\(0, 9\) in lifted: 9 is not a node"),
        ({"lifted": ([0, 5], [1.0])}, gp.InvalidProblem, "^lifted is one pair"),
        ({"max_size": 0}, gp.InvalidOption, "^max_size is 0: expected a whole number of at least 1"),
        ({"n_clusters": 7}, gp.InfeasibleProblem, "n_clusters is 7, but there are 6 elements"),
        ({"groups": [0, 1]}, gp.InvalidProblem, "^groups has length 2: expected a group for each of 6 elements"),
    ],
)
def test_senseless_requirements_are_one_line(options, error, says):
    p = gp.SetPartition.from_pairs(6, [(0, 1), (1, 2)], [-1.0, 1.0], dense=False)
    with pytest.raises(error, match=says) as caught:
        gp.solve(p, **options)
    assert "\n" not in str(caught.value)


def test_factor_graphs_have_no_requirements_of_clusters():
    f = gp.FactorGraph()
    f.add_variable("x")
    for name in (*NAMES, "must_join"):
        with pytest.raises(gp.InvalidOption, match=f"^{name} is for clusters: a factor graph takes no requirements"):
            gp.solve(f, **{name: None})


def test_older_names_are_taken_everywhere():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, -1.0])
    q = p.require([(0, 1)], must_join=[(1, 2)], must_cut=[])
    assert q.must_join.tolist() == [[0, 1], [1, 2]]
    assert gp.solve(p, must_cut=[(0, 1)]).n_clusters == 2
