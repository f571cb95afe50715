"""Given thresholds far from what separates the data are warned of; others, and those for near copies, are not."""

import numpy as np
import pytest

import graphpart as gp


def points(n, k, noise, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, 32))[rng.integers(0, k, n)] + noise * rng.normal(size=(n, 32))


def cosines(X):
    Z = X / np.linalg.norm(X, axis=1, keepdims=True)
    S = Z @ Z.T
    return (S + S.T) / 2


@pytest.mark.parametrize(("threshold", "effect"), [(0.8, "clusters split"), (0.97, "hardly any"), (-0.2, "chain")])
def test_far_thresholds(threshold, effect):
    S = cosines(points(200, 6, 0.8))
    chosen = gp.SetPartition.from_similarity(S)._told["threshold"].split()[0]
    of_points = gp.SetPartition.from_embeddings(points(200, 6, 0.8))._told["threshold"].split()[0]
    assert float(chosen) == pytest.approx(1 - float(of_points), abs=1e-3)  # the same clusters, whatever is given
    with pytest.warns(gp.GraphPartWarning, match=f"threshold is .*{effect}.* suggest {float(chosen):.3g}, ") as caught:
        gp.solve(gp.SetPartition.from_similarity(S, threshold=threshold))
    assert len(caught) == 1  # and not, in addition, that all costs have one sign
    with pytest.warns(gp.GraphPartWarning, match=effect):
        p = gp.SetPartition.from_embeddings(points(200, 6, 0.8), 1 - threshold)
    assert "far from" in repr(p)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "k", "noise"), [(200, 6, 0.8), (200, 50, 0.3), (700, 10, 0.8), (100, 1, 1.0)])
def test_reasonable_thresholds(seed, n, k, noise):
    """Warnings are errors in tests. Of one cluster of noise, no threshold is wrong."""
    X = points(n, k, noise, seed)
    for threshold in (0.3, 0.45, 0.55) if k > 1 else (0.1, 0.5, 0.9):
        gp.SetPartition.from_embeddings(X, 1 - threshold)


def test_thresholds_for_copies():
    """A small threshold in the gap between a few near copies and all other pairs is meant for copies."""
    for n in (300, 900):
        X = points(n, 6, 0.8)
        X[:20] = X[-20:] + 0.01 * np.random.default_rng(1).normal(size=(20, 32))
        r = gp.solve(gp.SetPartition.from_embeddings(X, 0.05))
        assert r.n_clusters == n - 20


def test_few_elements_and_few_values():
    gp.SetPartition.from_embeddings(points(29, 3, 0.1), 1e-9)
    gp.SetPartition.from_similarity(np.ones((40, 40)), threshold=2.0)
    S = cosines(points(60, 3, 0.3))
    S[0, 1] = S[1, 0] = np.inf  # a required join
    gp.SetPartition.from_similarity(S, threshold=3.0)
