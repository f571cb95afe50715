"""The threshold of a path: the same for any order of elements, and for equal and almost equal ones."""

import numpy as np
import pytest
import scipy.sparse
from trials import trials

import graphpart as gp
from graphpart.partition.inputs.thresholds import drawn, path_threshold, threshold_of_points


@pytest.mark.parametrize("seed", range(trials(20)))
def test_equal_points_in_any_order_and_with_rounding(seed):
    rng = np.random.default_rng(seed)
    clusters, n, dimension = (int(rng.integers(*limits)) for limits in ((3, 20), (20, 100), (1, 20)))
    centers, spread = rng.normal(size=(clusters, dimension)), rng.choice([0.0, 0.05, 0.3])
    noise = spread * rng.normal(size=(n, dimension)) * (rng.random((n, 1)) < 0.5)
    X = centers[rng.integers(clusters, size=n)] + noise  # half of the points are equal to others
    found = []
    for size in (0.0, 0.0, 1e-13, 1e-11):
        Y = X[rng.permutation(n)] + size * rng.normal(size=X.shape)
        direct = np.linalg.norm(Y[:, None] - Y, axis=2)
        squares = (Y * Y).sum(axis=1)
        by_products = np.sqrt(np.maximum(0.0, squares[:, None] + squares - 2 * Y @ Y.T))
        np.fill_diagonal(by_products, 0.0)
        found += [path_threshold(direct), path_threshold((by_products + by_products.T) / 2)]
    assert found == pytest.approx([found[0]] * len(found), rel=1e-6)
    assert found[0] > 0


def test_of_copies_only_the_copies_are_joined():
    x = np.repeat(np.array([0.0, 1.0, 2.5, 4.5]), 5)
    assert 0 < path_threshold(np.abs(x[:, None] - x)) < 1
    assert path_threshold(np.zeros((5, 5))) == 0.0


@pytest.mark.parametrize(
    ("k", "noise", "low", "high"), [(8, 1.2, 0.70, 0.85), (100, 1.0, 0.62, 0.75), (3000, 0.7, 0.4, 0.55)]
)
def test_noisy_clusters_have_the_threshold_that_separates_them(k, noise, low, high):
    """Few large ones, of which some were drawn, and many small ones, of which chance says more."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(k, 64))[rng.integers(0, k, 3000)] + noise * rng.normal(size=(3000, 64))
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        rows = drawn(len(X))
        distances = 1.0 - X[rows] @ X.T
        distances[np.arange(len(rows)), rows] = np.inf
        assert low < threshold_of_points(rows, distances, lambda some, X=X: 1.0 - X[some] @ X[some].T) < high


@pytest.mark.parametrize("size", [1.5, 3, 10, 40])
def test_the_threshold_of_texts_is_between_their_errors_and_other_texts(size):
    """Products that share words, with up to two typing errors: pairs at 0.35 and more are hardly ever copies."""
    rng = np.random.default_rng(0)
    words = [["".join(rng.choice(list("abcdefghiklmnoprstu"), 6)) for _ in range(8)] for _ in range(4)]
    names = [" ".join([*(rng.choice(w) for w in words), str(rng.integers(1e5))]) for _ in range(int(800 / size))]
    truth = rng.integers(0, len(names), 800)
    texts = []
    for k in truth:
        text = names[k]
        for at in rng.integers(0, len(text) - 1, rng.integers(0, 3)):
            text = text[:at] + "xyz"[rng.integers(3)] + text[at + 1 :]
        texts.append(text)
    p = gp.SetPartition.from_embeddings(texts)
    labels = gp.solve(p, "greedy-joining").labels
    assert gp.metrics.compare(truth, labels).joins_f1 > 0.9, p


def test_rows_without_clusters_are_told_so():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcdef"), 12)) for _ in range(600)]
    with pytest.warns(gp.GraphPartWarning, match="the threshold from the data may be far off"):
        gp.SetPartition.from_embeddings(texts)


def test_copies_and_far_rows_leave_the_threshold_of_the_others():
    texts = ["the quick brown fox jumps"] * 160 + [f"text number {k} about abc{k * 7}" for k in range(40)]
    p = gp.SetPartition.from_embeddings(texts)
    assert gp.solve(p, "greedy-joining").clusters[0] == set(range(160))
    rows = scipy.sparse.random(200, 50, 0.1, format="lil", random_state=0)
    for far in (1e3, 1e8):
        rows[3] = far
        assert gp.SetPartition.from_embeddings(rows.tocsr(), metric="euclidean").n == 200
    assert gp.SetPartition.from_embeddings(["a b"] * 120).n == 120
    rng = np.random.default_rng(0)
    texts = ["the quick brown fox jumps"] * 84
    texts += [f"{''.join(rng.choice(list('abcdef'), 5))} text {k}" for k in range(16)]
    assert gp.SetPartition.from_embeddings(texts).n == 100
    S = np.corrcoef(rng.normal(size=(520, 300)))
    a, b = np.setdiff1d(np.arange(520), drawn(520))[:2]
    S[a, b] = S[b, a] = -np.inf  # required to be cut, and near to drawn elements
    assert gp.SetPartition.from_similarity(S).n == 520
