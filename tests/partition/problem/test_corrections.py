"""Corrections: further requirements, starts that violate them, clusters that keep their numbers, what has changed."""

import itertools
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from corrections import random_problem
from trials import trials

import graphpart as gp
from graphpart.partition.results.starts import repaired_start, start_of


def test_require_is_what_its_words_say():
    for problem in filter(None, map(random_problem, range(300))):
        p, q, (together, apart, demands), rng = problem
        labels = rng.integers(0, 3, p.n)
        groups, price = demands.get("groups", np.full(p.n, -1)), demands.get("group_cost", math.inf)
        paid = sum(
            groups[a] == groups[b] >= 0 for a, b in itertools.combinations(range(p.n), 2) if labels[a] == labels[b]
        )
        sizes = np.unique(labels, return_counts=True)[1]
        least, most = demands.get("n_clusters", (1, p.n))
        fits = (
            all(labels[a] == labels[b] for a, b in together)
            and all(labels[a] != labels[b] for a, b in apart)
            and sizes.max() <= demands.get("max_size", p.n)
            and least <= len(sizes) <= most
        )
        expected = p.evaluate(labels) + (price * paid if paid else 0.0) if fits else math.inf
        assert q.evaluate(labels) == pytest.approx(expected)
        assert q.u is None or apart or q.u is p.u


def test_starts_are_repaired():
    found = 0
    for problem in filter(None, map(random_problem, range(600))):
        _, q, _, rng = problem
        labels = gp.SetPartition.labels(q, rng.integers(0, 3, q.n))
        try:
            repaired, moved = repaired_start(q, labels)
        except gp.InvalidPartition:  # see below
            continue
        q._check_feasible(repaired)
        assert (moved == 0) == math.isfinite(q._evaluate_labels(labels))
        assert moved == 0 or moved <= q.n
        found += moved > 0
    assert found > 50


@pytest.mark.parametrize(
    ("start", "kept"),
    [
        ([0, 0, 0, 0, 1], [{0, 2, 3}, {1}, {4}]),  # one of two that are apart leaves
        ([0, 1, 2, 0, 1], [{0, 3}, {1, 4}, {2}]),  # nothing to repair
    ],
)
def test_repairs_move_few(start, kept):
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (1, 4)]
    p = gp.SetPartition.from_pairs(5, pairs, [1.0, -1.0, -1.0, 0.5, -1.0, -1.0], must_cut=[(0, 1)], dense=False)
    labels, moved = repaired_start(p, start)
    assert moved == (1 if start == [0, 0, 0, 0, 1] else 0)
    assert [set(np.flatnonzero(labels == k).tolist()) for k in range(3)] == kept


def test_a_corrected_problem_is_solved_from_the_old_result():
    rng = np.random.default_rng(3)
    pairs = np.array(list(itertools.combinations(range(30), 2)))
    same = pairs[:, 0] // 5 == pairs[:, 1] // 5
    costs = np.where(same, -1.0, 1.0) + rng.normal(size=len(pairs)) * 0.1
    names = [f"e{i}" for i in range(30)]
    p = gp.SetPartition.from_pairs(30, pairs, costs, nodes=names)
    r = gp.solve(p, initial=dict(zip(names, (5 - np.arange(30) // 5).tolist(), strict=True)))
    q = p.require(together=[("e0", "e29")], apart=[("e10", "e11")])
    s = gp.solve(q, initial=r)
    assert "the start violated what is required and was repaired: 2 elements moved" in s.message
    frame = s.changes(r)
    assert set(frame.columns) == {"element", "before", "after", "reason"} and set(frame["reason"]) == {"required"}
    unmoved = ~np.isin(names, frame["element"].tolist())
    assert (s.labels[unmoved] == r.labels[unmoved]).all() and 2 <= len(frame) <= 3
    assert s.n_clusters == len(s.partition) == len(set(s.labels.tolist()))
    assert len(r.changes(r)) == 0
    assert gp.solve(p, initial=s).changes(r).empty


def test_changes_of_other_elements():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [-1.0, -1.0], nodes=list("abcd"))
    q = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2)], [-1.0, -1.0], nodes=list("baef"))
    frame = gp.solve(q).changes(gp.solve(p))
    assert frame.to_dict("list") == {
        "element": ["e", "f", "c", "d"],
        "before": [-1, -1, 1, 1],
        "after": [0, 1, -1, -1],
        "reason": ["new elements", "new elements", "gone", "gone"],
    }


def test_a_start_that_cannot_be_repaired_is_one_line():
    p = gp.SetPartition.from_pairs(4, [(0, 1)], [-1.0], dense=False).require(apart=[(0, 1), (1, 2), (0, 2)])
    with pytest.raises(gp.InvalidPartition, match=r"there are 3 clusters: .* the start cannot be repaired"):
        repaired_start(p.require(n_clusters=2), [0, 1, 2, 2])


@pytest.mark.parametrize(
    ("demands", "error", "says"),
    [
        ({"together": [("a", 1)]}, gp.InvalidProblem, "'a' is not a node of the problem"),
        ({"apart": [(1, 1)]}, gp.InvalidProblem, r"\(1, 1\) in apart: expected two different elements"),
        ({"together": [(1, 2)], "apart": [(1, 2)]}, gp.InfeasibleProblem, "1 and 2 must be cut, but required joins"),
        ({"n_clusters": 5}, gp.InfeasibleProblem, "n_clusters is 5, but there are 4 elements"),
        (
            {"n_clusters": 4, "together": [(0, 1)]},
            gp.InfeasibleProblem,
            "but there are 3 sets of elements that must be",
        ),
        ({"n_clusters": (2, 1)}, gp.InvalidOption, "expected the least number first"),
        ({"n_clusters": 1.5}, gp.InvalidOption, "n_clusters is 1.5: expected a whole number of at least 1, or"),
        ({"max_size": 0}, gp.InvalidOption, "max_size is 0: expected a whole number of at least 1"),
        (
            {"max_size": 1, "together": [(0, 3)]},
            gp.InfeasibleProblem,
            "max_size is 1, but required joins connect 0 and",
        ),
        ({"max_size": 1, "n_clusters": 2}, gp.InfeasibleProblem, "2 clusters of at most 1 element hold 2 of 4"),
        ({"groups": [0] * 4, "n_clusters": 3}, gp.InfeasibleProblem, "group 0 has 4 elements, of which a cluster has"),
        ({"groups": [0, 1]}, gp.InvalidProblem, "groups has length 2: expected a group for each of 4 elements"),
        ({"groups": {9: 1}}, gp.InvalidProblem, "groups has a group for 9, which is no element of the problem"),
        ({"groups": [0] * 4, "group_cost": -1}, gp.InvalidProblem, "group_cost is -1: expected a price of at least 0"),
        ({"groups": [0] * 4, "group_cost": math.nan}, gp.InvalidProblem, "group_cost is nan: expected a price"),
        ({"groups": [0] * 4, "group_cost": [1, 2]}, gp.InvalidProblem, "group_cost has 2 prices for 1 grouping"),
        ({"groups": [0, set(), 1, 0]}, gp.InvalidProblem, r"the group of 1 is set\(\), which cannot be hashed"),
        ({"groups": "source"}, gp.InvalidProblem, "groups is 'source': expected a group for each element"),
        ({"group_cost": 2.0}, gp.InvalidOption, "group_cost is given without groups"),
        (
            {"groups": ["x", "y", "z", "x"], "together": [(0, 3)]},
            gp.InfeasibleProblem,
            "0 and 3 are both in group 'x', of which a cluster has at most one, but required joins connect them",
        ),
    ],
)
@pytest.mark.parametrize("dense", [True, False])
def test_wrong_requirements_are_one_line(demands, error, says, dense):
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -3.0], dense=dense)
    with pytest.raises(error, match=says) as caught:
        p.require(**demands)
    assert "\n" not in str(caught.value)


def test_number_of_clusters_of_large_starts():
    """Far more clusters than there may be, and far fewer: what would take minutes if it were quadratic."""
    n = 20_000
    p = gp.SetPartition.from_pairs(n, [(0, 1)], [-1.0], n_clusters=(1, 5), max_size=n // 4)
    labels = start_of(p, np.arange(n))
    assert labels.max() < 5
    p._check_feasible(labels)
    p = gp.SetPartition.from_pairs(n, [(0, 1)], [-1.0], n_clusters=(n // 2, None))
    labels = start_of(p, np.zeros(n, int))
    assert labels.max() + 1 == n // 2


@pytest.mark.parametrize("seed", range(trials(30)))
def test_a_result_stays_near_its_start_where_that_costs_nothing(seed):
    rng = np.random.default_rng(seed)
    n = 9
    pairs = np.array([pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.5])
    p = gp.SetPartition.from_pairs(n, pairs, rng.integers(-1, 2, len(pairs)).astype(float))  # many ties
    best = gp.partition.brute_force(p)
    r = gp.solve(p, "exact")
    assert gp.solve(p, initial=r).changes(r).empty  # nothing is better
    a, b = (int(k) for k in rng.choice(n, 2, replace=False))
    q = p.require(**{"apart" if r.labels[a] == r.labels[b] else "together": [(a, b)]})
    s = gp.solve(q, "exact", initial=r)
    assert s.cost == q._evaluate_labels(s.labels) == gp.partition.brute_force(q).cost and r.cost == best.cost
    assert s.lower_bound <= s.cost and s.history[-1][1] == s.cost
    assert [cost for _, cost in s.history] == sorted((cost for _, cost in s.history), reverse=True)
    frame = s.changes(r)
    # What does not follow from the requirement would have lowered the cost of the optimum.
    assert set(frame["reason"]) <= {"required"}


def test_changes_that_do_not_follow_from_what_is_required():
    pairs = [(0, 1), (1, 2), (3, 4), (4, 5), (6, 7)]
    p = gp.SetPartition.from_pairs(8, pairs, [-2.0, -3.0, -1.0, -4.0, -1.0])
    old = gp.solve(p)
    old = replace(old, labels=np.array([0, 0, 0, 1, 2, 2, 3, 3], np.int32), cost=-10.0)
    s = gp.solve(p.require(apart=[(0, 1)]), initial=old)
    assert s.changes(old).to_dict("list") == {
        "element": [0, 3],
        "before": [0, 1],
        "after": [4, 2],
        "reason": ["required", "lower cost"],
    }
    lost = pickle.loads(pickle.dumps(s))
    assert set(lost.changes(old)["reason"]) == {"not known"}


def test_what_only_removed_elements_linked_falls_apart():
    pairs, costs = [(0, 1), (1, 2), (3, 4), (0, 3)], [-1.0, -1.0, -1.0, 1.0]
    old = gp.solve(gp.SetPartition.from_pairs(5, pairs, costs, list("abcde")))
    assert sorted(map(sorted, old.partition)) == [["a", "b", "c"], ["d", "e"]]
    rest = gp.SetPartition.from_pairs(4, [(2, 3), (0, 2)], [-1.0, 1.0], list("acde"), dense=False)
    r = gp.solve(rest, initial=old)
    assert sorted(map(sorted, r.partition)) == [["a"], ["c"], ["d", "e"]]
