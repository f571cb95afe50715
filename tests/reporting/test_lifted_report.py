"""Reports and plots of problems with lifted pairs: they are told apart from base pairs."""

import io
import json
import re

import numpy as np
import pytest

import graphpart as gp
from graphpart.reporting.pair_totals import KINDS, LIFTED_KINDS, pair_totals


def solved():
    p, truth = gp.generate.lifted_grid(4, 5, regions=2, seed=1)
    return p, p.labels(truth)


def test_totals_count_lifted_pairs_apart():
    p, labels = solved()
    totals = pair_totals(p, labels, np.arange(labels.max() + 1), np.arange(p.n), 0, 10_000)
    u, v, cost = p.pairs()
    joined, repel = labels[u] == labels[v], cost > 0
    for k, (together, against) in enumerate([(True, False), (False, True), (True, True), (False, False)]):
        mine = (joined == together) & (repel == against) & (cost != 0)
        assert totals.kinds[k] == (mine & ~p.lifted).sum(), KINDS[k]
        assert totals.kinds[len(KINDS) + k] == (mine & p.lifted).sum(), LIFTED_KINDS[k]
    assert sorted(totals.links[3]) == sorted(np.repeat(np.arange(8), totals.kinds))


def test_the_report_has_the_lifted_pairs():
    pytest.importorskip("bokeh")
    p, _ = solved()
    r = gp.partition.brute_force(p._restrict(np.arange(8)))
    stream = io.BytesIO()
    gp.report(p._restrict(np.arange(8)), r, stream)
    page = stream.getvalue().decode()
    assert "lifted: together though they repel" in page and "lifted pairs" in page
    assert "What is doubtful" in page
    blocks = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert any("lifted" in json.dumps(json.loads(block)) for block in blocks if block.strip().startswith("{"))


def test_plots():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    p, labels = solved()
    for kind in ("graph", "map", "matrix"):
        ax = Figure().add_subplot()
        p.plot(labels, ax, kind=kind)
    ax = Figure().add_subplot()
    p.plot(labels, ax, kind="graph")
    styles = {str(c.get_linestyle()[0]) for c in ax.collections if hasattr(c, "get_segments")}
    assert len(styles) > 1
    p.plot(ax=Figure().add_subplot(), kind="graph")
