"""Doubts against brute force over all partitions, and what local search and branch and cut say of them."""

import importlib
import itertools
import math
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.partition import doubts


def all_labels(n: int) -> np.ndarray:
    """All partitions of n elements as rows of canonical labels."""
    rows: list[list[int]] = [[]]
    for _ in range(n):
        rows = [[*row, k] for row in rows for k in range(max(row, default=-1) + 2)]
    return np.array(rows, np.int32).reshape(len(rows), n)


ALL = {n: all_labels(n) for n in range(8)}


class Brute:
    """All partitions of a problem, and their costs by its pairs one by one."""

    def __init__(self, p: gp.SetPartition) -> None:
        self.labels = ALL[p.n]
        self.cost = np.zeros(len(self.labels))
        for a, b, c in zip(*(x.tolist() for x in p.pairs()), strict=True):
            same = self.labels[:, a] == self.labels[:, b]
            self.cost[same] += c
        for a, b in p.must_join.tolist():
            self.cost[self.labels[:, a] != self.labels[:, b]] = math.inf

    def otherwise(self, a: int, b: int, joined: bool) -> float:
        other = (self.labels[:, a] == self.labels[:, b]) != joined
        return float(self.cost[other].min(initial=math.inf))


def problem(rng: np.random.Generator, n: int, requirements: bool = True) -> gp.SetPartition:
    kind = rng.integers(4)
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < rng.choice([0.4, 0.7, 1.0])
    costs = rng.integers(-3, 4, len(u)).astype(float) if kind < 2 else rng.normal(0, 1, len(u))
    if kind == 3:
        costs *= rng.choice([1e-150, 1e150])
    joins, cuts = [], []
    if requirements and n > 1 and rng.random() < 0.3:
        hidden = rng.integers(0, 2, n)
        a, b = (int(x) for x in rng.choice(n, 2, replace=False))
        (joins if hidden[a] == hidden[b] else cuts).append((a, b))
    dense = bool(rng.random() < 0.5)
    pairs = np.stack([u[some], v[some]], 1)
    return gp.SetPartition.from_pairs(n, pairs, costs[some], must_join=joins, must_cut=cuts, dense=dense)


def rows(table: Mapping[str, np.ndarray], *names: str) -> Iterator[tuple]:
    return zip(*(table[name].tolist() for name in names), strict=True)


def scale_of(p: gp.SetPartition) -> float:
    return 1e-12 * max(p._magnitude, 1e-300)


def test_pairs_elements_and_clusters_equal_brute_force() -> None:
    rng = np.random.default_rng(11)
    for case in range(trials(1000)):
        p = problem(rng, int(rng.integers(1, 7)))
        brute = Brute(p)
        optimal = bool(rng.random() < 0.6)
        feasible = np.flatnonzero(brute.cost < math.inf)
        at = int(np.argmin(brute.cost)) if optimal else int(rng.choice(feasible))
        labels, now = brute.labels[at], float(brute.cost[at])
        if not optimal and p._components().max(initial=0) > 0:
            continue  # what is gained in another component does not count
        d = doubts(p, labels)
        slack = scale_of(p)
        pairs = d.pairs
        assert pairs.rows == _linked(p).sum() // 2, case
        assert (pairs["bound"] == "exact").all(), case
        assert d.status == gp.Status.OPTIMAL
        for a, b, joined, doubt in rows(pairs, "left", "right", "joined", "doubt"):
            assert joined == (labels[a] == labels[b])
            expected = brute.otherwise(a, b, joined) - now
            assert doubt == pytest.approx(expected, abs=slack), (case, a, b)
            assert not optimal or doubt >= 0
        best = float(brute.cost.min())
        assert d.gain == pytest.approx(now - best, abs=slack), case
        _check_elements(p, labels, now, d, slack)
        _check_clusters(p, labels, now, d, slack)
        for table in (d.pairs, d.elements, d.clusters):
            assert np.array_equal(np.sort(table["doubt"]), table["doubt"])


def _linked(p: gp.SetPartition) -> np.ndarray:
    u, v, _ = p._listed()
    linked = np.zeros((p.n, p.n), bool)
    linked[u, v] = linked[v, u] = True
    return linked


def _check_elements(p: gp.SetPartition, labels: np.ndarray, now: float, d: gp.partition.Doubts, slack: float) -> None:
    linked, blocks = _linked(p), p._must_join_classes()
    k = int(labels.max(initial=-1)) + 1
    assert sorted(d.elements["element"].tolist()) == list(range(p.n))
    for a, to, doubt in rows(d.elements, "element", "to", "doubt"):
        mine = blocks == blocks[a]
        expected = {}
        for target in range(k + 1):
            moved = np.where(mine, target, labels)
            if (moved == labels).all() or (target < k and not linked[mine][:, labels == target].any()):
                continue
            if target == k and mine.sum() == (labels == labels[a]).sum():
                continue
            expected[target if target < k else -1] = p.evaluate(moved) - now
        least = min(expected.values(), default=math.inf)
        assert doubt == pytest.approx(least, abs=slack)
        if expected and doubt < math.inf:
            assert expected[to] == pytest.approx(least, abs=slack)


def _check_clusters(p: gp.SetPartition, labels: np.ndarray, now: float, d: gp.partition.Doubts, slack: float) -> None:
    linked = _linked(p)
    found = rows(d.clusters, "cluster", "size", "change", "other", "leaving", "doubt")
    assert sorted(d.clusters["cluster"].tolist()) == list(range(int(labels.max(initial=-1)) + 1))
    for cluster, size, change, other, leaving, doubt in found:
        mine = np.flatnonzero(labels == cluster)
        assert size == len(mine)
        joins = {
            w: p.evaluate(np.where(labels == w, cluster, labels)) - now
            for w in range(int(labels.max()) + 1)
            if w != cluster and linked[mine][:, labels == w].any()
        }
        splits = {}
        for side in range(1, 2 ** (size - 1)):
            away = mine[[bool(side >> i & 1) for i in range(size)]]
            split = labels.astype(int).copy()
            split[away] = 99
            splits.setdefault(min(len(away), size - len(away)), []).append(p.evaluate(split) - now)
        least = min([*joins.values(), *(x for group in splits.values() for x in group)], default=math.inf)
        assert doubt == pytest.approx(least, abs=slack)
        if doubt == math.inf:
            assert change == "none" and other == -1
        elif change == "join":
            assert joins[other] == pytest.approx(least, abs=slack)
        else:
            assert leaving * (size - leaving) > 0 and min(splits.get(min(leaving, size - leaving), [])) >= least - slack


def test_local_search_is_an_upper_bound_and_never_negative_at_an_optimum() -> None:
    rng = np.random.default_rng(12)
    equal = total = 0
    for case in range(400):
        p = problem(rng, int(rng.integers(2, 8)))
        r = gp.partition.brute_force(p)
        exact, local = doubts(p, r), doubts(p, r, method="local-search")
        by_name = {(a, b): x for a, b, x in rows(exact.pairs, "left", "right", "doubt")}
        slack = scale_of(p)
        for a, b, doubt, how in zip(
            *(local.pairs[k].tolist() for k in ("left", "right", "doubt", "bound")), strict=True
        ):
            assert doubt >= by_name[a, b] - slack, (case, a, b)
            assert doubt >= 0 and (how == "at most" or doubt == math.inf)
            total += 1
            equal += doubt <= by_name[a, b] + slack
        assert (local.clusters["doubt"] >= 0).all() and (local.elements["doubt"] >= 0).all()
        assert local.gain == exact.gain == 0
    assert equal > 0.9 * total, (equal, total)


def test_others_follow_a_change() -> None:
    # 1 and 2 belong together; moving 1 to 0 costs 2, moving both costs 1.
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (1, 3), (2, 3)], [1.0, -3.0, -1.0, -1.0])
    q = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [1.0, -5.0, -2.0, -1.5])
    for problem_ in (p, q):
        r = gp.partition.brute_force(problem_)
        exact, local = (doubts(problem_, r, method=method) for method in ("auto", "local-search"))
        assert local.pairs["doubt"].tolist() == exact.pairs["doubt"].tolist()


@pytest.mark.parametrize("work", [2.0**13, 2.0**8, 1.0])
def test_bounds_hold_where_few_pairs_are_followed_or_exact(work, monkeypatch) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        u, v = np.triu_indices(9, 1)
        some = rng.random(len(u)) < 0.5
        p = gp.SetPartition.from_pairs(9, (u[some], v[some]), rng.normal(size=some.sum()), missing=0.3 * (seed % 2))
        r = gp.partition.exact(p)
        least = rises_of(doubts(p, r, method="exact"))
        monkeypatch.setattr("graphpart.partition.confidence.changes.WORK", work)
        for method in ("local-search", "auto"):
            d = doubts(p, r, method=method)
            for (pair, rise), bound in zip(rises_of(d).items(), d.pairs["bound"].tolist(), strict=True):
                assert rise > least[pair] - 1e-9 and (
                    bound == "at most" or rise == pytest.approx(least[pair], abs=1e-9)
                )
        monkeypatch.undo()


def rises_of(d):
    return dict(
        zip(
            zip(d.pairs["left"].tolist(), d.pairs["right"].tolist(), strict=True),
            d.pairs["doubt"].tolist(),
            strict=True,
        )
    )


def test_branch_and_cut_for_larger_components() -> None:
    rng = np.random.default_rng(13)
    n = 17  # beyond what is exact by itself
    for _ in range(2):
        costs = np.triu(np.round(rng.normal(0, 2, (n, n))), 1) * (rng.random((n, n)) < 0.4)
        p = gp.SetPartition.from_matrix(costs + costs.T, dense=False)
        r = gp.partition.exact(p)
        plain = doubts(p, r)
        asked = list(zip(plain.pairs["left"].tolist(), plain.pairs["right"].tolist(), strict=True))[:6]
        d = doubts(p, r, asked, method="exact")
        assert d.pairs.rows == 6 and (d.pairs["bound"] == "exact").all() and d.status == gp.Status.OPTIMAL
        for a, b, joined, doubt in zip(
            *(d.pairs[k].tolist() for k in ("left", "right", "joined", "doubt")), strict=True
        ):
            required = {"must_cut" if joined else "must_join": [(a, b)]}
            changed = gp.SetPartition.from_pairs(n, np.stack(p.pairs()[:2], 1), p.pairs()[2], **required)
            assert doubt == pytest.approx(gp.partition.ilp(changed).cost - r.cost, abs=1e-6)
            assert doubt >= 0
        some = doubts(p, r, asked, time_limit=30.0)
        assert some.pairs["doubt"].tolist() == d.pairs["doubt"].tolist()


def test_a_partition_that_can_be_improved_says_so() -> None:
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -2.0])
    for method in ("auto", "local-search"):
        d = doubts(p, [0, 0, 1, 2], method=method)
        assert d.gain == 2.0
        assert d.pairs["doubt"][0] == -2.0
        assert "a change lowers the cost by 2: solve again with initial=result" in repr(d)
        assert len(repr(d).splitlines()) == 2


def test_pairs_that_are_not_listed() -> None:
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -2.0], ["a", "b", "c", "d"])
    d = doubts(p, gp.solve(p), [("d", "a"), ("a", "b")])
    found = rows(d.pairs, "left", "right", "cost", "joined", "doubt")
    assert list(found) == [("a", "d", 0.0, False, 1.0), ("a", "b", -2.0, True, 2.0)]


def test_required_pairs_are_certain() -> None:
    p = gp.SetPartition.from_pairs(
        4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1.0, -1.0, 3.0, 0.5], must_join=[(0, 1)], must_cut=[(0, 3)], dense=False
    )
    d = doubts(p, gp.solve(p))
    certain = {(a, b) for a, b, doubt in rows(d.pairs, "left", "right", "doubt") if doubt == math.inf}
    assert certain == {(0, 1), (0, 3)}


def test_labels_of_a_result_are_those_that_rows_name() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0])
    r = replace(gp.solve(p), labels=np.array([7, 7, 3], np.int32))
    d = doubts(p, r)
    assert sorted(d.clusters["cluster"].tolist()) == [3, 7]
    assert dict(zip(d.elements["element"].tolist(), d.elements["cluster"].tolist(), strict=True)) == {0: 7, 1: 7, 2: 3}
    assert set(d.elements["to"].tolist()) <= {3, 7, -1}


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_nothing_to_decide(n: int) -> None:
    p = gp.SetPartition.from_pairs(n, [], [], dense=False)
    d = doubts(p, list(range(n)))
    assert d.pairs.rows == 0 and d.elements.rows == n and (d.elements["doubt"] == math.inf).all()
    assert (d.clusters["change"] == "none").all() and d.gain == 0 and repr(d)


def test_frames() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0], [("x", 1), "b", 3], dense=False)
    d = doubts(p, gp.solve(p))
    assert list(d.to_frame("elements", "dict")) == ["element", "cluster", "to", "doubt", "bound"]
    assert d.pairs["left"].tolist() == ["b", ("x", 1)] and d.pairs["right"].tolist() == [3, "b"]
    for library in ("pandas", "polars"):
        try:
            module = importlib.import_module(library)
        except ImportError:
            with pytest.raises(gp.InvalidOption, match="which is not installed"):
                d.to_frame("pairs", library)
            continue
        frame = d.to_frame("elements", library)
        assert isinstance(frame, module.DataFrame) and list(frame["doubt"]) == d.elements["doubt"].tolist()
    assert d.to_frame() is not None
    with pytest.raises(gp.InvalidOption, match="expected pandas, polars or dict"):
        d.to_frame("pairs", "arrow")
    with pytest.raises(gp.InvalidOption, match="expected one of pairs, elements, clusters"):
        d.to_frame("rows")
    with pytest.raises(ValueError, match="read-only"):
        d.pairs["doubt"][0] = 0


def test_wrong_calls() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], must_cut=[(1, 2)])
    with pytest.raises(gp.InvalidOption, match="method is 'fast': expected one of auto, exact, local-search"):
        doubts(p, [0, 0, 1], method="fast")
    with pytest.raises(gp.InvalidPartition, match="must be cut"):
        doubts(p, [0, 1, 1])
    with pytest.raises(gp.InvalidPartition, match="has no label"):
        doubts(p, {0: 0})
    with pytest.raises(gp.InvalidProblem, match="9 is not a node"):
        doubts(p, [0, 0, 1], [(0, 9)])
    with pytest.raises(gp.InvalidProblem, match=r"\(1, 1\) in pairs: expected two different elements"):
        doubts(p, [0, 0, 1], [(1, 1)])


@pytest.mark.parametrize("dense", [None, False])
def test_a_pair_that_is_listed_at_no_cost_is_the_most_doubtful(dense: bool | None) -> None:
    table = {"left": ["a", "b", "c"], "right": ["b", "c", "d"], "score": [0.9, 0.5, 0.8]}
    p = gp.SetPartition.from_frame(table, "left", "right", probability="score", dense=dense)
    assert p.is_dense == (dense is None)
    for q in (p, pickle.loads(pickle.dumps(p))):
        d = doubts(q, gp.solve(q))
        found = rows(d.pairs, "left", "right", "cost", "doubt")
        assert [(a, b) for a, b, *_ in found] == [("b", "c"), ("c", "d"), ("a", "b")]
        assert d.pairs["doubt"].tolist() == pytest.approx([0.0, 2.0, math.log2(9)])
        assert d.clusters["change"].tolist() == ["join", "join"]


@pytest.mark.filterwarnings("ignore:the table has no rows")
@pytest.mark.parametrize("seed", range(trials(30)))
def test_decisions_are_pairs_that_one_change_decides(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    u, v = np.nonzero(np.triu(rng.random((n, n)) < 0.6, 1))
    score = rng.choice([0.1, 0.2, 0.4, 0.6, 0.9], len(u)) if seed % 2 else rng.uniform(0.05, 0.95, len(u))
    frame = {"a": [f"e{i}" for i in u], "b": [f"e{j}" for j in v], "p": score}
    p = gp.SetPartition.from_frame(frame, "a", "b", probability="p", dense=bool(seed % 3 == 0))
    r = gp.solve(p)
    d = gp.partition.doubts(p, r, method="auto" if seed % 5 else "local-search")
    rows = d.decisions
    doubtful = {(a, b): x for a, b, x in zip(*(d.pairs[k].tolist() for k in ("left", "right", "doubt")), strict=True)}
    assert int(rows["pairs"].sum()) == np.isfinite(d.pairs["doubt"]).sum() and (np.diff(rows["doubt"]) >= 0).all()
    if seed % 2 == 0 and seed % 5:  # costs without ties: equal doubts would be one change
        assert (np.diff(rows["doubt"]) > 1e-9).all()
    label = dict(zip(p.nodes, r.labels.tolist(), strict=True))
    given = {frozenset(ab): s for *ab, s in zip(frame["a"], frame["b"], score.tolist(), strict=True)}
    seen = set()
    columns = ("kind", "scope", "left", "right", "cluster", "other", "score", "doubt", "chance")
    for change, scope, a, b, own, other, s, doubt, chance in zip(*(rows[k].tolist() for k in columns), strict=True):
        assert math.isclose(doubtful.get((a, b), doubtful.get((b, a))), doubt, rel_tol=1e-6, abs_tol=1e-9)
        assert math.isclose(s, given[frozenset((a, b))]) and math.isclose(chance, 1 / (1 + 2**doubt))
        assert label[a] == own and change in ("join", "split", "move")
        changed = dict(label)
        if scope == "element":  # the left one goes where the row says
            changed[a] = n if other < 0 else other
            assert ("element", a, other) not in seen
            seen.add(("element", a, other))
        elif scope == "clusters" and change == "join":
            changed = {x: own if k == other else k for x, k in label.items()}
            assert (own, other) not in seen and (other, own) not in seen
            seen.add((own, other))
        else:
            continue
        after = p.evaluate([{x for x, k in changed.items() if k == one} for one in set(changed.values())])
        assert math.isclose(after - r.cost, doubt, abs_tol=1e-9)


@pytest.mark.parametrize("price", [1.5, math.inf])
def test_pairs_asked_for_where_groups_pay(price: float) -> None:
    """Pairs of components that no attracting pair connects cost what they cost, and what their neighbours do."""
    pairs, costs = [(0, 2), (0, 3), (0, 5), (1, 3), (1, 4), (2, 5), (4, 5)], [4.0, -2.0, 0.0, -3.0, -3.0, 1.0, 3.0]
    p = gp.SetPartition.from_pairs(
        6, pairs, costs, groups=[0, -1, 1, 1, 1, 0], group_cost=price, must_cut=[(1, 5)], dense=False
    )
    r = gp.partition.brute_force(p)
    d = doubts(p, r, itertools.combinations(range(6), 2), method="exact")
    for a, b, joined, doubt in rows(d.pairs, "left", "right", "joined", "doubt"):
        try:
            q = p.require(apart=[(a, b)]) if joined else p.require(together=[(a, b)])
            assert doubt == pytest.approx(gp.partition.brute_force(q).cost - r.cost)
        except gp.InfeasibleProblem:
            assert doubt == math.inf


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict"])
def test_tables_have_the_columns_and_the_pairs_that_were_given(library: str) -> None:
    rng = np.random.default_rng(4)
    names = [f"rec-{k}" for k in rng.permutation(40).tolist()]
    u, v = np.triu_indices(40, 1)
    kept = rng.random(len(u)) < 0.2
    u, v = u[kept], v[kept]
    turned = rng.random(len(u)) < 0.5
    u, v = np.where(turned, v, u), np.where(turned, u, v)
    given = {
        "id_a": [names[k] for k in u.tolist()],
        "id_b": [names[k] for k in v.tolist()],
        "score": rng.uniform(0.05, 0.95, len(u)).round(3),
        "source": [f"s{k % 3}" for k in range(len(u))],
        "bound": np.arange(len(u)),
    }
    frame: Any = given
    if library != "dict":
        module = pytest.importorskip(library)
        frame = module.table(given) if library == "pyarrow" else module.DataFrame(given)
    p = gp.SetPartition.from_frame(frame, "id_a", "id_b", probability="score")
    d = doubts(p, gp.solve(p))
    rows = set(zip(*(np.asarray(column).tolist() for column in given.values()), strict=True))
    for table in ("decisions", "pairs"):
        found = d.to_frame(table, "dict")
        shown = list(zip(*(found[name].tolist() for name in given), strict=True))
        assert set(shown) <= rows and len(shown) == getattr(d, table).rows
        assert (found["bound_of_doubts"] == getattr(d, table)["bound"]).all() and "left" not in found
    assert len(shown) == len(rows)
    assert d.to_frame(library="dict")["decision"][0] in d._repr_html_()
    copy = pickle.loads(pickle.dumps(p))  # without the frame, scores come from costs
    alone = doubts(copy, gp.solve(copy)).to_frame(library="dict")
    assert np.allclose(alone["score"], d.to_frame(library="dict")["score"]) and "source" not in alone


def test_pairs_that_are_in_no_row() -> None:
    given = {"a": [1, 5, 5], "b": [2, 1, 9], "similarity": [0.5, 0.25, 2.0], "text": ["x", "y", None]}
    p = gp.SetPartition.from_frame(given, "a", "b", similarity="similarity", threshold=1.0)
    found = doubts(p, gp.solve(p), [(9, 1), (9, 5)]).to_frame("pairs", "dict")
    rows = dict(zip(zip(found["a"].tolist(), found["b"].tolist(), strict=True), found["text"].tolist(), strict=True))
    assert rows == {(1, 9): None, (5, 9): None}
    assert sorted(found["similarity"].tolist(), key=str) == [2.0, pytest.approx(math.nan, nan_ok=True)]  # none invented


def test_rows_of_decisions() -> None:
    names = [f"record-{k}-of-the-second-source" for k in range(3)]
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-3.0, -1.0, 2.0], names)
    d = doubts(p, gp.solve(p))
    rows = list(d)
    assert len(rows) == len(d) == d.decisions.rows > 0 and rows[0] == d[0] and rows[-1] == d[-1]
    assert [row["doubt"] for row in rows] == d.decisions["doubt"].tolist()
    assert d[:2].rows == 2 and d[:2]["decision"].tolist() == [row["decision"] for row in rows[:2]]
    with pytest.raises(IndexError):
        d[len(d)]
    with pytest.raises(gp.InvalidOption, match=r"expected a slice or a number; the tables are \.pairs"):
        d["pairs"]  # type: ignore[call-overload]
    assert repr(d).splitlines()[1].strip().replace("'", "&#x27;") in d._repr_html_()  # not cut


def test_elements_required_together_count_where_sizes_and_numbers_are_limited():
    pairs = [(0, 1), (0, 3), (0, 4), (1, 2), (1, 4), (2, 3)]
    p = gp.SetPartition.from_pairs(5, pairs, [7.5, 5.3, 1.3, -5.2, -8.0, -1.9])
    p = p.require(together=[(2, 4)], apart=[(3, 4)], max_size=2, n_clusters=(1, 5))
    d = gp.partition.doubts(p, [0, 1, 2, 1, 2], [(0, 4)])
    assert d.pairs["doubt"].tolist() == [math.inf]  # with 2 there would be three elements


def test_equal_doubts_of_whole_numbers_are_not_one_change():
    pairs = [(0, 2), (0, 3), (0, 4), (1, 5), (1, 7), (2, 3), (2, 4), (2, 5), (2, 7), (3, 4), (3, 5), (3, 7), (5, 6)]
    costs = [2.0, -3.0, 1.0, 3.0, 2.0, 2.0, 0.0, -2.0, 1.0, -1.0, -1.0, 3.0, -2.0]
    p = gp.SetPartition.from_pairs(8, pairs, costs)
    rows = gp.partition.doubts(p, gp.solve(p)).decisions
    assert (rows["doubt"] == 3.0).sum() > 1  # no partition decides all of these pairs otherwise for 3


@pytest.mark.parametrize("work", [2000.0, 6000.0])
def test_exact_doubts_where_only_some_pieces_are_solved(monkeypatch, work):
    """They are those of all pieces solved, also of pairs in a piece that is only solved together with another one."""
    compared = 0
    for seed in range(trials(20)):
        rng = np.random.default_rng(seed)
        n, pieces = 600, rng.permutation(600) // int(rng.integers(3, 6))  # pairs within them attract
        pieces = np.where(rng.random(n) < 0.4, n + np.arange(n), pieces)
        a = rng.integers(0, n, 600)
        b = (a + rng.integers(1, n, 600)) % n
        inside = np.flatnonzero((pieces[:, None] == pieces) & (rng.random((n, n)) < 0.7))
        a, b = np.append(a, inside // n), np.append(b, inside % n)
        a, b = a[a < b], b[a < b]
        costs = np.where(pieces[a] == pieces[b], -1, 1) * rng.random(len(a))
        rows = {"a": a, "b": b, "cost": costs}
        p = gp.SetPartition.from_frame(rows, "a", "b", cost="cost", missing=0.3, duplicates="mean")
        labels = np.where(rng.random(n) < 0.3, n + np.arange(n), pieces)[list(p.nodes)]
        with monkeypatch.context() as patch:
            expected = doubts(p, labels).to_frame("pairs")
            patch.setattr("graphpart.partition.confidence.changes.WORK", work)
            found = doubts(p, labels).to_frame("pairs")
        both = expected.merge(found, on=["a", "b"], suffixes=("", "_found"))
        both = both[(both["bound"] == "exact") & (both["bound_found"] == "exact")]
        assert both["doubt_found"].to_numpy() == pytest.approx(both["doubt"].to_numpy(), abs=1e-9)
        compared += len(both)
    assert compared > 100
