"""Measures of agreement against their definitions over all pairs, and against scikit-learn."""

import itertools
import math
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.stats
from hypothesis import example, given
from hypothesis import strategies as st

import graphpart as gp
from graphpart import InvalidPartition, metrics

partitions = st.integers(0, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(k, 3), min_size=n, max_size=n) for k in (-1, 0)))
)


@given(partitions)
@example(([], []))
@example(([0], [0]))
@example(([-1, -1], [0, 1]))
@example(([0, 1, 2], [0, 0, 0]))
def test_measures_are_those_of_the_definitions(labels):
    truth, partition = labels
    c = metrics.compare(truth, partition)
    known = [i for i, label in enumerate(truth) if label != -1]
    t, p = ([x[i] for i in known] for x in labels)
    n = len(known)
    assert (c.elements, c.n_true_clusters, c.n_clusters) == (n, len(set(t)), len(set(p)))
    pairs = [(t[a] == t[b], p[a] == p[b]) for a, b in itertools.combinations(range(n), 2)]

    def share(of, among):
        among = [pair for pair in pairs if among(pair)]
        return sum(of(pair) for pair in among) / len(among) if among else 1.0

    assert c.rand_index == pytest.approx(share(lambda x: x[0] == x[1], lambda x: True))
    for name, joined in (("joins", True), ("cuts", False)):
        precision = share(lambda x: x[0] == joined, lambda x: x[1] == joined)  # noqa: B023
        recall = share(lambda x: x[1] == joined, lambda x: x[0] == joined)  # noqa: B023
        assert getattr(c, f"{name}_precision") == pytest.approx(precision)
        assert getattr(c, f"{name}_recall") == pytest.approx(recall)
        right = sum(x == (joined, joined) for x in pairs)
        wrong = sum(x[0] != x[1] for x in pairs)
        assert getattr(c, f"{name}_f1") == pytest.approx(2 * right / (2 * right + wrong) if right + wrong else 1.0)

    def entropy(x, given):
        values = set(zip(x, given, strict=True))
        joint = {v: sum(w == v for w in zip(x, given, strict=True)) / n for v in values}
        return -sum(q * math.log2(q / (given.count(g) / n)) for (_, g), q in joint.items())

    assert c.false_cuts_information == pytest.approx(entropy(p, t), abs=1e-12)
    assert c.false_joins_information == pytest.approx(entropy(t, p), abs=1e-12)
    assert c.variation_of_information == pytest.approx(c.false_cuts_information + c.false_joins_information)
    assert metrics.variation_of_information(truth, partition) == (c.false_cuts_information, c.false_joins_information)
    assert metrics.rand_index(truth, partition) == c.rand_index
    assert metrics.adjusted_rand_index(truth, partition) == c.adjusted_rand_index
    assert metrics.pair_scores(truth, partition)["joins_f1"] == c.joins_f1


def test_old_names_of_numbers_warn():
    c = metrics.compare([0, 0, 1], [0, 1, 2])
    with pytest.warns(DeprecationWarning, match="true_subsets will be removed in version 0.4: use n_true_clusters"):
        assert c.true_subsets == 2
    with pytest.warns(DeprecationWarning, match="use n_clusters"):
        assert c.subsets == 3


@given(st.integers(0, 10**6))
@example(0)
def test_agreement_with_scikit_learn(seed):
    cluster = pytest.importorskip("sklearn.metrics.cluster")
    rng = np.random.default_rng(seed)
    truth, partition = rng.integers(0, 8, 200), rng.integers(0, 30, 200)
    (neither, joined), (cut, both) = cluster.pair_confusion_matrix(truth, partition) / 2
    c = metrics.compare(truth, partition)
    assert c.joins_precision == pytest.approx(both / (both + joined))
    assert c.joins_recall == pytest.approx(both / (both + cut))
    assert c.cuts_precision == pytest.approx(neither / (neither + cut))
    assert c.cuts_recall == pytest.approx(neither / (neither + joined))
    assert c.rand_index == pytest.approx(cluster.rand_score(truth, partition), rel=1e-15)
    assert c.adjusted_rand_index == pytest.approx(cluster.adjusted_rand_score(truth, partition), rel=1e-15)
    mutual = cluster.mutual_info_score(truth, partition) / math.log(2)
    entropies = [scipy.stats.entropy(np.bincount(x), base=2) for x in (truth, partition)]
    assert c.variation_of_information == pytest.approx(sum(entropies) - 2 * mutual)


@given(partitions)
@example(([], []))
@example(([0], [0]))
@example(([0, 0], [0, 1]))
@example(([0, 1], [0, 1]))
def test_rand_indices_of_few_elements_are_those_of_scikit_learn(labels):
    cluster = pytest.importorskip("sklearn.metrics.cluster")
    known = [(a, b) for a, b in zip(*labels, strict=True) if a != -1]
    truth, partition = [a for a, _ in known], [b for _, b in known]
    expected = cluster.rand_score(truth, partition), cluster.adjusted_rand_score(truth, partition)
    c = metrics.compare(*labels)
    assert (c.rand_index, c.adjusted_rand_index) == pytest.approx(expected, rel=1e-15, abs=1e-15)


def test_without_scikit_learn():
    code = """if True:
        import sys
        sys.modules["sklearn"] = None
        import graphpart.metrics
        c = graphpart.metrics.compare([0, 0, 0, 1, 1, -1], [0, 0, 1, 2, 2, 2])
        print(c.rand_index, c.adjusted_rand_index, c.variation_of_information)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # Of ten pairs, two are cut falsely; (2 - 0.8) / (3 - 0.8), as 4 * 2 / 10 joined ones are expected.
    assert [float(x) for x in done.stdout.split()] == pytest.approx([0.8, 1.2 / 2.2, 0.6 * math.log2(3) - 0.4])


def test_pairs_are_never_listed():
    n = 300_000
    c = metrics.compare(np.arange(n) // 2, np.arange(n) // 3)
    assert c.elements == n and 0 < c.joins_f1 < 1 and c.cuts_recall > 0.99


def test_all_forms_of_partitions():
    r = gp.partition.greedy_joining(gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [-1.0, -1.0], nodes="wxyz"))
    expected = metrics.compare([0, 0, 1, 1], [0, 0, 1, 1])
    sets, mapping = [{"y", "z"}, {"w", "x"}], {"x": "one", "w": "one", "z": 2, "y": 2}
    for truth in (r, sets, mapping):
        for partition in (r, sets, mapping):
            assert metrics.compare(truth, partition) == expected
    for truth in ([5, 5, 6, 6], np.array([1.5, 1.5, 2, 2]), ["a", "a", "b", "b"], (True, True, False, False)):
        assert metrics.compare(truth, r) == metrics.compare(r, truth) == expected
    assert metrics.compare([{"w", "x"}], r).elements == 2
    communities = nx.community.greedy_modularity_communities(nx.Graph([("w", "x"), ("y", "z")]))
    assert metrics.compare(communities, r) == expected


def test_missing_labels():
    pandas = pytest.importorskip("pandas")
    partition = [0, 0, 1, 1]
    for truth in (
        [7, 7, 8, -1],
        [7.0, 7.0, 8.0, math.nan],
        ["a", "a", "b", None],
        [7, 7, "b", None],
        pandas.Series(["a", "a", "b", pandas.NA], dtype="string"),
        pandas.Series([1, 1, 2, None], dtype="Int64"),
    ):
        assert metrics.compare(truth, partition).elements == 3
    assert metrics.compare(["a", "a", "b", ""], partition, missing="").elements == 3
    assert metrics.compare([1, 1, 2, -1], partition, missing=None).elements == 4
    assert metrics.compare(["a", "b", "a", "-1"], partition).elements == 4


@pytest.mark.parametrize(
    ("truth", "partition", "message"),
    [
        ([1, 2], [1], "the truth has 2 labels, the partition 1: expected"),
        ([[1, 2]], [[1, 2]], "labels: .*unhashable"),
        (np.ones((1, 2)), [1], "labels have shape"),
        ([1, 2], [1, None], "element 1 has a true label but none"),
        ([{1, 2}], {1: 0}, "2 has a true label but is not in the partition"),
        ({np.str_("b"): 0}, {"a": 0}, "^'b' has a true label but is not in the partition"),
        ([{1, 2}, {2}], {1: 0, 2: 0}, "2 is in two clusters"),
        ([{1}], [0], "names nodes"),
        ([0], {1: 0}, "names nodes"),
    ],
)
def test_bad_partitions_are_named(truth, partition, message):
    with pytest.raises(InvalidPartition, match=message):
        metrics.compare(truth, partition)


def test_series_are_matched_by_index():
    pd = pytest.importorskip("pandas")
    truth = pd.Series([0, 0, 1, 1, 2], index=list("abcde"))
    moved = truth.sample(frac=1, random_state=0)
    assert list(moved.index) != list(truth.index)
    found = gp.solve(gp.SetPartition.from_pairs(5, [(0, 1), (3, 4)], [-1.0, -1.0], nodes=moved.index))
    plain = gp.solve(gp.SetPartition.from_pairs(5, [(0, 1), (3, 4)], [-1.0, -1.0]))
    by_name = dict(zip(found.nodes, found.labels.tolist(), strict=True))
    for one, other in ((truth, moved), (moved, truth), (truth, truth.to_dict()), (moved.to_dict(), truth)):
        assert metrics.adjusted_rand_index(one, other) == 1
    expected = metrics.compare(truth.tolist(), [by_name[x] for x in truth.index])
    assert metrics.compare(truth, found) == metrics.compare(moved, found) == expected
    assert metrics.compare(found, truth).joins_recall == expected.joins_precision
    assert metrics.compare(truth, by_name) == expected
    assert metrics.compare(truth, [set(c) for c in found.clusters]) == expected
    by_position = metrics.compare(moved.tolist(), found.labels)  # where a side has no names
    with pytest.warns(gp.GraphPartWarning, match=r"matched by position: .* or r.to_series\(\)"):
        assert metrics.compare(moved, found.labels) == by_position
    for one, other in ((moved, plain), (moved.reset_index(drop=True), found)):
        assert metrics.compare(one, other) == by_position
    numbers = pd.Series([0, 0, 1], index=[2, 0, 1])
    assert metrics.adjusted_rand_index(numbers, pd.Series([0, 1, 0])) == 1
    twice = pd.Series([0, 0, 1], index=[0, 0, 1])
    assert metrics.adjusted_rand_index(twice, twice) == 1
    for one, other, message in (
        (truth, truth.rename({"a": "x"}), "'a' is only in the index of the truth: expected the same names in both"),
        (truth[:4], truth, "'e' is only in the index of the partition"),
        (numbers, twice, "the index of the partition has 0 more than once"),
        (twice, {0: 1, 1: 1}, "the index has 0 more than once"),
        (truth, by_name | {"a": None}, "has a true label but none in the partition"),
        (truth.rename({"a": "x"}), found, "'x' has a true label but is not in the partition"),
    ):
        with pytest.raises(InvalidPartition, match=message):
            metrics.compare(one, other)


def test_identities_against_all_matchings():
    rng = np.random.default_rng(4)
    for _ in range(60):
        n = int(rng.integers(0, 12))
        truth, tracks = rng.integers(-1, 3, n), rng.integers(-1, 4, n)
        scores = gp.metrics.identity_scores(truth, tracks)
        right = max(  # the track of each of three objects
            sum(((truth == k) & (tracks == t)).sum() for k, t in enumerate(way))
            for way in itertools.permutations([0, 1, 2, 3], 3)
        )
        objects, found = int((truth >= 0).sum()), int((tracks >= 0).sum())
        assert scores["idf1"] == pytest.approx(2 * right / (objects + found) if objects + found else 1.0)
        assert scores["precision"] == pytest.approx(right / found if found else 1.0)
        assert scores["recall"] == pytest.approx(right / objects if objects else 1.0)
        frames = rng.permutation(len(truth))
        scores = gp.metrics.identity_scores(truth, tracks, frames=frames)
        both = [k for k in range(len(truth)) if truth[k] >= 0 and tracks[k] >= 0]
        shares, switches = [], 0
        for k in both:
            same, shared = set(np.flatnonzero(truth == truth[k])), set(np.flatnonzero(tracks == tracks[k]))
            shares.append(len(same & shared) / len(same | shared))
            before = [j for j in both if truth[j] == truth[k] and frames[j] < frames[k]]
            switches += bool(before) and tracks[max(before, key=lambda j: frames[j])] != tracks[k]
        detection = len(both) / (objects + found - len(both)) if objects + found else 1.0
        association = np.mean(shares) if both else 1.0
        assert scores["hota"] == pytest.approx(np.sqrt(detection * association))
        assert scores["switches"] == switches
        mota = 1 - (objects + found - 2 * len(both) + switches) / objects if objects else 1.0
        assert scores["mota"] == pytest.approx(mota)
    with pytest.raises(gp.InvalidPartition, match="frames has shape"):
        gp.metrics.identity_scores([0, 1], [0, 0], frames=[0])
    with pytest.raises(gp.InvalidPartition, match="2 true labels and 1 tracks"):
        gp.metrics.identity_scores([0, 1], [0])


def test_panoptic_quality_against_its_definition():
    rng = np.random.default_rng(5)
    for number in range(60):
        shape = (int(rng.integers(1, 5)), 4)
        arrays = [rng.integers(-1, 3, shape) for _ in range(4)]
        if number % 2:
            arrays[2:] = [np.where(rng.random(shape) < 0.2, x, y) for x, y in zip(arrays[2:], arrays[:2], strict=True)]
        got = gp.metrics.panoptic_quality((arrays[0], arrays[1]), (arrays[2], arrays[3]))
        sets = []
        for segments, classes in (arrays[:2], arrays[2:]):
            found: dict[tuple[int, int], set[int]] = {}
            for at in range(segments.size):
                known = arrays[0].flat[at] >= 0 and arrays[1].flat[at] >= 0
                if known and segments.flat[at] >= 0 and classes.flat[at] >= 0:
                    found.setdefault((int(segments.flat[at]), int(classes.flat[at])), set()).add(at)
            sets.append(found)
        wanted = {}
        for c in sorted({c for one in sets for _, c in one}):
            true, mine = ([cells for (_, k), cells in one.items() if k == c] for one in sets)
            shares = [len(x & y) / len(x | y) for x in true for y in mine if 2 * len(x & y) > len(x | y)]
            wanted[c] = sum(shares) / (len(shares) + (len(true) + len(mine) - 2 * len(shares)) / 2)
        assert got["classes"] == pytest.approx(wanted)
        assert got["quality"] == pytest.approx(np.mean(list(wanted.values())) if wanted else 1.0)
    same = gp.metrics.panoptic_quality(([1, 2], ["a", "b"]), ([2, 1], ["a", "b"]))
    assert same["quality"] == same["segmentation"] == same["recognition"] == 1.0
