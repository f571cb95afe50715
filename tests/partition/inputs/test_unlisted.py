"""The cost of pairs that a table of scores does not list: derived from the table, told, and turned off."""

import json

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import graphpart as gp
from graphpart.partition.inputs.unlisted import (
    FEW,
    _pairs_within,
    cost_of_unlisted,
    derived_cost,
    hardly_compared,
    near_pairs,
)
from graphpart.partition.problem.rules import _are_groups

WORDS = "pairs that are not in the table cost"


def scored(clusters=120, size=4, share=0.9, others=1500, seed=0):
    """Columns of a table with planted clusters, and the cluster of each name."""
    rng = np.random.default_rng(seed)
    n = clusters * size
    truth = np.repeat(np.arange(clusters), size)
    u, v = np.nonzero(np.triu(truth[:, None] == truth, 1))
    kept = rng.random(len(u)) < share
    a, b = np.sort(rng.integers(n, size=(2, others)), axis=0)
    keys = np.unique((a * n + b)[truth[a] != truth[b]])
    u, v = np.concatenate([u[kept], keys // n]), np.concatenate([v[kept], keys % n])
    score = np.where(truth[u] == truth[v], rng.beta(6.0, 1.5, len(u)), rng.beta(1.0, 3.56, len(u)))
    names = np.array([f"rec-{c}-{k % size}" for k, c in enumerate(truth)], object)
    table = {"left": names[u], "right": names[v], "score": np.round(score, 2).clip(0.005, 0.995)}
    return table, dict(zip(names.tolist(), truth.tolist(), strict=True))


def naive_counts(n, pairs):
    """The counts and groups of the kernel, pair by pair."""
    costs = {(min(p), max(p)): c for p, c in pairs.items()}
    attract = {p for p, c in costs.items() if c < 0}
    near = [{b for b in range(n) if (min(a, b), max(a, b)) in attract} for a in range(n)]
    counts, group = np.zeros((2, 2), np.int64), np.arange(n)
    for a in range(n):
        for b in range(a + 1, n):
            common = len(near[a] & near[b])
            if (a, b) in attract and common:
                group[group == group[b]] = group[a]
            for k in range(min(common, 2)):
                counts[k] += [(a, b) in costs, 1]
    return counts, np.array([np.flatnonzero(group == g).min() for g in group])


@given(st.integers(1, 9), st.data())
def test_the_kernel_counts_as_the_definition(n, data):
    every = [(a, b) for a in range(n) for b in range(a + 1, n)]
    costs = st.sampled_from([-np.inf, -1.0, 0.0, 2.0, np.inf])
    pairs = data.draw(st.dictionaries(st.sampled_from(every), costs)) if every else {}
    keys = sorted(pairs)
    u, v = np.array(keys, np.int32).reshape(-1, 2).T.copy()
    counts, group = near_pairs(n, u, v, np.array([pairs[key] for key in keys], np.float64))
    expected, groups = naive_counts(n, pairs)
    assert counts.tolist() == expected.tolist()
    assert group.tolist() == groups.tolist()


@given(st.integers(2, 12), st.data())
def test_a_table_of_all_pairs_is_as_without(n, data):
    u, v = np.triu_indices(n, 1)
    scores = data.draw(st.lists(st.floats(0.01, 0.99), min_size=len(u), max_size=len(u)))
    table = {"a": u, "b": v, "p": scores}
    for kind, more in (("probability", {}), ("similarity", {"threshold": 0.5}), ("weight", {})):
        options = {kind: "p", **more}
        p = gp.SetPartition.from_frame(table, "a", "b", **options)
        q = gp.SetPartition.from_frame(table, "a", "b", missing=0, **options)
        assert repr(p) == repr(q) and p.background is None
        assert np.array_equal(p.pairs()[2], q.pairs()[2])


def test_clusters_do_not_become_chains():
    table, truth = scored()
    p = gp.SetPartition.from_frame(table, "left", "right", probability="score")
    assert p.background.constant > 0.2 and WORDS in repr(p)
    r = gp.solve(p, "kernighan-lin")
    known = [truth[name] for name in p.nodes]
    assert gp.metrics.adjusted_rand_index(known, r.labels) >= 0.95
    assert np.bincount(r.labels).max() <= 3 * 4
    assert f"{WORDS} {p.background.constant:g} (derived; missing=0 turns this off)" in r.message
    old = gp.SetPartition.from_frame(table, "left", "right", probability="score", missing=0)
    assert old.background is None and WORDS not in repr(old)
    assert gp.metrics.adjusted_rand_index(known, gp.partition.kernighan_lin(old).labels) < 0.5


def test_the_unit_of_scores_does_not_matter():
    table, _ = scored()
    weight = np.log2(table["score"] / (1 - table["score"]))
    found = []
    for factor in (1.0, 8.0):
        rows = {**table, "w": factor * weight, "s": 0.5 + factor * weight}
        p = gp.SetPartition.from_frame(rows, "left", "right", weight="w")
        q = gp.SetPartition.from_frame(rows, "left", "right", similarity="s", threshold=0.5)
        assert p.background.constant == pytest.approx(q.background.constant, rel=0.01)
        found.append(p.background.constant / factor)
    assert found[0] == pytest.approx(found[1], rel=0.01)


def test_costs_and_connected_clusters_cost_nothing():
    table, _ = scored()
    rows = {**table, "cost": 0.5 - table["score"]}
    assert gp.SetPartition.from_frame(rows, "left", "right", cost="cost").background is None
    p = gp.SetPartition.from_frame(rows, "left", "right", probability="score", connected=True)
    assert p.background is None and p.lifted is not None
    p = gp.SetPartition.from_frame(rows, "left", "right", probability="score").require(connected=True)
    assert p.background is None and p.lifted is not None and WORDS not in repr(p)
    options = {"probability": "score", "missing": 0.25, "dense": False}
    assert gp.SetPartition.from_frame(rows, "left", "right", **options).background.constant == 0.25


def test_predictions_of_splink():
    table, _ = scored()
    weight = np.log2(table["score"] / (1 - table["score"]))
    rows = {"unique_id_l": table["left"], "unique_id_r": table["right"], "match_weight": weight}
    assert gp.SetPartition.from_splink(rows).background.constant > 0.2
    assert gp.SetPartition.from_splink(rows, missing=0).background is None


def test_with_groups_unlisted_pairs_cost_nothing():
    table, _ = scored()
    names = sorted({*table["left"], *table["right"]})
    people = {"id": names, "source": [name[-1] for name in names]}
    options = {"elements": people, "id": "id"}
    p = gp.SetPartition.from_frame(table, "left", "right", probability="score", groups="source", **options)
    q = gp.SetPartition.from_frame(table, "left", "right", probability="score", **options)
    assert WORDS in repr(q)
    q = q.require(groups=people["source"])
    assert WORDS not in repr(p) + repr(q)
    labels = gp.partition.kernighan_lin(p).labels
    assert p.evaluate(labels) == pytest.approx(q.evaluate(labels))


def test_requirements_are_one_problem_however_they_are_said(run, tmp_path):
    """In the constructor, by `require`, in parts by both, and on the command line; with elements in no pair."""
    table, _ = scored(clusters=60, others=400)
    names = [f"rec-{c}-{k}" for c in range(61) for k in range(4)]
    labels = np.arange(len(names), dtype=np.int32) // 4
    labels[[1, 5]] = 61, 62  # as the corrections want it
    source = [name[-1] for name in names]
    wrong = [("rec-0-0", "rec-0-1"), ("rec-1-0", "rec-1-1")]
    pairs = [(a, b) for k, a in enumerate(names) for b in names[k + 4 :: 4]]

    def write(name, columns):
        lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        (tmp_path / name).write_text("\n".join([",".join(columns), *lines]) + "\n")
        return tmp_path / name

    scores, people = write("scores.csv", table), write("people.csv", {"id": names, "source": source})
    files = [write(f"{k}.csv", {"a": [a for a, _ in some], "b": [b for _, b in some]})
             for k, some in enumerate((wrong, pairs, pairs + wrong))]  # fmt: skip
    tight = ["--max-size", 5, "--clusters", 61]
    groups, both = {"groups": source}, {"max_size": 5, "n_clusters": 61}
    for derives, ways in (  # each line: what gives the same problem
        (True, [({}, []), ({"max_size": 5}, tight[:2]), ({"max_size": 5, "n_clusters": (1, None)}, tight[:2])]),
        (True, [({"n_clusters": 61}, tight[2:])]),
        (True, [({"apart": wrong}, ["--apart", files[0]]), ({"must_cut": wrong}, ["--apart", files[0]])]),
        (False, [(both, tight)]),
        (False, [({"connected": True}, ["--connected"])]),
        (False, [(groups, ["--group", "source"]), ({"apart": pairs}, ["--apart", files[1]])]),
        (False, [({**groups, "apart": wrong}, ["--group", "source", "--apart", files[0]]),
                 ({"must_cut": pairs + wrong}, ["--apart", files[2]])]),
    ):  # fmt: skip
        told, costs = set(), []
        for asked, flags in ways:
            for first in range(len(asked) + 1):
                before, after = dict(list(asked.items())[:first]), dict(list(asked.items())[first:])
                for dense in (None, False) if "connected" in asked else (None, False, True):
                    options = {"probability": "score", "nodes": names, "dense": dense, **before}
                    q = gp.SetPartition.from_frame(table, "left", "right", **options).require(**after)
                    told.add(derived_cost(q))
                    costs.append(q._evaluate_labels(labels))
            _, out, err = run("solve", scores, "--probability", "score", "--elements", people, *flags,
                              "--method", "greedy-joining", "--json")  # fmt: skip
            message = json.loads(out)["message"] if out else err
            told.add(WORDS + message.split(WORDS)[1] if WORDS in message else None)
        assert len(told) == 1 and (None not in told) == derives, (ways, told)
        assert costs == pytest.approx([costs[0]] * len(costs), rel=1e-12)


@pytest.mark.parametrize(
    ("size", "members", "extra", "are"),
    [(3, 1, 0, True), (3, 0.6, 0, True), (3, 0.4, 0, False), (2, 1, 0, False), (6, 1, 4, True), (1, 1, 90, False)],
)
def test_cuts_that_are_groups(size, members, extra, are):
    """Sets of some size, which have a share of the elements, and further cuts; in any order and direction."""
    rng = np.random.default_rng(size)
    n = 60
    name = rng.permutation(n)
    u, v = np.nonzero(np.triu(np.arange(n)[:, None] // size == np.arange(n) // size, 1))
    kept = v < members * n
    a = rng.integers(n, size=extra)
    more = np.stack([a, (a + 1 + rng.integers(n - 1, size=extra)) % n], 1)
    cuts = np.concatenate([name[np.stack([u[kept], v[kept]], 1)], more])
    cuts = rng.permutation(np.where(rng.random((len(cuts), 1)) < 0.5, cuts, cuts[:, ::-1])).astype(np.int32)
    assert _are_groups(n, cuts) == _are_groups(n, np.concatenate([cuts, cuts])) == are
    u, v = np.nonzero(np.arange(n)[:, None] % 2 < np.arange(n) % 2)  # each of one half from each of the other
    assert not _are_groups(n, np.stack([u, v], 1).astype(np.int32))
    assert not _are_groups(0, np.zeros((0, 2), np.int32)) and not _are_groups(1, np.zeros((0, 2), np.int32))


def test_chains_small_and_empty_tables():
    n = 200
    u, v = np.arange(n - 1, dtype=np.int32), np.arange(1, n, dtype=np.int32)
    assert cost_of_unlisted(n, u, v, np.full(n - 1, -1.0)) == 0.0
    assert cost_of_unlisted(3, u[:2], v[:2], np.array([-np.inf, -1.0])) == 0.0
    assert cost_of_unlisted(0, u[:0], v[:0], np.zeros(0)) == 0.0
    hub = np.zeros(600, np.int32), np.arange(1, 601, dtype=np.int32)
    assert cost_of_unlisted(601, *hub, np.full(600, -1.0)) == 0.0


def test_files_keep_it(tmp_path):
    table, _ = scored(clusters=30, others=100)
    p = gp.SetPartition.from_frame(table, "left", "right", probability="score")
    for name in ("p.csv", "p.json", "p.npz"):
        gp.write(p, tmp_path / name)
        assert gp.read(tmp_path / name).background.constant == p.background.constant
    lines = [",".join(map(str, row)) for row in zip(*table.values(), strict=True)]
    (tmp_path / "scores.csv").write_text("\n".join(["left,right,score", *lines]) + "\n")
    assert repr(gp.read(tmp_path / "scores.csv", probability="score")) == repr(p)
    assert gp.read(tmp_path / "scores.csv", probability="score", missing=0).background is None


def naive_hardly_compared(p, labels):
    """The size of the largest cluster that is told, by networkx."""
    G, found = p.graph, 0
    for k in range(labels.max(initial=-1) + 1):
        part = G.subgraph([name for name, label in zip(p.nodes, labels, strict=True) if label == k])
        attracting = nx.Graph([(a, b) for a, b, c in part.edges(data="cost") if c < 0])
        tied = nx.Graph([(a, b) for a, b in attracting.edges if any(nx.common_neighbors(attracting, a, b))])
        largest = max(map(len, nx.connected_components(tied)), default=1)
        if len(part) >= 30 and part.number_of_edges() <= 2.5 * (len(part) - 1) and 3 * largest < len(part):
            found = max(found, len(part))
    return found


@given(st.integers(0, 60), st.floats(0.5, 3.0), st.integers(1, 3), st.floats(-1.0, 0.9), st.integers(0, 10**6))
def test_hardly_compared_is_as_defined(n, degree, clusters, repelling, seed):
    rng = np.random.default_rng(seed)
    u, v = rng.integers(n, size=(2, int(n * degree))) if n else np.zeros((2, 0), np.int64)
    keys = np.unique((np.minimum(u, v) * n + np.maximum(u, v))[u != v])
    assume(len(keys))  # a table without rows is warned of
    table = {"a": keys // max(n, 1), "b": keys % max(n, 1), "w": np.sign(rng.random(len(keys)) - repelling)}
    labels = rng.integers(clusters, size=n).astype(np.int32)
    p = gp.SetPartition.from_frame(table, "a", "b", weight="w", nodes=range(n), missing=0, dense=False)
    text, size = hardly_compared(p, labels), naive_hardly_compared(p, labels)
    assert (text is not None) == (size > 0)
    assert text is None or f"a cluster of {size} elements" in text


def test_a_large_cluster_that_was_hardly_compared_is_told():
    table, _ = scored(clusters=300, others=6000)
    p = gp.SetPartition.from_frame(table, "left", "right", probability="score", missing=0)
    with pytest.warns(gp.GraphPartWarning, match="few pairs of a cluster of .* elements were compared") as caught:
        r = gp.solve(p, "kernighan-lin-pairs")
    assert len(caught) == 1
    assert str(caught[0].message) in r.message
    rows = {**table, "cost": 0.5 - table["score"]}
    for silent in (  # pytest makes an error of each warning
        p.require(max_size=20),
        gp.SetPartition.from_frame(table, "left", "right", probability="score"),
        gp.SetPartition.from_frame(rows, "left", "right", cost="cost"),
        gp.SetPartition.from_frame(table, "left", "right", probability="score", connected=True),
    ):
        assert "were compared" not in gp.solve(silent, "kernighan-lin-pairs").message


def test_costs_that_do_not_matter_are_nothing():
    """One triangle in a random table of 30,000 elements, of whose near pairs hardly any is listed."""
    rng = np.random.default_rng(0)
    pairs = np.unique(np.sort(rng.integers(30_000, size=(150_000, 2)), axis=1), axis=0)
    u, v = pairs[pairs[:, 0] < pairs[:, 1]].astype(np.int32).T.copy()
    costs = rng.normal(size=len(u))
    counts, group = near_pairs(30_000, u, v, costs)
    share = min(max(a / b for a, b in counts.tolist()), (group[u] == group[v]).sum() / _pairs_within(group))
    derived = np.abs(costs).mean() / 3 * share**2
    assert 0 < derived * 30_000**2 / 2 < FEW * np.abs(costs).sum()
    assert cost_of_unlisted(30_000, u, v, costs) == 0


def test_common_neighbours_are_the_same_on_any_number_of_threads(monkeypatch):
    rng, n, found = np.random.default_rng(4), 40_000, []
    keys = np.unique(rng.integers(0, n, 200_000) * n + rng.integers(1, 30, 200_000))
    u, v = keys // n, keys // n + keys % n
    u, v = u[v < n].astype(np.int32), v[v < n].astype(np.int32)
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        counts, group = near_pairs(n, u, v, np.full(len(u), -1.0))
        found.append((counts.tolist(), group.tolist()))
    assert 2 * len(u) >= 2**18 and found[0] == found[1] == found[2]
    assert 1 < len(set(found[0][1])) < n / 2


def test_both_limits_are_told_to_make_unlisted_pairs_free():
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(40, 1)
    same = u // 5 == v // 5
    kept = same | (rng.random(len(u)) < 0.2)
    table = {"a": u[kept], "b": v[kept], "p": np.where(same, 0.9, 0.2)[kept]}
    limits = {"max_size": 5, "n_clusters": (1, 20)}
    free = "unlisted pairs cost nothing beside max_size with n_clusters"
    one = gp.SetPartition.from_frame(table, "a", "b", probability="p")
    other = gp.SetPartition.from_frame(table, "a", "b", probability="p", **limits)
    for p, asked in ((one, limits), (other, {}), (one.require(**limits), {"together": [(0, 1)]})):
        assert free in gp.solve(p, "greedy-joining", **asked).message
        assert derived_cost(p.require(**asked)) is None
    assert free in repr(other) and free not in repr(one)
    zero = gp.SetPartition.from_frame(table, "a", "b", probability="p", missing=0, **limits)
    full = gp.SetPartition.from_frame(
        {"a": u, "b": v, "p": np.where(same, 0.9, 0.2)}, "a", "b", probability="p", **limits
    )
    for p in (zero, full, one.require(max_size=5), one.require(groups=list(range(40)))):
        assert free not in gp.solve(p, "greedy-joining").message
