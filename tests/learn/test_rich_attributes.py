"""Nearness in a learned map and walks among neighbours against their definitions."""

import numpy as np
import pytest

from graphpart.learn import pairs
from graphpart.learn.rich_attributes import NAMES, RichAttributes, walk_similarities


def elements(seed=0, n=60):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, n)
    return rng.normal(size=(n, 5)) * [1, 1, 1, 1, 20] + 6 * np.eye(5)[y], y


def test_walks_are_powers_of_the_matrix():
    X, _ = elements()
    near = X @ X.T
    n, k = len(X), 4
    A = np.eye(n)
    for a in range(n):
        order = [b for b in np.argsort(-near[a]) if b != a][:k]
        A[a, order] = A[order, a] = 1
    d = A.sum(axis=1)
    M = A / np.sqrt(np.outer(d, d))
    for steps, found in zip((2, 4, 8, 16), walk_similarities(near, k), strict=True):
        K = np.linalg.matrix_power(M, steps)
        assert found == pytest.approx(K / np.sqrt(np.outer(np.diag(K), np.diag(K))), abs=1e-10)
        assert found.min() >= 0 and found.max() <= 1 + 1e-9


def test_map_whitens_the_scatter_within_classes_and_weighs_directions_by_that_between_them():
    X, y = elements()
    rich = RichAttributes().fit(X, y)
    sizes = np.bincount(y)
    within = np.mean(np.concatenate([np.square(X[y == c] - X[y == c].mean(axis=0)) for c in range(4)]), axis=0)
    whole = X.var(axis=0)
    assert rich.scale_**2 == pytest.approx(within + 0.01 * whole + np.median(within) * within / whole)
    Z = (X - X.mean(axis=0)) / rich.scale_
    means = np.array([Z[y == c].mean(axis=0) for c in range(4)])
    R = Z - means[y]
    free = len(X) - 4
    W = R.T @ R / free
    W = (free * W + 5 * np.trace(W) / 5 * np.eye(5)) / (free + 5)
    P = rich.map_.T @ W @ rich.map_
    weights = np.diag(P)
    assert np.diag(weights) == pytest.approx(P, abs=1e-9) and weights.max() < 1
    B = rich.map_.T @ ((means * (sizes / len(X))[:, None]).T @ means * 4 / 3) @ rich.map_
    b = (np.diag(B) / weights - 4 / len(X)).clip(0.0)  # less the error of the means
    b = (3 * b + 5 * b.mean()) / 8
    assert weights == pytest.approx(b / (1 + b))
    assert rich.share_ == np.median(sizes) / 2 / len(X)
    D = np.linalg.norm(rich.mapped(X)[:, None] - rich.mapped(X), axis=2)
    first = next(iter(rich.matrices(X)))
    assert first == pytest.approx(-D / rich.unit_, abs=1e-6)
    assert rich.unit_**2 == pytest.approx((D**2).mean())


def test_walks_have_neighbors_for_classes_of_new_elements():
    X, y = elements(2, 200)
    rich = RichAttributes().fit(X, y)
    few = X[:50]
    matrices = [matrix.copy() for matrix in rich.matrices(few)]
    k = int(np.median(np.bincount(y)) / 2 * 50 / 200)
    assert k > 4 and rich.least_ == 4.0
    for matrix, walks in zip(matrices[1:5], walk_similarities(matrices[0], k), strict=True):
        assert (matrix == walks).all()


def test_pairs_and_matrices_agree():
    X, y = elements(1)
    rich = RichAttributes().fit(X, y)
    every, _ = pairs.training_pairs(y)
    rows = rich.of_pairs(X, every)
    assert rows.shape == (len(every), len(NAMES))
    theta = np.arange(10.0)
    C = rich.cost_matrix(X, theta, 2.0)
    assert C[every[:, 0], every[:, 1]] == pytest.approx(-rows @ theta - 2.0)
    assert (C == C.T).all() and not np.diagonal(C).any()
    scaled = RichAttributes().fit(X * 1000.0, y)
    assert scaled.of_pairs(X * 1000.0, every) == pytest.approx(rows, abs=1e-5)
    doubled = RichAttributes().fit(X, y, np.full(len(X), 2.0))
    assert doubled.map_ == pytest.approx(rich.map_)


def test_degenerate_elements():
    for X, y in (([[1.0]], [0]), ([[1.0], [1.0]], [0, 1]), (np.zeros((5, 2)), [0, 0, 1, 1, 1])):
        X = np.asarray(X)
        rich = RichAttributes().fit(X, np.asarray(y))
        assert all(np.isfinite(matrix).all() and matrix.shape == (len(X), len(X)) for matrix in rich.matrices(X))
