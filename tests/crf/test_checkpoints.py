"""Checkpoints of factor graphs: labels and bound in files, from which a run goes on."""

import json
from importlib import import_module

import numpy as np
import pytest

import graphpart as gp


def frustrated(side=18, labels=5, seed=1):
    rng = np.random.default_rng(seed)
    shape = (side, side)
    count = 2 * side * (side - 1)
    return gp.FactorGraph.pairwise(shape, rng.normal(size=(*shape, labels)), rng.normal(size=(count, labels, labels)))


def test_a_run_goes_on_where_the_last_one_ended(tmp_path):
    f = frustrated()
    path = tmp_path / "best.labels"
    first = gp.solve(f, time_limit=0.3, checkpoint=path)
    assert f.evaluate(gp.read_labels(path, f)) == first.cost
    kept = json.loads((tmp_path / "best.labels.bound").read_text())
    assert kept["lower_bound"] == first.lower_bound <= first.cost
    again = gp.solve(f, time_limit=0.01, checkpoint=path)
    assert again.cost <= first.cost and again.lower_bound >= min(first.lower_bound, again.cost)
    worse = gp.solve(f, time_limit=0.01, checkpoint=path, initial=np.zeros(f.n, int))
    assert worse.cost <= again.cost
    found = gp.solve(f, "search", max_iterations=1, checkpoint=path)
    assert found.cost <= worse.cost and f.evaluate(gp.read_labels(path, f)) == found.cost


def test_bounds_prove_and_those_of_other_problems_do_not_count(tmp_path):
    f, path = frustrated(4, 3), tmp_path / "best.labels"
    best = gp.solve(f)
    assert best.status == gp.Status.OPTIMAL
    gp.solve(f, checkpoint=path)
    stopped = gp.solve(f, time_limit=0, checkpoint=path)
    assert stopped.status == gp.Status.OPTIMAL and stopped.cost == best.cost
    other = frustrated(4, 3, seed=2)
    stopped = gp.solve(other, time_limit=0, checkpoint=path)
    assert stopped.lower_bound <= gp.solve(other).cost
    forest = gp.crf.potts([(0, 1), (1, 2)], np.arange(9.0).reshape(3, 3) % 4)
    r = gp.solve(forest, checkpoint=tmp_path / "forest.labels")
    assert r.status == gp.Status.OPTIMAL and (gp.read_labels(tmp_path / "forest.labels", forest) == r.labels).all()
    with pytest.raises(gp.GraphPartError):
        gp.solve(forest, checkpoint=path)
    (tmp_path / "best.labels.bound").write_text("0.5")
    with pytest.raises(gp.FormatError, match="not the bound of a checkpoint"):
        gp.solve(other, checkpoint=path)


def test_the_best_labels_are_written_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("graphpart.common.rounds.Saver.due", True)
    choosing, written = import_module("graphpart.crf.choosing"), []
    write = choosing.write_labels

    def watched(labels, path, f):
        written.append(f.evaluate(labels))
        write(labels, path, f)

    monkeypatch.setattr(choosing, "write_labels", watched)
    r = gp.solve(frustrated(), time_limit=0.3, checkpoint=tmp_path / "best.labels")
    assert written and written == sorted(written, reverse=True) and r.cost <= written[-1]


@pytest.mark.parametrize("method", ["auto", "search"])
def test_checkpoints_have_no_auxiliary_variables(tmp_path, method):
    rng = np.random.default_rng(0)
    f = gp.crf.potts((4, 5), rng.normal(size=(4, 5, 3)), 0.3)
    f.add_count(range(20), labels=1, least=3, most=9)
    r = gp.solve(f, method, seed=0, checkpoint=tmp_path / "best.labels")
    assert (gp.read_labels(tmp_path / "best.labels", f) == r.labels).all() and r.to_array().shape == (4, 5)
    again = gp.solve(f, method, seed=0, checkpoint=tmp_path / "best.labels")
    assert again.cost <= r.cost
