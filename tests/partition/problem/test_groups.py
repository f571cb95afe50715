"""Groups: costs, contraction, restriction and requirements against sums over all pairs."""

import copy
import math
import pickle

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import SetPartition, canonical
from graphpart.partition.problem.groups import Groups, groups_of
from graphpart.partition.problem.limits import limits_of
from graphpart.partition.problem.rules import Rules


def random_problem(seed, largest=9, dense=None, prices=(0.0, 0.5, 1.75, math.inf), missing=None):
    """A problem with two groupings and the matrix of its costs, made pair by pair."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, largest + 1))
    u, v = np.triu_indices(n, 1)
    kept = rng.random(len(u)) < 0.6
    u, v, cost = u[kept], v[kept], np.round(rng.normal(size=int(kept.sum())) * 8) / 8
    missing = float(rng.choice([0.0, 0.25])) if missing is None else missing
    groupings = [rng.integers(-1, 3, n), np.array(["a", "b", "", "c"])[rng.integers(0, 4, n)]]
    price = rng.choice(prices, 2).tolist()
    matrix = np.full((n, n), missing)
    matrix[u, v] = matrix[v, u] = cost
    for grouping, p in zip(groupings, price, strict=True):
        for a in range(n):
            for b in range(n):
                if p and grouping[a] == grouping[b] and grouping[a] not in (-1, ""):
                    matrix[a, b] += p
    matrix[np.diag_indices(n)] = 0.0
    groups = groups_of(range(n), groupings, price)
    dense = bool(rng.integers(2)) if dense is None else dense
    return SetPartition.from_pairs(n, (u, v), cost, dense=dense, missing=missing, groups=groups), matrix, rng


def cost_of(matrix, labels):
    return sum(matrix[a, b] for b in range(len(labels)) for a in range(b) if labels[a] == labels[b])


@pytest.mark.parametrize("seed", range(trials(60)))
def test_groups_against_sums_over_pairs(seed):
    p, matrix, rng = random_problem(seed)
    n = p.n
    assert np.array_equal(p._to_dense().matrix, matrix)
    for _ in range(10):
        labels = canonical(rng.integers(0, n, n))
        assert p._evaluate_labels(labels) == cost_of(matrix, labels)
        hard = any(matrix[a, b] == math.inf for b in range(n) for a in range(b) if labels[a] == labels[b])
        if hard:
            with pytest.raises(gp.InvalidPartition, match="of which a cluster has at most one"):
                p._check_feasible(labels)
        else:
            p._check_feasible(labels)
            c = Contraction(p, labels)
            other = canonical(rng.integers(0, n, c.problem.n))
            assert c.problem._evaluate_labels(other) + c.constant == pytest.approx(cost_of(matrix, c.lift(other)))
            assert c.problem._has_must_cut == (np.isinf(c.problem._to_dense().matrix).any())
        elements = np.flatnonzero(rng.random(n) < 0.7)
        part = p._restrict(elements)
        assert np.array_equal(part._to_dense().matrix, matrix[np.ix_(elements, elements)])
    finite = np.where(np.isinf(matrix), 0.0, np.abs(matrix))
    assert p._has_must_cut == np.isinf(matrix).any()
    assert p._magnitude >= finite.sum(axis=1).max() * (1 - 1e-12)
    if p.background is not None:
        a, b = np.triu_indices(n, 1)
        listed = np.zeros((n, n))
        listed[p.u, p.v] = p.cost
        assert np.array_equal(listed[a, b] + p.background.of_pairs(a, b), matrix[a, b])
    assert gp.partition.brute_force(p).cost == gp.partition.brute_force(SetPartition._of_matrix(range(n), matrix)).cost


@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # many of few costs are required cuts
@pytest.mark.parametrize("seed", range(trials(20)))
def test_groups_survive_pickling_graphs_and_splitting(seed):
    p, _matrix, rng = random_problem(seed, dense=seed % 2 == 0)
    for q in (pickle.loads(pickle.dumps(p)), copy.deepcopy(p), SetPartition(p.graph, dense=p.is_dense)):
        assert q.groups == p.groups and q.is_dense == p.is_dense and q.background == p.background
        labels = canonical(rng.integers(0, 2, p.n))
        assert q._evaluate_labels(labels) == p._evaluate_labels(labels)
    component = p._components()
    best = gp.partition.brute_force(p)
    for part in best.partition:
        assert len({component[a] for a in part}) == 1


def test_members_of_a_group_do_not_connect():
    p = SetPartition.from_pairs(4, [(0, 1)], [-1.0], dense=False,
                              groups=groups_of(range(4), [0, 1, 0, 1], 2.0))  # fmt: skip
    assert p._components().tolist() == [0, 0, 1, 2]
    assert p._has_must_cut is False and p.background.repels and p.background.constant is None
    assert gp.solve(p).cost == -1.0


def test_a_large_group_takes_memory_for_members_only():
    n = 200_000
    half = np.arange(n) % (n // 2)
    p = SetPartition.from_pairs(n, (half[: n // 2], half[: n // 2] + n // 2), np.full(n // 2, -1.0),
                              groups=groups_of(range(n), np.arange(n) // (n // 2)))  # fmt: skip
    assert p._evaluate_labels(half.astype(np.int32)) == -n / 2
    assert p._evaluate_labels(np.zeros(n, np.int32)) == math.inf
    assert p._contract(half.astype(np.int32)).groups is not None


def test_required_joins_of_one_group_name_both_and_the_group():
    groups = groups_of(["a", "b", "c"], {"a": "crm", "c": "crm"})
    for dense in (True, False):
        with pytest.raises(gp.InfeasibleProblem, match=r"'a' and 'c' are both in group 'crm'.*required joins"):
            SetPartition.from_pairs(3, [], [], ["a", "b", "c"], together=[("a", "b"), ("b", "c")],
                                  dense=dense, groups=groups)  # fmt: skip


def test_repr_says_what_groups_cost():
    assert repr(Groups(2, [0, 1], [0, 0], [1, 1], [math.inf])) == ("1 group with 2 members, at most one in a cluster")


@pytest.mark.parametrize("seed", range(trials(30)))
def test_limits_are_evaluated_and_kept(seed):
    p, _matrix, rng = random_problem(seed, dense=seed % 2 == 0)
    limits = limits_of(3, (1, int(rng.integers(p.n // 3 + 1, p.n + 1)) + 1))
    u, v, cost = p.pairs()
    q = SetPartition._of_pairs(range(p.n), u, v, cost, rules=Rules(limits=limits), dense=p.is_dense)
    for r in (q, pickle.loads(pickle.dumps(q)), q._to_dense()):
        labels = canonical(rng.integers(0, p.n, p.n))
        fits = np.bincount(labels).max() <= 3 and labels.max() + 1 <= limits.most
        assert math.isinf(r._evaluate_labels(labels)) <= (not fits or math.isinf(p._evaluate_labels(labels)))
        small = r._contract(labels)
        assert small._sizes.tolist() == np.bincount(labels).tolist() and small._limits == limits
    assert q._restrict(np.arange(p.n - 1))._limits == limits_of(3, None)
    assert (q._components() == 0).all()


@pytest.mark.parametrize("dense", [False, True])
def test_graphs_name_their_elements(dense):
    nx = pytest.importorskip("networkx")
    pairs, weights = [(0, 1), (1, 2), (2, 3)], [1.0, 2.0, 3.0, 4.0]
    p = SetPartition.from_pairs(
        4, pairs, [-1.0] * 3, "abcd", groups=[0, 0, -1, -1], background=(0.1, weights), dense=dense
    )
    other = nx.Graph()
    other.graph.update(p.graph.graph)
    other.add_nodes_from("cdab")
    other.add_edges_from(p.graph.edges(data=True))
    q = SetPartition(other)
    for labels in ([{"a"}, {"b", "c", "d"}], [{"a", "b"}, {"c", "d"}]):
        assert q.evaluate(labels) == p.evaluate(labels)
    part = SetPartition(p.graph.subgraph(["c", "d"]))
    assert part.groups is None
    assert part.evaluate([0, 0]) == pytest.approx(-1.0 + 0.1 * 3.0 * 4.0)
    other = nx.Graph()
    other.graph["groups"] = p.graph.graph["groups"]
    other.add_nodes_from("abx")
    with pytest.raises(gp.InvalidProblem, match="groups does not name the node 'x'"):
        SetPartition(other)


def test_listed_zeros_that_a_background_changes():
    p = SetPartition.from_pairs(3, [(0, 1), (1, 2)], [0.0, -1.0], background=(1.0, np.ones(3)))
    assert [x.tolist() for x in p._listed()] == [[0, 0], [1, 2], [1.0, 1.0]]  # each pair once
    q = p.require(groups=[0, -1, 0], group_cost=5.0)
    assert p.evaluate([0, 0, 1]) == q.evaluate([0, 0, 1]) == 1.0


def test_arguments_that_look_like_others():
    def groups(n, *arguments):
        return groups_of(range(n), *arguments)

    assert groups(2, [0, 0], np.array(2.0)).price.tolist() == [2.0]
    pd = pytest.importorskip("pandas")
    assert groups(2, [[0, 0], [1, 1]], pd.Series([2.0, 3.0])).price.tolist() == [2.0, 3.0]
    with pytest.raises(gp.InvalidOption, match="group_cost is given without groups"):
        SetPartition.from_pairs(2, [(0, 1)], [-1.0], group_cost=-math.inf)
    assert groups(3, [("a", 1), ("a", 1), ("b", 2)]).group.tolist() == [0, 0]  # names of groups
    with pytest.raises(gp.InvalidProblem, match="2 tuples of length 2"):
        groups(2, [("a", 1), ("a", 1)])
    assert len(groups(2, [("a", "a"), ["b", "b"]])) == 2


@pytest.mark.parametrize("dense", [False, True])
def test_requirements_lift_limits(dense):
    p = SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, -1.0], groups=[0, -1, 0], dense=dense)
    q = p.require(n_clusters=2, max_size=2)
    assert q.require(n_clusters=(1, None))._limits == limits_of(2, None)
    assert q.require(max_size=3)._limits == limits_of(3, 2)
    free = p.require(n_clusters=3).require(n_clusters=(1, None))
    assert free._limits is None
    assert free.evaluate([0, 1, 1]) == -1.0


def test_limits_of_nothing():
    assert SetPartition.from_pairs(0, np.zeros((0, 2), int), [], max_size=3)._limits == limits_of(3, None)
