"""Consensus against brute force over all partitions, large problems against naive sums, and its bounds."""

import itertools

import numpy as np
import pytest

import graphpart as gp


def disagreement(labelings, weights, labels):
    total = 0.0
    for labeling, weight in zip(labelings, weights, strict=True):
        for a, b in itertools.combinations(range(len(labels)), 2):
            total += weight * ((labeling[a] == labeling[b]) != (labels[a] == labels[b]))
    return total


def noisy(seed, n, clusters, m, noise):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, clusters, n)
    labelings = []
    for _ in range(m):
        x = y.copy()
        wrong = rng.random(n) < noise
        x[wrong] = rng.integers(0, clusters, int(wrong.sum()))
        labelings.append(rng.permutation(clusters)[x])
    return y, labelings


def test_small_ones_are_optimal():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(1, 6)), int(rng.integers(1, 5))
        labelings = rng.integers(0, 3, (m, n)).tolist()
        weights = rng.integers(1, 4, m).astype(float)
        r = gp.consensus(labelings, weights)
        best = min(disagreement(labelings, weights, x) for x in itertools.product(range(n), repeat=n))
        assert r.disagreement == pytest.approx(best) == disagreement(labelings, weights, r.labels), f"seed {seed}"
        assert r.disagreement_bound <= best + 1e-9 and r.status == "optimal"


def test_all_ways_agree(monkeypatch):
    import sys

    module = sys.modules["graphpart.records.labelings"]
    y, labelings = noisy(0, 120, 4, 9, 0.15)
    found = [gp.consensus(labelings, method="kernighan-lin")]
    for dense, listed in ((0, 10**9), (0, 0)):
        monkeypatch.setattr(module, "DENSE", dense)
        monkeypatch.setattr(module, "LISTED", listed)
        found.append(gp.consensus(labelings, method="kernighan-lin"))
    for r in found:
        assert gp.metrics.adjusted_rand_index(y, r.labels) > 0.97
        assert r.disagreement == pytest.approx(disagreement(labelings, np.ones(9), r.labels))
        assert r.disagreement_bound <= min(other.disagreement for other in found) + 1e-6
    assert max(r.disagreement for r in found) <= 1.01 * min(r.disagreement for r in found)


def test_stability_and_agreement():
    labelings = [[0, 0, 0, 1, 1, 2], [5, 5, 5, 7, 7, 1], [0, 0, 1, 1, 1, 3]]
    r = gp.consensus(labelings, nodes=list("abcdef"))
    assert [sorted(c) for c in r.clusters] == [["a", "b", "c"], ["d", "e"], ["f"]]
    assert r.stability == pytest.approx([7 / 9, 1.0, 1.0])
    assert r.agreement == pytest.approx([5 / 6, 5 / 6, 2 / 3, 1.0, 1.0, 1.0])
    frame = r.to_frame()
    assert list(frame.columns) == ["element", "cluster", "size", "agreement"]


def test_elements_on_which_no_two_labelings_agree_are_the_least_stable():
    labelings = [[0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1, 2]]
    r = gp.consensus([*labelings[:2], [0, 0, 0, 1, 2, 2, 1]], nodes=list("abcdefg"))
    assert {"g"} in r.clusters and r.agreement[6] == 0.0 and r.agreement[:3] == pytest.approx([1, 1, 1])
    assert r.stability[r.labels[6]] == 0.0
    r = gp.consensus(labelings, weights=[1, 1, 1, 3])
    assert r.agreement[6] == pytest.approx(4 / 6) == r.stability[r.labels[6]]
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, m = int(rng.integers(1, 7)), int(rng.integers(1, 5))
        some, w = rng.integers(0, 4, (m, n)), rng.integers(1, 4, m).astype(float)
        r = gp.consensus(some.tolist(), w)
        for a in range(n):
            others = [b for b in range(n) if b != a and r.labels[b] == r.labels[a]]
            shares = [w @ (some[:, a] == some[:, b]) for b in others]
            alone = w @ ((some == some[:, [a]]).sum(1) == 1)
            assert r.agreement[a] == pytest.approx((np.mean(shares) if others else alone) / w.sum())


@pytest.mark.parametrize("dense", [True, False])
def test_a_result_has_its_problem(dense, monkeypatch):
    import io
    import sys

    _, labelings = noisy(3, 60, 4, 7, 0.2)
    if not dense:
        monkeypatch.setattr(sys.modules["graphpart.records.labelings"], "DENSE", 10)
    names = [f"cell {k}" for k in range(60)]
    r = gp.consensus(labelings, nodes=names)
    assert r.problem.is_dense == dense and list(r.problem.nodes) == names
    assert r.problem.evaluate(r) == pytest.approx(r.cost)
    d = gp.partition.doubts(r.problem, r)
    assert d.elements.rows == 60 and (r.status != "optimal" or d.gain == 0)
    pytest.importorskip("bokeh")
    page = io.BytesIO()
    gp.report(r.problem, r, page)
    assert "What is doubtful" in page.getvalue().decode()


def test_rows_and_columns_exchanged():
    pd = pytest.importorskip("pandas")
    table = np.arange(200).reshape(2, 100) // 30  # two labelings of 100 elements
    for wrong, advice in (
        (table.T, r"give array\.T"),
        (table.T.tolist(), r"give list\(zip\(\*labelings\)\)"),
        (pd.DataFrame(table), r"give frame\.T"),
    ):
        with pytest.raises(gp.InvalidOption, match=f"100 labelings of 2 elements: .*{advice}; .*nodes=range\\(2\\)"):
            gp.consensus(wrong)
    for right in (table, table.tolist(), pd.DataFrame(table.T)):
        assert gp.consensus(right).n_clusters > 1
    assert gp.consensus(table.T, nodes=range(2)).labels.tolist() == [0, 1]  # so many labelings, without a warning


def test_rows_and_columns_may_be_exchanged():
    table = np.arange(160).reshape(4, 40) // 30
    for wrong in (table[:, :12].T, table[:, :40].T[:, :3].tolist(), np.zeros((60, 12), int), np.zeros((50, 4), int)):
        with pytest.warns(gp.GraphPartWarning, match="labelings of .* elements: .*; if .*, give"):
            gp.consensus(wrong)


def test_labels_of_any_kind():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"one": ["x", "x", None, None], "two": [0.0, 0.0, np.nan, 1.0]}, index=list("abcd"))
    r = gp.consensus(frame)
    assert [sorted(c) for c in r.clusters] == [["a", "b"], ["c"], ["d"]]
    assert gp.consensus({"one": [1, 1, -1, -1]}).n_clusters == 3
    result = gp.solve(gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 1.0]))
    assert gp.consensus([result, result.labels]).labels.tolist() == [0, 0, 1]


def test_named_labelings_are_matched_by_name():
    pd = pytest.importorskip("pandas")
    one, other = {"a": 0, "b": 0, "c": 1, "d": 1}, {"d": 5, "c": 5, "a": 2, "b": 2}
    results = []
    for order in ("abcd", "dcab"):
        pairs = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-1.0, 1.0, -1.0], nodes=order)
        results.append(gp.solve(pairs))
    series = [pd.Series(one), pd.Series(other)]
    for given in ([one, other], results, series, {"x": series[0], "y": results[1]}, [one, results[1], series[1]]):
        r = gp.consensus(given)
        assert r.disagreement == 0 and list(r.nodes) == list("abcd") and r.labels.tolist() == [0, 0, 1, 1]
    r = gp.consensus([other, one], nodes=list("acbd"))
    assert list(r.nodes) == list("acbd") and r.labels.tolist() == [0, 1, 0, 1]
    missing = pd.Series([1, 1, pd.NA, -1, np.nan], dtype="Int64")
    for given in (missing, missing.to_dict(), dict(enumerate(np.array([1, 1, -1, -1, -1])))):
        assert gp.consensus([given]).labels.tolist() == [0, 0, 1, 2, 3]
    assert gp.consensus([one, [0, 0, 1, 1]]).disagreement == 0  # in the order of the names
    for bad, message in (
        ([one, {"a": 0, "b": 0, "c": 1, "e": 1}], "labeling 1 has the element 'e', labeling 0 has not"),
        ([one, {"a": 0, "b": 0, "c": 1}], "labeling 1 lacks the element 'd' of labeling 0"),
        ([series[0], pd.Series([0, 0, 0, 1], index=list("aabc"))], "labeling 1 names 'a' more than once"),
        ([results[0], gp.solve(gp.SetPartition.from_pairs(4, [(0, 1)], [-1.0]))], "labeling 1 has the element 0"),
        ([one, other, [0, 0, 1, 1]], "another order than labeling 0, and labeling 2 has no names"),
    ):
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.consensus(bad)


def test_columns_that_are_labelings_are_refused_at_once():
    array = np.random.default_rng(0).integers(0, 2, (20_000, 5))
    with pytest.raises(gp.InvalidOption, match=r"20000 labelings of 5 elements: .*, give array\.T"):
        gp.consensus(array)  # would take minutes
    assert len(gp.consensus(array.T).labels) == 20_000


@pytest.mark.parametrize(
    ("labelings", "options", "message"),
    [
        ([], {}, "no labelings: expected at least one"),
        ([[0, 1], [0, 1, 2]], {}, "labeling 1 has 3 labels, labeling 0 has 2"),
        ([[[0, 1]]], {}, r"a labeling has shape \(1, 2\)"),
        ([[0, 1]], {"weights": [0.0]}, "expected a positive number for each of 1 labelings"),
        ([[0, 1]], {"nodes": ["a"]}, "1 node for 2 elements"),
    ],
)
def test_mistakes(labelings, options, message):
    with pytest.raises((gp.InvalidPartition, gp.InvalidOption), match=message):
        gp.consensus(labelings, **options)


def test_fifteen_labelings_of_sixty_elements_are_proven():
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 6, 60)
    runs = [np.where(rng.random(60) < 0.3, rng.integers(0, 6, 60), truth) for _ in range(15)]
    r = gp.consensus(runs)
    assert str(r.status) == "optimal" and r.disagreement_bound == r.disagreement


def test_a_text_is_no_time_limit():
    with pytest.raises(gp.InvalidOption, match="time_limit is '10': expected a number"):
        gp.consensus([[0, 0, 1], [0, 1, 1]], time_limit="10")


def test_a_notebook_shows_the_agreement():
    r = gp.consensus([[0, 0, 0, 1, 1], [5, 5, 5, 7, 7], [0, 0, 1, 1, 1]], nodes=list("abcde"))
    shown = r._repr_html_()
    assert "<td" in shown and "mean agreement" in shown and "disagreement" in shown
    assert "c (0.6667)" in shown and f"{r.stability[0]:.4g}" in shown


def test_columns_of_names_or_measurements_are_refused():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"cell": [f"c{k}" for k in range(6)], "a": [0, 0, 0, 1, 1, 1], "b": [0, 0, 0, 1, 1, 1]})
    with pytest.raises(gp.InvalidPartition, match=r"'cell' has another text in every row.*set_index\('cell'\)"):
        gp.consensus(frame)
    r = gp.consensus(frame.set_index("cell"))
    assert r.n_clusters == 2 and list(r.nodes) == frame.cell.tolist()
    with pytest.raises(gp.InvalidPartition, match=r"column 'x' has 0.5: expected labels"):
        gp.consensus(frame.set_index("cell").assign(x=[0.0, 1.0, 0.5, np.nan, 2.0, 1.0]))
    assert gp.consensus(frame.set_index("cell").assign(x=[0.0, 0.0, 0.0, 1.0, np.nan, 1.0])).n_clusters == 2
