"""Doubts with costs of unlisted pairs, groups, limits and connectedness, against brute force over all partitions."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphpart as gp
from graphpart.partition import doubts
from graphpart.partition.problem import canonical


def all_labels(n: int) -> np.ndarray:
    rows: list[list[int]] = [[]]
    for _ in range(n):
        rows = [[*row, k] for row in rows for k in range(max(row, default=-1) + 2)]
    return np.array(rows, np.int32).reshape(len(rows), n)


ALL = {n: all_labels(n) for n in range(8)}


@st.composite
def problems(draw: st.DrawFn, most: int = 6) -> gp.SetPartition | None:
    """Problems of few elements with any requirements; None if they contradict."""
    n = draw(st.integers(1, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < draw(st.sampled_from([0.3, 0.6, 1.0]))
    pairs = np.stack([u[some], v[some]], 1)
    costs = rng.integers(-4, 4, len(pairs)).astype(float) if draw(st.booleans()) else rng.normal(0, 2, len(pairs))
    options: dict[str, Any] = {}
    if draw(st.sampled_from([False, False, True])):
        options["connected"] = True
        if draw(st.booleans()):
            rest = np.stack([u[~some], v[~some]], 1)
            options["lifted"] = (rest, rng.integers(-4, 4, len(rest)).astype(float))
    else:
        options["dense"] = draw(st.sampled_from([None, False]))
    options["missing"] = draw(st.sampled_from([0.0, 0.5, 1.0, -0.5]))
    if draw(st.sampled_from([False, False, True])):
        options["background"] = (draw(st.sampled_from([0.25, -0.25])), rng.integers(0, 3, n).astype(float))
    if draw(st.booleans()):
        options["groups"] = rng.integers(-1, 2, n)
        options["group_cost"] = draw(st.sampled_from([0.75, 2.0, math.inf]))
    if draw(st.booleans()):
        options["max_size"] = draw(st.integers(1, 4))
    if draw(st.sampled_from([False, False, True])):
        least = draw(st.integers(1, n))
        options["n_clusters"] = (least, draw(st.sampled_from([None, *range(least, n + 1)])))
    if n > 1 and draw(st.sampled_from([False, False, True])):
        a, b = (int(x) for x in rng.choice(n, 2, replace=False))
        options[draw(st.sampled_from(["together", "apart"]))] = [(a, b)]
    try:
        return gp.SetPartition.from_pairs(n, pairs, costs, **options)
    except gp.GraphPartError:
        return None


def rows(table: Any, *names: str) -> Iterator[tuple]:
    return zip(*(table[name].tolist() for name in names), strict=True)


def listed_pairs(p: gp.SetPartition) -> set[tuple[int, int]]:
    q = p if p._source is None else p._source
    u, v, _ = q._listed() if q.matrix is not None else q.pairs()
    return {(int(a), int(b)) for a, b in zip(u, v, strict=True)}


def check(p: gp.SetPartition, optimal: bool, method: str, pick: int) -> None:
    """All tables of doubts of one problem; with the best partition, or with any that is allowed."""
    costs = np.array([p._evaluate_labels(np.ascontiguousarray(row)) for row in ALL[p.n]])
    feasible = np.flatnonzero(costs < math.inf)
    if not len(feasible):
        return
    at = int(np.argmin(costs)) if optimal else int(feasible[pick % len(feasible)])
    labels, now, slack = ALL[p.n][at], float(costs[at]), 1e-9
    asked = None if pick % 3 else [(a, b) for b in range(p.n) for a in range(b)]
    d = doubts(p, labels, asked, method=method)
    assert d.cost == pytest.approx(now, abs=slack) and repr(d)
    listed = listed_pairs(p)
    assert set(rows(d.pairs, "left", "right")) == (listed if asked is None else set(asked))
    for a, b, joined, doubt, bound in rows(d.pairs, "left", "right", "joined", "doubt", "bound"):
        assert joined == (labels[a] == labels[b])
        other = costs[(ALL[p.n][:, a] == ALL[p.n][:, b]) != joined].min(initial=math.inf)
        assert doubt >= other - now - slack, (a, b)  # each bound is one
        if optimal and bound == "exact":
            assert doubt == other - now or doubt == pytest.approx(other - now, abs=slack), (a, b)
        assert not optimal or doubt >= 0
        assert method != "exact" or bound == "exact"
    assert not optimal or d.gain == 0
    classes = p._must_join_classes()
    linked = np.zeros((p.n, p.n), bool)
    for a, b in listed | set(asked or ()):
        linked[a, b] = linked[b, a] = True
    k = int(labels.max()) + 1
    assert sorted(d.elements["element"].tolist()) == list(range(p.n))

    def rise(changed: np.ndarray) -> float:
        return p._evaluate_labels(canonical(changed)) - now

    for a, to, doubt in rows(d.elements, "element", "to", "doubt"):
        mine = classes == classes[a]
        ways = {-1: rise(np.where(mine, k, labels))} if (labels[~mine] == labels[a]).any() else {}
        others = {int(labels[b]) for b in range(p.n) if linked[mine][:, b].any() and labels[b] != labels[a]}
        ways |= {target: rise(np.where(mine, target, labels)) for target in others}
        least = min(ways.values(), default=math.inf)
        assert doubt == least or doubt == pytest.approx(least, abs=slack)
        assert doubt == math.inf or ways[to] == pytest.approx(least, abs=slack)
    for cluster, size, change, other, leaving, doubt, bound in rows(
        d.clusters, "cluster", "size", "change", "other", "leaving", "doubt", "bound"
    ):
        mine = np.flatnonzero(labels == cluster)
        near = {int(labels[b]) for b in range(p.n) if linked[mine][:, b].any()} - {cluster}
        joins = {w: rise(np.where(labels == w, cluster, labels)) for w in near}
        splits = {}
        for side in range(1, 2 ** (len(mine) - 1)):
            away = mine[[bool(side >> i & 1) for i in range(len(mine))]]
            changed = labels.copy()
            changed[away] = k
            splits.setdefault(min(len(away), size - len(away)), []).append(rise(changed))
        least = min([*joins.values(), *(x for some in splits.values() for x in some)], default=math.inf)
        assert doubt >= least - slack
        if bound == "exact":
            assert doubt == least or doubt == pytest.approx(least, abs=slack)
        if change == "join":
            assert joins[other] == pytest.approx(doubt, abs=slack)
        elif change == "split":
            assert min(splits[min(leaving, size - leaving)]) <= doubt + slack


@given(problems(), st.booleans(), st.integers(0, 1000))
def test_exact_doubts_equal_brute_force_and_others_are_bounds(p: Any, optimal: bool, pick: int) -> None:
    if p is not None:
        check(p, optimal, "auto" if pick % 4 else "local-search", pick)


def scored(n: int, seed: int, **options: Any) -> gp.SetPartition:
    """A table of scores of n identifiers in clusters of about four, of which few pairs are listed."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, n // 4, n)
    u, v = rng.integers(0, n, (2, 40 * n))
    kept = (u < v) & ((truth[u] == truth[v]) | (rng.random(len(u)) < 0.05))
    keys = np.unique(u[kept] * n + v[kept])
    u, v = keys // n, keys % n
    score = 1 / (1 + np.exp(-rng.normal(np.where(truth[u] == truth[v], 1.5, -1.5), 1.5)))
    frame = {"a": [f"r{k}" for k in u.tolist()], "b": [f"r{k}" for k in v.tolist()], "score": score}
    return gp.SetPartition.from_frame(frame, "a", "b", probability="score", **options)


@pytest.mark.parametrize("n", [200, 1500])  # as a matrix, and as pairs
@pytest.mark.parametrize("group_cost", [None, 2.0, math.inf])
def test_what_large_tables_say_is_a_bound(n: int, group_cost: float | None) -> None:
    p = scored(n, n, missing=0.5)
    if group_cost is not None:
        p = p.require(groups=np.arange(p.n) % 3, group_cost=group_cost, max_size=6)
    r = gp.solve(p, time_limit=0.5)
    d = doubts(p, r)
    listed = {frozenset(pair) for pair in zip(p._origin.table.values("a"), p._origin.table.values("b"), strict=True)}
    assert {frozenset(pair) for pair in rows(d.pairs, "left", "right")} == listed  # none that nobody compared
    least = list(rows(d.pairs, "left", "right", "joined", "doubt", "bound"))[:3]
    for a, b, joined, doubt, bound in least:
        other = gp.solve(p.require(**{"apart" if joined else "together": [(a, b)]}), time_limit=0.5)
        assert doubt >= other.lower_bound - r.cost - 1e-6
        if bound == "exact" and other.status == r.status == "optimal":
            assert doubt == pytest.approx(other.cost - r.cost, abs=1e-6)
    shown = d[:10]
    assert len(shown["doubt"]) == 10 and "What is doubtful" not in repr(d)
    assert not np.isnan(shown["score"]).any()


def test_a_pair_that_nobody_compared_has_no_score() -> None:
    p = scored(40, 1, missing=0.3)
    r = gp.solve(p)
    listed = {frozenset(pair) for pair in zip(p._origin.table.values("a"), p._origin.table.values("b"), strict=True)}
    asked = [(a, b) for a in p.nodes[:8] for b in p.nodes[8:16]]
    new = [pair for pair in asked if frozenset(pair) not in listed]
    assert len(new) > 10
    d = doubts(p, r, new)
    for table in ("pairs", "decisions"):
        found = d.to_frame(table, "dict")
        assert np.isnan(found["score"]).all()
        assert len(found["cost"]) and found["cost"] == pytest.approx(0.3)


def test_a_negative_doubt_is_a_chance_above_one_half() -> None:
    frame = {"a": ["x", "y"], "b": ["y", "z"], "score": [0.9, 0.2]}
    p = gp.SetPartition.from_frame(frame, "a", "b", probability="score", missing=0.5)
    d = doubts(p, [0, 1, 2])
    assert d.decisions["doubt"][0] == pytest.approx(-math.log2(9)) and d.decisions["chance"][0] == pytest.approx(0.9)
    assert "or longer" in repr(d) and d.gain == pytest.approx(math.log2(9))


def test_pixels_are_named_by_row_and_column() -> None:
    p = gp.SetPartition.from_affinities(np.full((2, 3, 4), 0.8), [(1, 0), (0, 1)])
    d = doubts(p, np.repeat([0, 1], 6))
    places = {tuple(place) for name in ("left", "right") for place in d.to_frame(library="dict")[name]}
    assert places <= {(row, column) for row in range(3) for column in range(4)} and (1, 2) in places
    assert all(len(place) == 2 for place in d.to_frame("elements", "dict")["element"])
    assert d.pairs["left"].dtype.kind == "i"


@pytest.mark.parametrize("options", [{"max_size": 3}, {"n_clusters": 5}, {"connected": True}, {"missing": 0.5}])
def test_no_pairs_and_no_elements(options: dict[str, Any]) -> None:
    for n in (0, 1, 5):
        try:
            p = gp.SetPartition.from_pairs(n, np.zeros((0, 2), int), [], **options)
        except gp.InfeasibleProblem:
            continue
        d = doubts(p, np.arange(n))
        assert d.pairs.rows == 0 and d.elements.rows == d.clusters.rows == n and d.gain == 0 and repr(d)


def test_branch_and_cut_with_a_background() -> None:
    p = scored(60, 2, missing=0.5, dense=False)
    r = gp.partition.exact(p)
    asked = list(rows(doubts(p, r, method="local-search").pairs, "left", "right"))[:4]
    d = doubts(p, r, asked, method="exact")
    for a, b, joined, doubt, bound in rows(d.pairs, "left", "right", "joined", "doubt", "bound"):
        other = gp.partition.exact(p.require(**{"apart" if joined else "together": [(a, b)]}))
        assert bound == "exact" and doubt == pytest.approx(other.cost - r.cost, abs=1e-6)
