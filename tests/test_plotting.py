"""Pictures: what is drawn, and what is said when nothing can be."""

import dataclasses
import json
import math
import sys

import pytest

import graphpart as gp
from graphpart.cli import main
from graphpart.generate import planted_partition
from graphpart.plotting import plot_history

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
PROBLEM = planted_partition(60, 6, 2, seed=0).problem


def curves(ax):
    return {line.get_label().split()[0]: line.get_xydata() for line in ax.get_lines()}


def test_both_curves_end_where_the_result_says():
    r = gp.partition.exact(PROBLEM)
    drawn = curves(plot_history(r))
    cost, bound = drawn["cost"][:, 1], drawn["lower"][:, 1]
    assert cost[-1] == r.cost and bound[-1] == r.lower_bound
    assert (cost[1:] <= cost[:-1]).all() and (bound[1:] >= bound[:-1]).all()
    matplotlib.pyplot.close("all")


def test_results_without_a_bound_have_one_curve():
    r = gp.partition.kernighan_lin(PROBLEM)
    assert not math.isfinite(r.lower_bound) and set(curves(plot_history(r))) == {"cost"}
    matplotlib.pyplot.close("all")


def test_an_axis_may_be_given():
    figure, ax = matplotlib.pyplot.subplots()
    assert plot_history(gp.partition.kernighan_lin(PROBLEM), ax) is ax
    matplotlib.pyplot.close(figure)


def test_nothing_to_draw_is_said():
    r = dataclasses.replace(gp.partition.kernighan_lin(PROBLEM), history=())
    with pytest.raises(gp.InvalidOption, match="history"):
        plot_history(r)


def test_missing_matplotlib_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(gp.MissingDependency, match=r"graphpart\[plot\]"):
        plot_history(gp.partition.kernighan_lin(PROBLEM))


@pytest.fixture
def instance(tmp_path):
    path = tmp_path / "p.npz"
    gp.io.write(planted_partition(20, 3, 1, seed=0).problem, path)
    return str(path)


def test_solve_draws_and_certifies(instance, tmp_path, capsys):
    picture, certificate, labels = (str(tmp_path / name) for name in ("h.png", "c.json", "p.labels"))
    call = ["solve", instance, "-o", labels, "--plot", picture, "--certificate", certificate, "--json"]
    assert main(call) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")
    assert main(["verify", instance, labels, certificate, "--exact", "--json"]) == 0
    verified = json.loads(capsys.readouterr().out)
    assert verified["cost"] == facts["cost"] and verified["lower_bound"] <= facts["lower_bound"]


@pytest.mark.parametrize("flag", ["--plot", "--certificate"])
def test_wrong_places_are_refused_before_solving(instance, tmp_path, flag, capsys):
    assert main(["solve", instance, flag, str(tmp_path / "missing" / "x.png")]) == 1
    assert main(["solve", instance, instance, flag, str(tmp_path / "x.png")]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_an_unknown_kind_of_picture_is_refused(instance, tmp_path, capsys):
    assert main(["solve", instance, "--plot", str(tmp_path / "x.unknown"), "--json"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and ".png" in captured.err
