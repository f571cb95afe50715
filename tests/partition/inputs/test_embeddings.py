"""Problems from points: costs against distances one by one, neighbours, the background, the threshold, near pairs."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import graphpart as gp
from graphpart.partition.inputs import embeddings, neighbors
from graphpart.partition.inputs.texts import vectors_of_texts


def clusters(seed, noise=0.6, each=50, d=64):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(8), each)
    return rng.normal(size=(8, d))[y] + noise * rng.normal(size=(len(y), d)), y


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_costs_are_distances_minus_the_threshold(metric):
    X, _ = clusters(0, each=3)
    p = gp.SetPartition.from_embeddings(X, 0.4, metric=metric)
    expected = cdist(X, X, metric) - 0.4
    np.fill_diagonal(expected, 0.0)
    assert p.matrix == pytest.approx(expected) and "threshold 0.4" in repr(p)
    q = gp.SetPartition.from_embeddings(X.astype(np.float32).tolist(), 0.4, 4, metric)
    u, v, cost = q._listed()
    assert cost == pytest.approx(expected[u, v], abs=1e-6)
    near = np.argsort(cdist(X, X, metric), axis=1)[:, 1:5]
    neighbours = {(min(a, b), max(a, b)) for a, row in enumerate(near.tolist()) for b in row}
    listed = set(zip(u.tolist(), v.tolist(), strict=True))
    assert neighbours < listed and len(listed) <= 2 * len(neighbours) and q.background is None


def test_large_clusters_stay_whole():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 2000)
    X = 20 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])[y] + rng.normal(size=(8000, 2))
    r = gp.solve(gp.SetPartition.from_embeddings(X, metric="euclidean"), "multilevel")
    assert gp.metrics.adjusted_rand_index(y, r.labels) > 0.99 and not r.problem.is_dense


def test_near_clusters_in_few_dimensions_stay_whole(monkeypatch):
    """Their elements attract little compared with how much others repel, so that drawn pairs would split them."""
    monkeypatch.setattr(embeddings, "ALL_PAIRS", 100)
    monkeypatch.setattr(embeddings, "LISTED", 20)
    rng = np.random.default_rng(1)
    y = rng.integers(0, 5, 1500)
    X = rng.normal(size=(5, 8))[y] + 0.2 * rng.normal(size=(1500, 8))
    assert gp.metrics.adjusted_rand_index(y, gp.solve(gp.SetPartition.from_embeddings(X), "kernighan-lin")) > 0.99


@pytest.mark.parametrize("n_neighbors", [None, 5, 10, 30])
@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_clusters_stay_whole(metric, n_neighbors):
    for seed in range(5):
        X, y = clusters(seed)
        p = gp.SetPartition.from_embeddings(X, n_neighbors=n_neighbors, metric=metric)
        assert gp.metrics.adjusted_rand_index(y, gp.solve(p, "kernighan-lin").labels) > 0.95
        assert "(from the data)" in repr(p)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_drawn_pairs_against_all_pairs(metric, monkeypatch):
    monkeypatch.setattr(embeddings, "ALL_PAIRS", 10)
    monkeypatch.setattr(neighbors, "BLOCK", 5000)  # several blocks
    X, y = clusters(2, each=4)  # few near pairs: each of them has its own cost
    D = cdist(X, X, metric)
    limit = 0.5 if metric == "cosine" else 9.0
    p = gp.SetPartition.from_embeddings(X, limit, metric=metric)
    u, v, cost = p._listed()
    listed = dict(zip(zip(u.tolist(), v.tolist(), strict=True), cost.tolist(), strict=True))
    for a, b in zip(*np.nonzero(np.triu(limit >= D, 1)), strict=True):
        assert listed[int(a), int(b)] == pytest.approx(D[a, b] - limit)
    assert 0 < p.background.terms[0][0] < D.max() - limit
    assert gp.metrics.adjusted_rand_index(y, gp.solve(p, "kernighan-lin").labels) == 1.0
    monkeypatch.setattr(embeddings, "LISTED", 20)
    X, y = clusters(3, each=150)  # many: what an element costs in its cluster is as with all pairs
    q = gp.SetPartition.from_embeddings(X, limit, metric=metric)
    D = cdist(X, X, metric) - limit
    together = (y[:, None] == y) & ~np.eye(len(y), dtype=bool)
    exact = float((D * together).sum()) / 2
    assert len(q._listed()[0]) < 0.5 * np.triu(D < 0).sum()
    assert q.evaluate(y) == pytest.approx(exact, rel=0.1)
    assert gp.metrics.adjusted_rand_index(y, gp.solve(q, "kernighan-lin").labels) > 0.99


def test_tiny_clusters_have_a_threshold_and_no_cliff(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(1500) // 3
    X = rng.normal(size=(500, 64))[y] + 0.6 * rng.normal(size=(1500, 64))
    for most in (3000, 100):
        monkeypatch.setattr(embeddings, "ALL_PAIRS", most)
        p = gp.SetPartition.from_embeddings(X)
        assert p.is_dense == (most > 1500)
        assert gp.metrics.compare(y, gp.solve(p, "kernighan-lin").labels).joins_f1 > 0.98
    monkeypatch.setattr(embeddings, "ALL_PAIRS", 3)
    same = gp.SetPartition.from_embeddings(np.ones((20, 2)), 0.5)
    assert gp.solve(same, "kernighan-lin").n_clusters == 1
    assert gp.solve(gp.SetPartition.from_embeddings(np.eye(20)), "kernighan-lin").n_clusters >= 1


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_sparse_matrices_are_as_dense_ones(metric, monkeypatch):
    X, _ = clusters(4, each=10)
    X[np.abs(X) < 0.5] = 0.0
    S = csr_array(X)
    for most in (3000, 10):
        monkeypatch.setattr(embeddings, "ALL_PAIRS", most)
        p, q = (gp.SetPartition.from_embeddings(M, metric=metric) for M in (X, S))
        assert p._told == q._told
        one, other = p._listed(), q._listed()
        assert (one[0] == other[0]).all() and (one[1] == other[1]).all() and other[2] == pytest.approx(one[2])
    one, other = (
        gp.SetPartition.from_embeddings(M, 0.5 if metric == "cosine" else 9.0, 5, metric)._listed() for M in (X, S)
    )
    assert (one[0] == other[0]).all() and other[2] == pytest.approx(one[2])
    assert (neighbors.near_pairs(X, 3.0)[0] == neighbors.near_pairs(S, 3.0)[0]).all()
    S.data[3] = np.nan
    with pytest.raises(gp.InvalidProblem, match="X has nan in row 0, column"):
        gp.SetPartition.from_embeddings(S)
    with pytest.raises(gp.InvalidProblem, match="row 1 of X is 0"):
        gp.SetPartition.from_embeddings(csr_array(np.diag([1.0, 0.0])))


def test_texts_with_typing_errors():
    texts = ["The quick brown fox", "the quikc brown fox", "A lazy dog sleeps", "a lazzy dog  sleeps", "Something else"]
    V = vectors_of_texts(texts)
    assert np.sqrt(np.asarray((V * V).sum(axis=1))) == pytest.approx(np.ones(5))
    r = gp.solve(gp.SetPartition.from_embeddings(texts))
    assert r.labels.tolist() == [0, 0, 1, 1, 2]
    assert gp.near_duplicates(np.array(texts, object), 0.5).labels.tolist() == [0, 0, 1, 1, 2]
    assert gp.solve(gp.SetPartition.from_embeddings(["a", "a", "", ""], 0.5)).labels.tolist() == [0, 0, 1, 1]
    with pytest.raises(gp.InvalidProblem, match="X has None in row 1: expected a text"):
        gp.SetPartition.from_embeddings(["a", None])


def small_vocabulary(n, seed):
    """n titles of few words and a code, each three times with one wrong letter, and the true clusters."""
    rng = np.random.default_rng(seed)
    words = [
        ["Acme", "Nordfell", "Zebrix", "Kolta", "Mirano", "Hexon", "Pavora", "Luxen"],
        ["portable", "wireless", "compact", "heavy", "foldable", "digital"],
        ["kettle", "vacuum", "backpack", "drill", "lamp", "blender", "keyboard", "camera"],
    ]
    texts = []
    for _ in range(n // 3):
        title = " ".join(
            [*(str(rng.choice(some)) for some in words), f"{rng.choice(list('ABCD'))}{rng.integers(10, 999)}"]
        )
        for at in rng.integers(len(title), size=3):
            texts.append(title[:at] + "x" + title[at + 1 :])
    return texts, np.repeat(np.arange(n // 3), 3)


@pytest.mark.parametrize("n", [300, 1500, 3300])
def test_titles_that_share_words_are_no_copies(n):
    """There are clusters by words, too, whose pairs are far more than those of copies."""
    texts, truth = small_vocabulary(n, seed=n)
    p = gp.SetPartition.from_embeddings(texts)
    assert gp.metrics.compare(truth, gp.solve(p, "greedy-joining").labels).joins_f1 > 0.8


def test_similarities_without_a_threshold():
    X, y = clusters(1)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    p = gp.SetPartition.from_similarity(X @ X.T)
    assert "(from the data)" in repr(p)
    assert gp.metrics.adjusted_rand_index(y, gp.solve(p, "kernighan-lin").labels) > 0.95


@pytest.mark.parametrize("dimensions", [3, 20])
def test_neighbours_and_near_pairs_against_all_distances(dimensions, monkeypatch):
    monkeypatch.setattr(neighbors, "BLOCK", 500)  # several blocks
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, dimensions))
        X[50:] = X[40:50] + rng.normal(size=(10, dimensions)) / 50
        D = cdist(X, X)
        u, v, d = neighbors.near_pairs(X, 0.5)
        a, b = np.nonzero(np.triu(D <= 0.5, 1))
        assert (u == a).all() and (v == b).all() and d == pytest.approx(D[a, b])
        u, v = neighbors.neighbor_pairs(X, 3)
        near = np.argsort(D, axis=1)[:, 1:4]
        wanted = sorted({(min(a, b), max(a, b)) for a, row in enumerate(near.tolist()) for b in row})
        assert list(zip(u.tolist(), v.tolist(), strict=True)) == wanted


def test_equal_points_stay_together():
    X = np.repeat(np.random.default_rng(0).normal(size=(3, 2)) * 9, 200, axis=0)
    r = gp.solve(gp.SetPartition.from_embeddings(X, 1.0, 3, "euclidean"))
    assert r.n_clusters == 3 and gp.metrics.adjusted_rand_index(np.repeat(np.arange(3), 200), r.labels) == 1


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_few_points(n):
    X = np.arange(2.0 * n).reshape(n, 2) + 1
    for k in (None, 1):
        assert gp.solve(gp.SetPartition.from_embeddings(X, 10.0, k, "euclidean")).n_clusters == min(n, 1)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([[0.0, 1.0], [np.nan, 1.0]], {}, "X has nan in row 1, column 0: expected finite numbers"),
        ([[0.0, 1.0], [0.0, 0.0]], {}, "row 1 of X is 0, without a direction: expected other rows, or metric="),
        ([1.0, 2.0], {}, r"X has shape \(2,\): expected \(n, d\)"),
        ([["a", "b"]], {}, "X has dtype <U1: expected real numbers"),
        ([[1.0, 2.0]], {"metric": "cosin"}, "metric is 'cosin': expected one of .*did you mean 'cosine'"),
        ([[1.0, 2.0]], {"n_neighbors": 0}, "n_neighbors is 0: expected a whole number of at least 1"),
        ([[1.0, 2.0]], {"threshold": "low"}, "threshold is 'low': expected a finite number, or None"),
    ],
)
def test_mistakes(X, options, message):
    with pytest.raises((gp.InvalidProblem, gp.InvalidOption), match=message):
        gp.SetPartition.from_embeddings(X, **options)


def test_names_are_those_of_the_frame():
    pd = pytest.importorskip("pandas")
    X, _ = clusters(0, each=2)
    frame = pd.DataFrame(X, index=[f"text {k}" for k in range(len(X))])
    assert list(gp.SetPartition.from_embeddings(frame).nodes) == list(frame.index)


def test_predictions_of_splink():
    rows = {"unique_id_l": [1, 1, 2], "unique_id_r": [1, 2, 2], "match_weight": [3.0, 0.5, -2.0]}
    rows |= {"source_dataset_l": ["a", "a", "a"], "source_dataset_r": ["b", "b", "b"]}
    p = gp.SetPartition.from_splink(rows)
    assert set(p.nodes) == {("a", 1), ("b", 1), ("b", 2), ("a", 2)}
    assert p.evaluate([{("a", 1), ("b", 1)}, {("a", 2)}, {("b", 2)}]) == -3.0
    with pytest.raises(
        gp.InvalidProblem, match="no column 'match_weight': expected one of 'unique_id_l', 'unique_id_r'"
    ):
        gp.SetPartition.from_splink({"unique_id_l": [1], "unique_id_r": [2]})


def test_costs_for_scipy():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2)], [-2.0, np.inf], must_join=[(2, 3)])
    q = gp.SetPartition.from_scipy(p.to_scipy())
    assert q.evaluate([0, 0, 1, 1]) == -2.0 == p.evaluate([0, 0, 1, 1])
    assert q.evaluate([0, 0, 1, 0]) == np.inf


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_directions_of_very_large_and_small_numbers(scale):
    X = np.random.default_rng(0).normal(size=(12, 3))
    expected = gp.SetPartition.from_embeddings(X, threshold=0.5).matrix
    np.testing.assert_allclose(gp.SetPartition.from_embeddings(X * scale, threshold=0.5).matrix, expected, atol=1e-12)


def test_neighbors_take_memory_for_blocks_only():
    """The numbers of all points in the order of their distance from each would take 200 MB."""
    X = np.random.default_rng(0).normal(size=(5000, 16))
    tracemalloc.start()
    u, v = neighbors.neighbor_pairs(X, 5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(u) == len(v) >= 2.5 * 5000 and peak < 150e6
