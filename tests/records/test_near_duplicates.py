"""Near duplicates against planted ones, by tree, blocks and hashing; chains; medoids; signatures."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import graphpart as gp
from graphpart.partition.inputs import neighbors
from graphpart.records import duplicates


def planted(seed, n=300, d=40, noise=0.1):
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(n, d))
    copied = rng.integers(0, n, n // 4)
    y = np.concatenate([np.arange(n), copied])
    X = np.concatenate([base, base[copied] + noise * rng.normal(size=(n // 4, d))])
    order = rng.permutation(len(y))
    return X[order], y[order]


@pytest.mark.parametrize("hashed", [False, True])
@pytest.mark.parametrize("d", [6, 40])
def test_planted_ones_are_found(d, hashed, monkeypatch):
    if hashed:
        monkeypatch.setattr(neighbors, "HASHED", 10)
    X, y = planted(0, d=d, noise=0.1 if d > 6 else 0.001)
    r = gp.near_duplicates(X, 0.05 if d > 6 else 1e-5)
    scores = gp.metrics.compare(y, r.labels)
    assert scores.joins_precision > 0.99 and scores.joins_recall > 0.99
    assert len(r.kept) == r.n_clusters == len(r.representatives)
    D = cdist(X, X, "cosine")
    for k, a in enumerate(r.representatives.tolist()):
        members = np.flatnonzero(r.labels == k)
        assert D[a, members].sum() == pytest.approx(D[np.ix_(members, members)].sum(axis=1).min(), abs=1e-9)


def test_seconds_are_those_of_all_steps(monkeypatch):
    monkeypatch.setattr(duplicates, "time", SimpleNamespace(perf_counter=iter([1.0, 8.0]).__next__))
    assert gp.near_duplicates([[1.0, 0.0], [1.0, 0.01], [0.0, 1.0]], 0.1).seconds == 7.0


def test_hashing_finds_nearly_all_pairs(monkeypatch):
    monkeypatch.setattr(neighbors, "HASHED", 10)
    X, _ = planted(1)
    D = cdist(X, X)
    wanted = np.argwhere(np.triu(D <= 1.2, 1))
    u, v, d = neighbors.near_pairs(X, 1.2)
    assert len(u) >= 0.98 * len(wanted) > 0 and d == pytest.approx(D[u, v]) and (d <= 1.2).all()


def test_sparse_matrices_are_as_dense_ones():
    X, y = planted(3)
    X[np.abs(X) < 0.3] = 0.0
    for metric, threshold in (("cosine", 0.05), ("euclidean", 2.0)):
        one, other = (gp.near_duplicates(M, threshold, metric) for M in (X, csr_array(X)))
        assert (one.labels == other.labels).all() and one.kept == other.kept
    assert gp.metrics.compare(y, one.labels).joins_f1 > 0.99


def test_chains_are_cut():
    x = np.arange(40.0)[:, None] * [1.0, 0.0]  # each is near the next one
    r = gp.near_duplicates(x, 1.5, "euclidean")
    assert r.n_clusters >= 10 and np.bincount(r.labels).max() <= 4


def test_signatures():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2**32, (300, 128), dtype=np.uint64)
    copies = base[:60].copy()
    changed = rng.random(copies.shape) < 0.1
    copies[changed] = rng.integers(0, 2**32, int(changed.sum()), dtype=np.uint64)
    r = gp.near_duplicates(np.concatenate([base, copies]), 0.3, "minhash", nodes=[f"text {k}" for k in range(360)])
    y = np.concatenate([np.arange(300), np.arange(60)])
    assert gp.metrics.adjusted_rand_index(y, r.labels) == 1.0
    frame = r.to_frame()
    assert list(frame.columns) == ["element", "cluster", "size", "representative"]
    assert set(frame["representative"]) == set(r.kept)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_few(n):
    assert gp.near_duplicates(np.ones((n, 2)), 0.1).n_clusters == min(n, 1)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((2, 2)), {"threshold": 0}, "threshold is 0: expected a distance above 0"),
        (np.ones((2, 2)), {"threshold": 0.1, "metric": "minhsh"}, "did you mean 'minhash'"),
        (np.ones((2, 2)), {"threshold": 0.1, "metric": "minhash"}, "expected integers"),
    ],
)
def test_mistakes(X, options, message):
    with pytest.raises((gp.InvalidProblem, gp.InvalidOption), match=message):
        gp.near_duplicates(X, **options)


def test_similarities_given_as_thresholds_are_warned_of():
    X, _ = planted(4, n=60)
    for given, metric, message in (
        (X, "cosine", r"% of the pairs are within .* 0.95: .* a distance, 1 - similarity; for .* of 0.95, give 0.05"),
        (np.abs(X), "cosine", "give 0.05"),
        (X, "euclidean", "100% of the pairs are within the threshold 0.95: the threshold is a distance; dup"),
    ):
        with pytest.warns(gp.GraphPartWarning, match=message):
            gp.near_duplicates(given / 100, 0.95, metric)
    with pytest.warns(gp.GraphPartWarning, match="give 0.05"):
        gp.near_duplicates(np.random.default_rng(0).integers(0, 4, (60, 32)), 0.95, "minhash")
    assert gp.near_duplicates(X, 0.05).n_clusters == 60  # no warning


def test_without_a_threshold():
    """It is in the gap between copies and others, whether or not others have clusters; a message helps without one."""
    for k, noise in ((1, 1.0), (10, 0.3)):
        rng = np.random.default_rng(k)
        X = rng.normal(size=(k, 32))[rng.integers(0, k, 300)] + noise * rng.normal(size=(300, 32))
        r = gp.near_duplicates(np.concatenate([X, X[:30] + 0.03 * rng.normal(size=(30, 32))]))
        assert r.n_clusters == 300 and (r.labels[:30] == r.labels[300:]).all() and "(from the data)" in r.message
    with pytest.raises(
        gp.InvalidOption, match=r"no gap in the distances .* one element in ten, .* within 0\.\d+, of half"
    ):
        gp.near_duplicates(X)
    with pytest.raises(gp.InvalidOption, match="minhash without threshold: expected the largest share"):
        gp.near_duplicates(np.ones((3, 8), int), metric="minhash")
    assert gp.near_duplicates(["one title", "one tilte", "another"]).n_clusters == 2
    assert gp.near_duplicates([[1.0, 2.0]]).n_clusters == gp.near_duplicates(np.ones((4, 2))).n_clusters == 1


def test_texts_that_share_a_word_are_no_copies():
    rng = np.random.default_rng(1)
    words = ["".join(chr(97 + k) for k in rng.integers(0, 26, size=rng.integers(3, 9))) for _ in range(400)]
    texts = [" ".join(words[k] for k in rng.choice(400, 5, replace=False)) for _ in range(300)]
    r = gp.near_duplicates(texts + texts[:50])
    assert r.n_clusters == 300 and (r.labels[300:] == r.labels[:50]).all()  # was 90
    with pytest.raises(gp.InvalidOption, match="no gap in the distances tells copies from others"):
        gp.near_duplicates(texts[:90])


def test_words_and_empty_texts_are_warned_of():
    texts = [f"{a} {b} {a + b}" for a in "abcdefghijkl" for b in "opqrstuvwxyz"]
    rows, columns = np.repeat(np.arange(144), 4), np.random.default_rng(0).integers(0, 500, 576)
    words = csr_array((np.ones(576), (rows, columns)), shape=(144, 500))
    with pytest.warns(gp.GraphPartWarning, match=r"entries, as of whole words.*char_wb"):
        gp.near_duplicates(words)
    with pytest.warns(gp.GraphPartWarning, match=r"^2 texts are empty"):
        gp.near_duplicates([*texts, "", " "])
