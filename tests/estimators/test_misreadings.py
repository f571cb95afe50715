"""What `CorrelationClustering` and `from_similarity` say of data that mean something else, and of data that do not."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from trials import trials

import graphpart as gp
from graphpart.estimators import CorrelationClustering
from graphpart.partition.problem.misreadings import check_kind


def distances(n, clusters, dimension, noise, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(clusters, dimension))[rng.integers(clusters, size=n)] + noise * rng.normal(size=(n, dimension))
    return np.linalg.norm(X[:, None] - X, axis=2)


@pytest.mark.parametrize("seed", range(trials(12)))
@pytest.mark.parametrize(("clusters", "dimension", "noise"), [(1, 1, 1.0), (1, 20, 1.0), (3, 2, 0.3), (8, 64, 0.5)])
def test_distances_and_similarities_are_told_from_each_other(seed, clusters, dimension, noise):
    D = distances(60 + 20 * seed, clusters, dimension, noise, seed)
    check_kind(D, similarity=False)  # pytest makes an error of each warning
    check_kind(np.exp(-D), similarity=True)
    if clusters > 1 or dimension == 1:
        with pytest.warns(gp.GraphPartWarning, match="the similarities look like distances"):
            check_kind(D, similarity=True)
        with pytest.warns(gp.GraphPartWarning, match="the distances look like similarities"):
            check_kind(np.exp(-D), similarity=False)


@pytest.mark.parametrize("similarity", [False, True])
def test_matrices_without_structure_are_neither(similarity):
    for n in (0, 1, 5, 30, 40, 100, 300):
        for seed in range(20):
            R = np.random.default_rng(seed).random((n, n))
            check_kind(R + R.T, similarity)
            check_kind(np.zeros((n, n)), similarity)
    for p in (0.1, 0.7):
        check_kind(nx.to_numpy_array(nx.gnp_random_graph(100, p, seed=0)), similarity)


def test_matrices_of_the_other_kind_warn():
    D = distances(100, 8, 64, 0.5, 0)
    S = np.exp(-D / D.mean())
    np.fill_diagonal(S, 0.0)
    for call in (
        lambda: CorrelationClustering("precomputed").fit(S),
        lambda: CorrelationClustering("precomputed", kind="similarity").fit(D),
        lambda: gp.SetPartition.from_similarity(D),
    ):
        with pytest.warns(gp.GraphPartWarning, match="look like"):
            call()
    with pytest.warns(gp.GraphPartWarning, match="symmetric matrix, but is read as points"):
        CorrelationClustering().fit(D)
    with pytest.raises(gp.InvalidOption, match="metric is 'euclidean': expected metric='precomputed'"):
        CorrelationClustering(kind="similarity").fit(D)


def test_pairs_in_place_of_elements():
    u, v = np.triu_indices(30, 1)
    pairs = pd.DataFrame({"id_a": u, "id_b": v, "score": np.where(u // 10 == v // 10, 0.9, 0.1)})
    named = pairs.assign(id_a="r" + pairs.id_a.astype(str), id_b="r" + pairs.id_b.astype(str))
    with pytest.raises(gp.InvalidProblem, match=r"from_frame\(X, 'id_a', 'id_b', probability='score'\)"):
        CorrelationClustering().fit(named)
    with pytest.warns(gp.GraphPartWarning, match=r"from_frame\(X, 'id_a', 'id_b', probability='score'\)"):
        CorrelationClustering().fit(pairs)
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(18, 90, 60), "income": rng.integers(1000, 9000, 60), "share": rng.random(60)}
    CorrelationClustering().fit(pd.DataFrame(columns))
    CorrelationClustering().fit(pd.DataFrame(rng.random((20, 3)), columns=list("xyz")))
    for other in (nx.path_graph(4), gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0])):
        with pytest.raises(gp.InvalidProblem, match=r"expected a row for each element; gp.solve\(X\)"):
            CorrelationClustering().fit(other)


@pytest.mark.parametrize(("kind", "letter"), [("similarity", "S"), ("distance", "D")])
def test_the_mean_of_both_directions_is_told(kind, letter):
    X = np.array([[0.0, 0.2, 0.9], [0.4, 0.0, 0.8], [0.9, 0.8, 0.0]])
    X += np.eye(3) * (kind == "similarity")
    message = rf"matrix\[0, 1\] is 0.2 but matrix\[1, 0\] is 0.4: .* pass \({letter} \+ {letter}.T\) / 2$"
    with pytest.raises(gp.InvalidProblem, match=message):
        CorrelationClustering(metric="precomputed", kind=kind, threshold=0.5).fit(X)
