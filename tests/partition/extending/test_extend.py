"""Old partitions for problems that have changed: what stays, what it costs, against brute force on small problems."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart.partition import extend, extending


def problem(
    rng: np.random.Generator, n: int, share: float = 0.7, names: list | None = None, requirements: bool = False
) -> gp.SetPartition:
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < share
    costs = rng.integers(-4, 4, len(u)).astype(float) if rng.random() < 0.5 else rng.normal(-0.3, 1, len(u))
    joins, cuts = [], []
    if requirements and n > 2:
        a, b, c = (int(x) for x in rng.choice(n, 3, replace=False))
        joins, cuts = [(a, b)], [(a, c)]
    pairs = np.stack([u[some], v[some]], 1)
    return gp.SetPartition.from_pairs(
        n,
        pairs,
        costs[some],
        names,
        must_join=[] if names else joins,
        must_cut=[] if names else cuts,
        dense=bool(rng.random() < 0.5),
    )


def all_partitions(n: int) -> list[list[int]]:
    rows: list[list[int]] = [[]]
    for _ in range(n):
        rows = [[*row, k] for row in rows for k in range(max(row, default=-1) + 2)]
    return rows


def best_frozen(p: gp.SetPartition, old: list[int]) -> float:
    """The least cost of all partitions that keep old clusters apart and whole."""
    known = [i for i, label in enumerate(old) if label >= 0]
    return min(
        (
            p.evaluate(np.array(row))
            for row in all_partitions(p.n)
            if all((row[a] == row[b]) == (old[a] == old[b]) for a, b in itertools.combinations(known, 2))
        ),
        default=0.0,
    )


def keeping(p: gp.SetPartition, old: list[int]) -> float:
    return p.evaluate(np.array([label if label >= 0 else 100 + i for i, label in enumerate(old)]))


def check(p: gp.SetPartition, r: gp.Result) -> None:
    assert r.labels.dtype == np.int32 and r.labels.min(initial=0) >= 0
    assert r.cost == p.evaluate(r.labels) and r.nodes is p.nodes
    assert r.n_clusters == len(r.partition) and all(r.partition)
    assert p.labels(r.partition).tolist() == p.labels(r).tolist()
    p._check_feasible(p.labels(r))


@pytest.mark.parametrize("method", ["exact", "auto", "kernighan-lin"])
def test_frozen_clusters_stay(method: str) -> None:
    rng = np.random.default_rng(21)
    equal = 0
    cases = {"exact": 60, "auto": 60, "kernighan-lin": 120}[method]
    for case in range(cases):
        p = problem(rng, int(rng.integers(1, 8)))
        old = [int(x) for x in rng.integers(-1, 4, p.n)]
        old = [label if rng.random() < 0.6 else -1 for label in old]
        r = extend(p, np.array(old), method=method)
        check(p, r)
        for label, kept in zip(old, r.labels.tolist(), strict=True):
            assert label < 0 or label == kept, case
        best = best_frozen(p, old)
        assert best - 1e-9 <= r.cost <= keeping(p, old) + 1e-9, case
        equal += r.cost <= best + 1e-9
        if method != "kernighan-lin":
            assert r.cost <= best + 1e-9, case
        loose = extend(p, np.array(old), freeze=False, method=method)
        check(p, loose)
        assert loose.cost <= r.cost + 1e-9, case
    assert equal > 0.8 * cases


def test_many_cuts_are_added_where_they_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extending.frozen, "MOST_CUTS", 0)
    rng = np.random.default_rng(22)
    equal = 0
    for case in range(60):
        p = problem(rng, 7, 0.9)
        old = [0, 1, 2, -1, -1, -1, int(rng.integers(-1, 3))]
        r = extend(p, np.array(old), method="exact")
        check(p, r)
        assert all(label in (-1, kept) for label, kept in zip(old, r.labels.tolist(), strict=True)), case
        best = best_frozen(p, old)
        assert best - 1e-9 <= r.cost <= keeping(p, old) + 1e-9
        equal += r.cost <= best + 1e-9
    assert equal > 50, equal


def test_where_all_is_touched_it_is_the_whole_problem() -> None:
    rng = np.random.default_rng(23)
    for _ in range(60):
        p = problem(rng, int(rng.integers(1, 8)))
        r = extend(p, np.full(p.n, -1), freeze=False, method="exact")
        check(p, r)
        assert r.status == gp.Status.OPTIMAL and r.cost == pytest.approx(gp.partition.brute_force(p).cost, abs=1e-9)
        assert r.lower_bound <= r.cost
    q = problem(rng, 6, 1.0)
    before = gp.SetPartition.from_pairs(6, [], [])
    r = extend(q, list(range(6)), freeze=False, before=before, method="exact")
    assert r.cost == pytest.approx(gp.partition.brute_force(q).cost, abs=1e-9)


def test_requirements() -> None:
    rng = np.random.default_rng(24)
    for case in range(trials(150)):
        p = problem(rng, int(rng.integers(3, 8)), requirements=True)
        old = rng.integers(-1, 3, p.n)
        loose = extend(p, old, freeze=False, method="exact")
        check(p, loose)
        best = best_frozen(p, old.tolist())
        if best == math.inf:
            with pytest.raises(gp.InvalidPartition, match="frozen cluster"):
                extend(p, old, method="exact")
            continue
        r = extend(p, old, method="exact")
        check(p, r)
        assert all(label in (-1, kept) for label, kept in zip(old.tolist(), r.labels.tolist(), strict=True))
        assert r.cost == pytest.approx(best, abs=1e-9), case
        assert loose.cost <= r.cost + 1e-9


def test_far_from_what_changed_nothing_moves() -> None:
    # Two pairs that should be joined; the new element touches the first one only.
    p = gp.SetPartition.from_pairs(5, [(0, 1), (2, 3), (4, 0)], [-1.0, -1.0, -0.5])
    r = extend(p, [0, 1, 2, 3, -1], freeze=False)
    assert r.labels.tolist() == [0, 0, 2, 3, 0]


def test_changed_pairs_are_found_by_name() -> None:
    before = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, 2.0, -1.0], ["a", "b", "c", "d"])
    old = pickle.loads(pickle.dumps(gp.solve(before)))  # which does not hold its problem
    assert old.labels.tolist() == [0, 0, 1, 1]
    now = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, -2.0, -1.0], ["d", "c", "b", "a"])
    assert extend(now, old, freeze=False).cost == -2.0  # nothing is new, so nothing moves
    r = extend(now, old, freeze=False, before=before)
    assert r.cost == -4.0 and set(r.labels.tolist()) <= {0, 1}
    assert extend(now, old, before=before).cost == -2.0


def test_elements_that_are_gone_count_as_a_change() -> None:
    before = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-3.0, -3.0, 2.0], ["a", "b", "c"])
    old = pickle.loads(pickle.dumps(gp.solve(before)))  # which does not hold its problem
    now = gp.SetPartition.from_pairs(2, [(0, 1)], [2.0], ["a", "c"])
    assert extend(now, old, freeze=False).cost == 2.0
    assert extend(now, old, freeze=False, before=before).cost == 0.0


def test_labels_keep_the_largest_overlap() -> None:
    p = gp.SetPartition.from_pairs(6, [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5), (3, 5)], [-1, -1, 3, -1, -3, -1.5])
    r = extend(p, [7, 7, 7, 4, 4, -1], freeze=False, method="exact")
    assert r.labels.tolist() == [7, 7, 7, 4, 4, 7]
    # All become one: the label of the larger part stays.
    q = gp.SetPartition.from_pairs(4, [(0, 3), (1, 3), (2, 3)], [-1.0] * 3)
    r = extend(q, [5, 9, 9, -1], freeze=False, method="exact")
    assert set(r.labels.tolist()) == {9}
    # New clusters have labels above all old ones.
    q = gp.SetPartition.from_pairs(4, [(2, 3)], [-1.0])
    assert extend(q, [5, 9, -1, -1]).labels.tolist() == [5, 9, 10, 10]


def test_labels_that_are_no_numbers() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 2), (1, 2)], [-1.0, 1.0], ["x", "y", "z"])
    r = extend(p, {"x": "red", "y": "blue"})
    assert r.labels.tolist() == [0, 1, 0] and r.info["old_labels"] == ("red", "blue")
    assert extend(p, [{"x"}, {"y"}]).labels.tolist() == [0, 1, 0]
    assert extend(p, {}).labels.tolist() == [0, 1, 0]


@pytest.mark.parametrize("freeze", [True, False])
def test_degenerate(freeze: bool) -> None:
    for n in range(4):
        p = gp.SetPartition.from_pairs(n, [], [])
        assert extend(p, [-1] * n, freeze=freeze).labels.tolist() == list(range(n))
        assert extend(p, [3] * n, freeze=freeze).labels.tolist() == [3] * n
    for scale in (1e-300, 1e150):
        p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-scale, -scale])
        assert extend(p, [0, -1, 2], freeze=freeze).cost <= -scale


def test_stopped_it_returns_what_it_has() -> None:
    rng = np.random.default_rng(25)
    p = problem(rng, 40, 1.0)
    old = np.where(np.arange(40) < 20, np.arange(40), -1)
    r = extend(p, old, freeze=False, time_limit=0.0)
    check(p, r)
    assert r.status == gp.Status.TIME_LIMIT and r.cost <= keeping(p, old.tolist()) + 1e-9
    r = extend(p, old, callback=lambda seconds, cost: True)
    check(p, r)
    assert r.labels[:20].tolist() == list(range(20))

    def fails(seconds: float, cost: float) -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        extend(p, old, callback=fails)


def test_the_same_twice_and_inputs_are_kept() -> None:
    rng = np.random.default_rng(26)
    p = problem(rng, 30, 0.5)
    old = np.where(rng.random(30) < 0.6, rng.integers(0, 9, 30), -1)
    copy = old.copy()
    first, second = (extend(p, old, freeze=False, seed=1) for _ in range(2))
    assert np.array_equal(old, copy) and np.array_equal(first.labels, second.labels)


def test_a_result_of_extend_is_extended_again_written_and_read(tmp_path) -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 1.0], ["a", "b", "c"])
    r = extend(p, {"a": 4, "b": 4})
    gp.write_labels(r, tmp_path / "x.csv")
    assert gp.read_labels(tmp_path / "x.csv") == {"a": 4, "b": 4, "c": 5}
    q = gp.SetPartition.from_pairs(4, [(0, 3), (1, 2)], [-1.0, 1.0], ["c", "a", "b", "d"])
    again = extend(q, r)
    assert dict(zip(q.nodes, again.labels.tolist(), strict=True)) == {"a": 4, "b": 4, "c": 5, "d": 5}


@given(st.integers(0, 10**6))
def test_requirements_are_those_of_require(seed) -> None:
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(8, 1)
    p = gp.SetPartition.from_pairs(8, np.stack([u, v], 1), rng.integers(-3, 4, len(u)).astype(float), list("abcdefgh"))
    old = dict(zip("abcde", rng.integers(3, size=5).tolist(), strict=True))
    together, apart = [tuple(rng.choice(list("abcdefgh"), 2, replace=False)) for _ in range(2)]
    if set(together) == set(apart):
        return
    asked = {"together": [together], "apart": [apart]}
    r = extend(p, old, freeze=False, seed=0, **asked)
    same = extend(p.require(**asked), old, freeze=False, seed=0)
    assert r.labels.tolist() == same.labels.tolist() and r.cost == same.cost
    of = dict(zip(p.nodes, r.labels.tolist(), strict=True))
    assert of[together[0]] == of[together[1]] and of[apart[0]] != of[apart[1]]
    assert r.cost == pytest.approx(p.evaluate(r.labels))


def test_wrong_calls() -> None:
    free = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, -1.0])
    with pytest.raises(gp.InvalidPartition, match=r"0 and 1 must be joined .* frozen clusters: expected freeze=False"):
        extend(free, [0, 1, -1], must_join=[(0, 1)])
    with pytest.raises(gp.InvalidPartition, match=r"0 and 1 must be cut .* frozen cluster: expected freeze=False"):
        extend(free, [0, 0, -1], apart=[(0, 1)])

    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, -1.0], must_join=[(0, 1)])
    with pytest.raises(gp.InvalidPartition, match="0 and 1 must be joined but are in two frozen clusters"):
        extend(p, [0, 1, -1])
    q = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, math.inf])
    with pytest.raises(gp.InvalidPartition, match="1 and 2 must be cut but are in one frozen cluster"):
        extend(q, [-1, 0, 0])
    with pytest.raises(gp.InvalidPartition, match="'zz' is not a node"):
        extend(p, {"zz": 0})
    with pytest.raises(gp.InvalidOption, match="method is 'magic'"):
        extend(p, [0, 0, -1], method="magic")
    with pytest.raises(gp.InvalidOption, match="freeze is 'no'"):
        extend(p, [0, 0, -1], freeze="no")
    with pytest.raises(gp.InvalidOption, match="takes no wings"):
        extend(p, [0, 0, -1], freeze=False, wings=2)


def test_large_old_labels_in_what_a_result_shows() -> None:
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0], ["a", "b", "c"])
    r = extend(p, {"a": 2_000_000_000, "c": 7})
    assert r.summary()["clusters"] == r.n_clusters == 2
    assert (r.summary()["largest"], r.summary()["alone"]) == (2, 1)
    assert r._preview()[1] == [(2_000_000_000, 2, "a, b", "a (+1)"), (7, 1, "c", "c (+2)")]
    assert repr(r).startswith("<ExtendedResult: 2 clusters of 3 elements, cost -1\n") and repr(r).count("\n") == 1
    frame = pytest.importorskip("pandas") and r.to_frame()
    assert frame["size"].tolist() == [2, 2, 1] and frame["cluster"].tolist() == r.labels.tolist()


def test_labels_that_are_missing_in_a_data_frame_are_new_elements() -> None:
    p = gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [1.0, -1.0], ["a", "b", "c", "d"])
    for missing in (None, float("nan")):
        r = extend(p, {"a": missing, "b": missing, "c": missing, "d": 5})
        assert r.labels.tolist() == [6, 7, 5, 5]
        with pytest.raises(gp.GraphPartError, match="'a' has no label"):
            p.labels({"a": missing, "b": 0, "c": 0, "d": 0})
    pandas = pytest.importorskip("pandas")
    r = extend(p, pandas.Series(["x", "y", None], ["d", "a", "b"]))
    names = [(*r.info["old_labels"], "new")[k] for k in r.labels.tolist()]
    assert names == ["y", "new", "x", "x"]


def test_an_old_result_knows_what_its_problem_was() -> None:
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, 2.0, -1.0], list("abcd"))
    old = gp.solve(p)
    now = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, -5.0, -1.0], list("dcba"))
    assert extend(now, old, freeze=False).cost == -7.0
    assert extend(now, old).cost == -2.0
    assert extend(now, pickle.loads(pickle.dumps(old)), freeze=False).cost == -2.0  # it does not hold it any more


def test_changes_name_the_elements_whose_number_changed():
    names = ["a", "b", "c", "new", "d", "e"]
    p = gp.SetPartition.from_pairs(6, [(0, 1), (1, 4), (2, 3), (4, 5)], [-1.0, 1.0, -1.0, -1.0], nodes=names)
    first = {"c": 0, "a": 1, "b": 1, "d": 2, "e": 2}
    before = extend(p, first)
    after = extend(p, first, freeze=False, together=[("a", "c")])
    assert before.to_series()[["c", "new", "a", "b"]].tolist() == [0, 0, 1, 1]
    assert after.to_series()[["c", "new", "a", "b"]].tolist() == [1, 1, 1, 1]  # of the old elements, most were in 1
    assert after.changes(before).to_dict("list") == {
        "element": ["c", "new"],
        "before": [0, 0],
        "after": [1, 1],
        "reason": ["required", "required"],
    }


def test_changes_where_new_elements_outnumber_the_cluster_that_gives_the_number():
    names = ["a", "b", "c", "x", "y", *"defghi"]
    pairs = [(0, 1), (2, 3), (3, 4), *((k, k + 1) for k in range(5, 10))]
    p = gp.SetPartition.from_pairs(11, pairs, [-1.0] * len(pairs), nodes=names)
    first = {"c": 0, "a": 1, "b": 1} | dict.fromkeys("defghi", 2)
    before = extend(p, first)
    after = extend(p, first, freeze=False, together=[("a", "c")])
    changed = after.to_series() != before.to_series()
    assert after.changes(before)["element"].tolist() == changed.index[changed].tolist() == ["c", "x", "y"]
    assert after.changes(gp.solve(p))["element"].tolist() == ["a", "b"]  # whose numbers are others


def test_limits_that_old_clusters_are_far_from() -> None:
    """Old clusters may leave too few clusters, or too many; the start may be far from the allowed number."""
    path = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, -2.0, -2.0])
    for connected in (False, True):
        p = path.require(n_clusters=(3, None), connected=connected)
        for old in ([0, 0, 0, 0], {0: 1, 1: 1, 2: 0, 3: 0}, [0, 0, 0, -1]):
            with pytest.raises(gp.InvalidPartition, match=r"at least 3 required: expected freeze=False"):
                extend(p, old)
            assert extend(p, old, freeze=False).n_clusters >= 3
    assert extend(gp.SetPartition.from_pairs(0, [], [], max_size=1), []).n_clusters == 0
    q = gp.SetPartition.from_pairs(4, [(1, 3)], [-1.0], n_clusters=(1, 2), apart=[(0, 2), (1, 2)])
    with pytest.raises(gp.InfeasibleProblem, match="with the frozen clusters: expected freeze=False"):
        extend(q, [0, 1, -1, 1])
    pairs = [(0, 1), (0, 3), (0, 4), (1, 3), (1, 4), (1, 5), (2, 3), (2, 4), (4, 5)]
    full = gp.SetPartition.from_pairs(6, pairs, np.arange(-4.0, 5.0), connected=True, max_size=2, n_clusters=3)
    assert extend(full, [0, 1, 2, 1, 2, 0], freeze=False).n_clusters == 3


def test_changes_from_what_is_no_result():
    r = gp.solve(gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0]))
    assert r.changes({0: 0, 1: 0}).empty and r.changes([{0}, {1}])["element"].tolist() == [1]
    with pytest.raises(gp.InvalidPartition, match=r"^old is of type dict: expected a result, since this one has lost"):
        pickle.loads(pickle.dumps(r)).changes({0: 0, 1: 0})
    with pytest.raises(
        gp.InvalidProblem, match=r"got PartitionResult: .*; a result has it: pass result.problem, result$"
    ):
        gp.questions(r, 20)


def test_the_old_partition_as_a_frame():
    pandas = pytest.importorskip("pandas")
    new = pandas.DataFrame({"a": list("acegb"), "b": list("bdfhz"), "p": [0.9, 0.8, 0.9, 0.9, 0.7]})
    old, q = (gp.SetPartition.from_frame(rows, "a", "b", probability="p") for rows in (new[:4], new))
    frame = gp.solve(old).to_frame()
    frame["cluster"] += 10
    found = extend(q, frame).to_series().to_dict()
    assert found == extend(q, frame.set_index("element")["cluster"]).to_series().to_dict()
    assert found["a"] == found["z"] == 10 and found["h"] == 13
