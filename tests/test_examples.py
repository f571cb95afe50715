"""The worked studies at reduced size."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import graphpart as gp

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

pytest.importorskip("sklearn")


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_digits(tmp_path):
    pytest.importorskip("matplotlib")
    study = example("digits")
    (row,), accuracies = study.study(quick=True, figure=tmp_path / "digits.png")
    assert (tmp_path / "digits.png").stat().st_size > 1000
    assert row["max margin: partition at 0"] > max(row["max margin: components"], row["pixels: average linkage"])
    assert min(row["max margin: partition at 0"], row["logistic: partition at 0"]) > 0.5 and row["n"] > 150
    assert set(row["thresholds"]) == {"max margin", "logistic"}
    assert 0.8 < min(accuracies.values()) <= max(accuracies.values()) < 1


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
def test_records(tmp_path):
    pytest.importorskip("recordlinkage")
    pytest.importorskip("rapidfuzz")
    pytest.importorskip("matplotlib")
    study = example("records")
    (row,) = study.study(quick=True, figure=tmp_path / "records.png")
    assert (tmp_path / "records.png").stat().st_size > 1000
    assert all(row[name].joins_f1 > 0.9 for name in study.METHODS)


@pytest.fixture
def beside(monkeypatch):
    """What stands beside an example can be imported, as when it is run."""
    monkeypatch.syspath_prepend(EXAMPLES)


def test_records_large(tmp_path, capsys, beside):
    pytest.importorskip("pyarrow")
    pytest.importorskip("rapidfuzz")
    pytest.importorskip("matplotlib")
    study = example("records_large")
    if importlib.util.find_spec("splink") is None:
        with pytest.raises(gp.MissingDependency, match="needs the package splink: pip install 'graphpart"):
            study.study(1000)
        pytest.skip("splink is not installed")
    found = study.study(10_000, workers=0, folder=tmp_path / "files")
    study.draw(found, tmp_path / "records.png")
    assert (tmp_path / "records.png").stat().st_size > 1000
    scores = found["scores"]
    best = max(scores[f"components, best {measure} in hindsight"]["F1"] for measure in ("F1", "cluster F1"))
    assert scores["partition"]["F1"] > 0.98 and scores["partition"]["F1"] > best - 0.004
    assert scores["partition"]["cluster F1"] > 0.94 and scores["partition"]["variation of information"] < 0.06
    assert scores["partition through files"]["F1"] > 0.98
    # Splink's clusters are the components
    labels = found["labels"]
    assert gp.metrics.rand_index(labels["components"], labels["Splink's clustering"]) == 1.0
    assert all(row["F1"] > 0.95 for row in found["later"].values())
    assert {"candidates", "costs", "partition", "later: extend"} <= set(found["seconds"]) and found["GB"] > 0
    assert "candidates: " in capsys.readouterr().err
    # what was written is what was clustered, also by the command line
    import pyarrow.parquet as pq

    table = pq.read_table(tmp_path / "files" / "scored.parquet")
    assert table.column_names == ["u", "v", "cost"] and table.num_rows == found["candidates"]
    problem = gp.io.read_pairs(tmp_path / "files" / "scored.parquet", cost="cost")
    assert problem.m == found["candidates"]
    with pytest.raises(SystemExit) as ended:
        study.main(["--records", "10"])
    assert ended.value.code == 2 and "expected at least 1000" in capsys.readouterr().err


def test_large_records_say_what_is_not_installed(beside, monkeypatch, capsys):
    study = example("records_large")
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(SystemExit) as ended:
        study.main(["--records", "1000"])
    err = capsys.readouterr().err
    assert ended.value.code == 1 and err.count("\n") == 1
    assert "needs the package" in err and "pip install 'graphpart[records]'" in err


def test_scores_of_large_records_are_those_of_all_pairs(beside):
    """Over all records, the scores seen from each record are the usual ones."""
    study = example("records_large")
    rng = np.random.default_rng(3)
    for _ in range(50):
        n = int(rng.integers(1, 40))
        person, labels = rng.integers(0, 8, n), rng.integers(0, 8, n)
        found, usual = study.scores(person, labels, np.ones(n, bool)), gp.metrics.compare(person, labels)
        assert found["F1"] == pytest.approx(usual.joins_f1 if usual.joins_f1 < 1 else max(found["F1"], 0.0))
        assert found["variation of information"] == pytest.approx(usual.variation_of_information, abs=1e-12)
        true, clusters = (
            {frozenset(np.flatnonzero(x == k).tolist()) for k in set(x.tolist())} for x in (person, labels)
        )
        assert found["cluster F1"] == pytest.approx(2 * len(true & clusters) / (len(true) + len(clusters)))


def test_candidates_of_large_records(beside):
    """Those that share a key, or do so with names, or day and month, swapped; only later ones if that is asked for."""
    pytest.importorskip("pyarrow")
    study = example("record_pairs")
    rows = [
        ("Robert", "Ashford", "1970-03-11", "1 Elm Road", "York", "10000", None, "a@example.com"),
        ("Bob", "Ashford", None, None, "York", None, None, None),  # nickname
        ("Ashford", "Robert", "1970-03-12", None, None, None, None, None),  # swapped
        ("Robbert", "Asford", "1970-11-03", None, None, None, None, None),  # day and month
        ("Xenia", "Quill", "1999-01-01", "7 Oak Lane", None, None, "0123", None),
        (None, None, None, None, None, None, "0123", None),
        (None, None, None, None, None, None, None, None),
    ]
    columns = {f: np.array([row[k] for row in rows], object) for k, f in enumerate(study.FIELDS)}
    records = study.encode(columns)
    found = set(zip(*(x.tolist() for x in study.candidates(records, lambda done, of: None)), strict=True))
    assert found == {(0, 1), (0, 2), (0, 3), (4, 5)}
    later = study.candidates(records, lambda done, of: None, 3)
    assert set(zip(*(x.tolist() for x in later), strict=True)) == {(0, 3), (4, 5)}
    if importlib.util.find_spec("rapidfuzz"):
        u, v = np.array(sorted(found)).T
        X = study.attributes(records, u, v)
        assert np.isfinite(X).all() and len(X) == 4
        names = 5 * len(study.FIELDS)
        assert X[:, names : names + 4].tolist() == [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]


def test_segmentation(tmp_path):
    pytest.importorskip("skimage")
    pytest.importorskip("matplotlib")
    study = example("segmentation")
    parts, (row,), learned, crf = study.study(quick=True, figure=tmp_path / "segmentation.png")
    assert (tmp_path / "segmentation.png").stat().st_size > 1000
    result = row["result"]
    assert 1 < result.n_clusters < len(parts["means"]) and result.lower_bound <= result.cost < 0
    # the boundaries are those of the picture
    right = parts["region"][:, 1:] != parts["region"][:, :-1]
    down = parts["region"][1:] != parts["region"][:-1]
    assert parts["length"].sum() == right.sum() + down.sum()
    assert crf["best"].cost <= crf["flips"].cost <= crf["alone"] and crf["best"].status == gp.Status.OPTIMAL
    assert crf["model"].evaluate(crf["best"].labels) == pytest.approx(crf["best"].cost)
    for half, other in (("left", ~parts["left"]), ("right", parts["left"])):
        marked = other & (parts["things"] >= 0)
        assert [r["costs"] for r in learned[half]] == ["learned", "by hand"]
        for r in learned[half]:  # compared on the other half only
            assert r["comparison"] == gp.metrics.compare(parts["things"][marked], r["result"].labels[marked])


def test_sequences(tmp_path):
    pytest.importorskip("matplotlib")
    study = example("sequences")
    rows = study.study(quick=True, figure=tmp_path / "sequences.png")
    assert (tmp_path / "sequences.png").stat().st_size > 1000
    by_name = {name: shares for name, *shares in rows}
    assert by_name["tables by place"][2] < by_name["single images and places"][2] / 2  # what is no date
    assert 0 < by_name["ChainCRF"][0] < by_name["single images"][0]
    assert [study.is_date([int(c) for c in text]) for text in ("29021952", "30021952", "01011949")] == [
        True,
        False,
        False,
    ]


def test_learned_costs_restore_pictures(tmp_path):
    pytest.importorskip("matplotlib")
    study = example("restore_image")
    rows, shown = study.learn(64, 80, 0.2, 0.6, 1, quick=True)
    study.draw_learned(shown, tmp_path / "learned.png")
    assert (tmp_path / "learned.png").stat().st_size > 1000
    wrong = {name: np.mean(shares) for name, shares, _ in rows}
    assert wrong["pseudolikelihood, 3 x 3 pixels"] < wrong["by hand, 0.6"]


def test_average_linkage_of_the_records_study_is_scipys():
    pytest.importorskip("scipy")
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    study = example("records")
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = 9
        pairs = np.stack(np.triu_indices(n, 1), axis=1)
        costs = rng.normal(size=len(pairs))
        distance = np.zeros((n, n))
        distance[pairs[:, 0], pairs[:, 1]] = distance[pairs[:, 1], pairs[:, 0]] = costs - costs.min()
        expected = fcluster(linkage(squareform(distance), "average"), -costs.min(), "distance")
        if len(set(study.decide(n, pairs, costs).tolist())) == 1:
            found = study.average_linkage(n, pairs, costs)
            assert gp.metrics.adjusted_rand_index(expected, found) == 1.0


def test_costs_out_of_sample_know_nothing_of_what_they_judge():
    """Each cost is that of a model learned without the folds, or the classes, of its pair."""
    rng = np.random.default_rng(1)
    y = rng.permutation(np.arange(24) % 4)
    pairs, same = gp.learn.pairs.training_pairs(y)
    X = rng.normal(size=(len(pairs), 2)) + same[:, None]
    parts = y[pairs]
    pytest.importorskip("rapidfuzz")
    study = example("records")
    found = study.costs_out_of_sample(X, same, parts)
    for s, (i, j) in enumerate(parts.tolist()):
        others = [not {i, j} & set(ends) for ends in parts.tolist()]
        assert found[s] == pytest.approx(study.learn(X[others], same[others]).costs(X[s : s + 1])[0])


def test_restore_image(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    study = example("restore_image")
    f, rows = study.study(quick=True, figure=tmp_path / "restored.png")
    assert (tmp_path / "restored.png").read_bytes()[:4] == b"\x89PNG"
    assert [name for name, *_ in rows] == ["noisy", "after ICM", "optimum", "without noise"]
    seen, icm, best, truth = (energy for _, _, energy, *_ in rows)
    assert best <= icm < seen and best <= truth
    assert rows[2][3] == best and rows[2][4] < rows[0][4]
    assert all(f.evaluate(labels) == energy for _, labels, energy, *_ in rows)
    cost, ilp = study.check(0.2, 0.6, seed=1)
    assert cost == best and ilp.status == gp.Status.OPTIMAL and ilp.cost == pytest.approx(best, rel=1e-9)
    study.main(["--quick"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].startswith(f"| optimum | {best:.2f} | {best:.2f} |")
    learned = lines[lines.index("") + 3 : -2]  # after the names of columns and a rule
    names = [line.split("|")[1].strip() for line in learned]
    assert names[0] == "by hand, 0.6" and [name.split(",")[0] for name in names[2:]] == 3 * ["pseudolikelihood"]
    assert lines[5].startswith("| without noise ") and lines[-2] == ""
    assert lines[-1].startswith(f"24 x 32 pixels: graph cut {best:.6f}, integer program {best:.6f} (optimal), ")


def test_restore_image_in_full():
    _, rows = example("restore_image").study()
    seen, icm, best, truth = (energy for _, _, energy, *_ in rows)
    assert [round(energy, 2) for energy in (seen, icm, best, truth)] == [7493.39, 6580.04, 6311.71, 6516.86]
    assert rows[2][3] == pytest.approx(best, rel=1e-12)


def test_matches(capsys):
    study = example("matches")
    columns, person = study.scored_pairs(2000, seed=1)
    assert {len(column) for column in columns.values()} == {2000} and set(columns["left"]) <= set(person)
    assert (columns["left"] != columns["right"]).all()
    found = study.study(2000, seed=1)
    r = found["result"]
    assert set(r.nodes) == set(columns["left"]) | set(columns["right"]) and r.lower_bound <= r.cost < 0
    assert not len(found["problem"].must_join) and not found["problem"]._has_must_cut
    assert found["agreement"].joins_f1 > 0.8
    doubtful = found["doubtful"]
    assert len(doubtful["doubt"]) == 10 and doubtful["doubt"][0] >= 0 and doubtful["doubt"] == sorted(doubtful["doubt"])
    labels = dict(zip(r.nodes, r.labels.tolist(), strict=True))
    for left, right, joined in zip(doubtful["left"], doubtful["right"], doubtful["joined"], strict=True):
        assert (labels[left] == labels[right]) == joined
    study.main(["--quick"])
    printed = capsys.readouterr().out
    assert "clusters" in printed and "the 10 pairs in most doubt:\nrecord-" in printed


def test_clusterings(tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    pytest.importorskip("splink")
    tables = example("clusterings").study(quick=True, figures=tmp_path)
    assert len(list(tmp_path.glob("clusterings_*.png"))) == len(tables) == 4
    assert tables["records"][0]["match"] > 0.9
    assert tables["points"][0]["from_embeddings"] > 0.95
    (duplicates,) = tables["near-duplicates"]
    assert duplicates["near_duplicates: widest"] < duplicates["components: widest"]
    assert tables["consensus"][0]["consensus"] > tables["consensus"][0]["best run"]
