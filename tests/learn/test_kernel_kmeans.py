"""Kernel k-means against its definition, brute force, k-means in the plane, and normalised cuts."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphpart import InvalidOption, InvalidProblem, Status
from graphpart.learn import kernel_kmeans
from graphpart.learn.kernel_kmeans import kernel_kmeans_objective


def problem(seed, n, V=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, V))
    return X, rng.random(n) + 0.1


def around_means(X, labels, w):
    """The weighted sum of squared distances to the means of subsets, in the plane."""
    total = 0.0
    for label in set(labels.tolist()):
        inside = labels == label
        mean = np.average(X[inside], axis=0, weights=w[inside])
        total += w[inside] @ np.square(X[inside] - mean).sum(axis=1)
    return total


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 4), st.booleans())
def test_fixed_points_have_no_better_move(seed, n, k, weighted):
    k = min(k, n)
    X, w = problem(seed, n)
    w = w if weighted else np.ones(n)
    r = kernel_kmeans(X @ X.T, k, w if weighted else None, seed=seed)
    assert r.status is Status.LOCAL_OPTIMUM and r.n_clusters <= k
    assert r.cost == pytest.approx(around_means(X, r.labels, w), abs=1e-9)
    for a, D in itertools.product(range(n), range(k)):
        moved = r.labels.copy()
        moved[a] = D
        assert around_means(X, moved, w) >= r.cost - 1e-9
    costs = [cost for _, cost in r.history]
    assert all(p >= q - 1e-9 for p, q in itertools.pairwise(costs))


@given(st.integers(0, 10**6), st.integers(1, 7), st.integers(1, 3))
def test_the_best_of_some_starts_is_the_optimum_of_small_problems(seed, n, k):
    k = min(k, n)
    X, w = problem(seed, n)
    best = min(around_means(X, np.array(labels), w) for labels in itertools.product(range(k), repeat=n))
    found = min(kernel_kmeans(X @ X.T, k, w, seed=s).cost for s in range(12))
    assert found == pytest.approx(best, abs=1e-9)


def test_moves_are_the_best_ones():
    """The trajectory is that of a naive search which evaluates every move from the definition."""
    for seed in range(20):
        X, w = problem(seed, 12)
        labels = np.random.default_rng(seed).integers(0, 3, 12)
        r = kernel_kmeans(X @ X.T, 3, w, initial=labels)
        moves = 0
        while True:
            now = around_means(X, labels, w)
            trials = []
            for a, D in itertools.product(range(12), range(3)):
                moved = labels.copy()
                moved[a] = D
                trials.append((around_means(X, moved, w), a, D))
            cost, a, D = min(trials)
            if cost >= now - 1e-12:
                break
            labels[a] = D
            moves += 1
        assert r.cost == pytest.approx(around_means(X, labels, w)) and r.iterations == moves
        assert len(set(zip(labels.tolist(), r.labels.tolist(), strict=True))) == len(set(labels.tolist()))


def test_fixed_points_are_those_of_lloyd():
    cluster = pytest.importorskip("sklearn.cluster")
    X, _ = problem(1, 200, V=3)
    r = kernel_kmeans(X @ X.T, 4, seed=0)
    means = np.array([X[r.labels == label].mean(axis=0) for label in range(4)])
    lloyd = cluster.KMeans(4, init=means, n_init=1).fit(X)
    assert (lloyd.labels_ == r.labels).all()
    assert lloyd.inertia_ == pytest.approx(r.cost)


def test_weights_from_degrees_give_normalised_cuts():
    G = nx.connected_caveman_graph(3, 6)
    A = nx.to_numpy_array(G)
    d = A.sum(axis=1)
    K = A / np.outer(d, d) + np.diag(1.0 / d)  # the diagonal makes it positive semi-definite and shifts J
    for labels in (np.arange(18) // 6, np.arange(18) % 3, np.arange(18) % 4):
        subsets = [set(np.flatnonzero(labels == label).tolist()) for label in np.unique(labels)]
        cut = sum(nx.cut_size(G, S) / nx.volume(G, S) for S in subsets)
        # J = n + sum_a A_aa / d_a - (sum over C of links within C + d(C)) / d(C) = n - 2 k + cut
        assert kernel_kmeans_objective(K, labels, d) == pytest.approx(18 - 2 * len(subsets) + cut)
    r = kernel_kmeans(K, 3, d, seed=0)
    assert r.partition == [set(range(6)), set(range(6, 12)), set(range(12, 18))]


def test_a_kernel_separates_rings():
    rng = np.random.default_rng(0)
    angle, radius = rng.random(120) * 2 * np.pi, np.repeat([1.0, 6.0], 60)
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    K = np.square(X @ X.T)  # (x, z) -> <x, z>^2 sees x_1^2, x_2^2, x_1 x_2
    best = min((kernel_kmeans(K, 2, seed=seed) for seed in range(5)), key=lambda r: r.cost)
    assert len(set(zip(radius.tolist(), best.labels.tolist(), strict=True))) <= 4


def test_degenerate():
    assert kernel_kmeans(np.zeros((0, 0)), 1).n_clusters == 0
    assert kernel_kmeans([[2.0]], 1).cost == 0
    assert kernel_kmeans(np.ones((4, 4)), 3, seed=0).cost == pytest.approx(0)
    assert kernel_kmeans(np.eye(3), 3, initial=[0, 0, 0]).n_clusters == 3  # empty subsets are filled
    X, _ = problem(3, 50)
    assert kernel_kmeans(X @ X.T, 5, seed=1, max_iterations=2).status is Status.ITERATION_LIMIT
    assert kernel_kmeans(X @ X.T, 5, seed=1, callback=lambda *_: True).status is Status.INTERRUPTED


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((np.ones((2, 3)), 1), {}, InvalidProblem, "finite square"),
        ((np.full((2, 2), np.nan), 1), {}, InvalidProblem, "finite square"),
        (([[0, 1], [2, 0]], 1), {}, InvalidProblem, "not symmetric"),
        ((np.eye(2), 3), {}, InvalidOption, "k is 3: expected 1 to 2"),
        ((np.eye(2), 0), {}, InvalidOption, "k is 0"),
        ((np.eye(2), 1, [1.0, 0.0]), {}, InvalidProblem, "weights"),
        ((np.eye(2), 1), {"initial": [0, 1]}, InvalidOption, "initial"),
        ((np.eye(2), 1), {"initial": [0]}, InvalidOption, "initial"),
    ],
)
def test_bad_input(arguments, options, error, message):
    with pytest.raises(error, match=message):
        kernel_kmeans(*arguments, **options)
