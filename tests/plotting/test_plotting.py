"""Pictures: what is drawn, and what is said when nothing can be."""

import dataclasses
import json
import math
import sys

import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import main
from graphpart.generate import noisy_image, planted_partition
from graphpart.plotting import plot_changes, plot_history

networkx = pytest.importorskip("networkx")
matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.pyplot")
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


def test_a_name_of_a_file_is_no_axes():
    with pytest.raises(gp.InvalidOption, match=r"ax is 'x.png': expected axes of matplotlib.*savefig"):
        gp.solve(PROBLEM, method="greedy-joining").plot(ax="x.png")
    with pytest.raises(gp.InvalidOption, match="savefig"):
        plot_history(gp.partition.exact(PROBLEM), "x.png")


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


def titles(ax):
    return ax.get_title().split(",")[0]


@pytest.mark.parametrize("partition", [True, False])
@pytest.mark.parametrize("n", [0, 1, 2, 60, 61, 900])
def test_each_size_is_drawn(n, partition):
    rng = np.random.default_rng(n)
    pairs = rng.integers(0, max(n, 1), (3 * n, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    p = gp.SetPartition.from_pairs(n, pairs, rng.normal(size=len(pairs)), dense=False)
    r = gp.solve(p, "greedy-joining")
    ax = r.plot() if partition else p.plot()
    assert titles(ax) == (f"{n} element" + "s" * (n != 1))
    discs = [c for c in ax.collections if isinstance(c, matplotlib.collections.EllipseCollection)]
    assert bool(discs) == (partition and n > 60)
    if discs:  # one for each cluster, as far as there are not too many
        assert len(discs[0].get_offsets()) == min(r.n_clusters, 36)
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("shape", [(4, 5), (3, 4, 5)])
def test_grids_are_drawn_as_pictures(shape):
    rng = np.random.default_rng(1)
    steps = np.eye(len(shape), dtype=int)
    p = gp.SetPartition.from_affinities(rng.uniform(0.05, 0.95, (len(shape), *shape)), steps)
    r = gp.solve(p)
    (image,) = r.plot().get_images()
    shown = np.asarray(image.get_array())
    assert np.count_nonzero(~np.isnan(shown)) == p.n
    if len(shape) == 2:  # pixels of one cluster have one colour
        labels = r.labels.reshape(shape)
        for k in range(r.n_clusters):
            assert len(np.unique(shown[labels == k])) == 1
        with pytest.warns(UserWarning, match="changed to tight"):  # no error, though there is a colour bar
            p.plot(r, kind="matrix").figure.tight_layout()
    matplotlib.pyplot.close("all")


def test_labels_of_variables_on_a_grid_are_a_picture():
    f = noisy_image(25, 30, seed=1).problem
    r = gp.crf.icm(f)
    (image,) = r.plot().get_images()
    assert (np.asarray(image.get_array()) == r.labels.reshape(25, 30)).all()
    with pytest.raises(gp.InvalidOption, match="or a labeling of variables on a grid"):
        f.plot()
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("n", [12, 200])
def test_two_results_side_by_side(n):
    p = planted_partition(n, n // 6, 1.5, seed=2).problem
    before = gp.partition.greedy_joining(p).labels
    after = before.copy()
    after[0] = after.max() + 1
    left, right = plot_changes(p, before, after)
    changed = int((before == before[0]).sum())
    assert left.get_title().startswith("before: ") and f"{changed} elements in changed clusters" in right.get_title()
    rims = right.collections[-1].get_edgecolors()
    assert np.count_nonzero(rims[:, 3] > 0) == changed
    matplotlib.pyplot.close("all")


def test_wrong_kinds_are_said():
    with pytest.raises(gp.InvalidOption, match="expected one of auto, graph, map, image, matrix"):
        PROBLEM.plot(kind="tree")
    with pytest.raises(gp.InvalidOption, match="which needs a partition"):
        PROBLEM.plot(kind="map")
    with pytest.raises(gp.InvalidOption, match="lie on no grid"):
        gp.partition.greedy_joining(PROBLEM).plot(kind="image")


def test_lifted_pairs_do_not_hide_a_grid():
    G, L = networkx.grid_2d_graph(25, 25), networkx.Graph()
    rng = np.random.default_rng(3)
    for a, b in G.edges:
        G.edges[a, b]["cost"] = rng.normal()
    nodes = list(G)
    while L.number_of_edges() < 700:
        a, b = (nodes[k] for k in rng.choice(len(nodes), 2, replace=False))
        if not G.has_edge(a, b):
            L.add_edge(a, b, cost=rng.normal())
    r = gp.solve(gp.SetPartition(G, lifted=L), "greedy-joining")
    assert r.plot().get_images() and r.plot(kind="image").get_images()
    legend = r.plot(kind="map").get_legend()  # without doubts
    title = legend.get_title().get_text()
    assert r.n_clusters > 36 and "clusters: those that attract each other most, and the largest\nnot drawn: " in title
    matplotlib.pyplot.close("all")


def test_many_clusters_are_not_linked_to_one_chain():
    """Of 40 clusters that all attract the next one a little, at most 12 have a line; of 10, each has two."""
    for count, most in ((40, 12), (10, 20)):
        labels = np.repeat(np.arange(count), 7)
        u = np.arange(len(labels) - 1)
        costs = np.where(labels[u] == labels[u + 1], -3.0, -0.1)
        p = gp.SetPartition.from_pairs(len(labels), (u, u + 1), costs, missing=0.1)
        ax = p.plot(labels, kind="map")
        lines = next(one for one in ax.collections if hasattr(one, "get_segments"))
        assert 1 <= len(lines.get_segments()) <= most
        title = ax.get_legend().get_title().get_text()
        assert ("36 of 40" in title and "not drawn: 4, 7 members" in title) == (count == 40)
    matplotlib.pyplot.close("all")


def test_names_on_a_map_of_thousands_of_clusters_do_not_overlap():
    labels = np.repeat(np.arange(2000), np.where(np.arange(2000) < 5, 9, 4))
    u = np.arange(len(labels) - 1)
    costs = np.where(labels[u] == labels[u + 1], -1.0, 0.5)
    names = [f"customer number {i}" for i in range(len(labels))]
    p = gp.SetPartition.from_pairs(len(labels), (u, u + 1), costs, nodes=names)
    ax = p.plot(labels, kind="map")
    boxes = [text.get_window_extent() for text in [*ax.texts, ax.get_legend()]]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    assert 5 < len(ax.texts) < 36 and any("9 members" in text.get_text() for text in ax.texts)
    matplotlib.pyplot.close("all")


def test_clusters_that_cannot_move_are_drawn_beside_others():
    pairs = [(2 * k, 2 * k + 1) for k in range(8)]
    p = gp.SetPartition.from_pairs(28, [*pairs, (1, 2), (3, 4)], [-2.0] * 8 + [1.0, -0.5])
    labels = np.concatenate([np.repeat(np.arange(8), 2), np.arange(8, 20)])
    ax = p.plot(labels, kind="map")
    discs = next(c for c in ax.collections if c.get_array() is not None)
    assert discs.get_facecolor().shape == (20, 4) and (discs.get_facecolor()[:, 3] == 1).all()
    assert "no element can move" in [text.get_text() for text in ax.get_legend().get_texts()]
    assert ax.get_window_extent().height > 0.5 * ax.figure.bbox.height and len(ax.texts) == 20
    matplotlib.pyplot.close("all")


@pytest.mark.parametrize("n", [12, 200])
def test_new_elements_beside_an_old_result(n):
    p = planted_partition(n, n // 6, 1.5, seed=2).problem
    q = gp.SetPartition.from_pairs(n, tuple(p.pairs()[:2]), p.pairs()[2], nodes=[f"e{i}" for i in range(n)])
    old = q._restrict(np.arange(n - 2))
    r = gp.partition.greedy_joining(old)
    s = gp.partition.greedy_joining(q)
    left, right = plot_changes(q, r, s)
    assert f"{r.n_clusters} clusters" in left.get_title() and f"cost {r.cost:.2f}"[:9] in left.get_title()
    assert ", 2 new" in right.get_title()
    rims = right.collections[-1].get_edgecolors()
    red = np.count_nonzero((rims == matplotlib.colors.to_rgba("red")).all(1))
    assert red == 2
    assert len(right.collections[-1].get_offsets()) == len(left.collections[-1].get_offsets()) + 2
    matplotlib.pyplot.close("all")


def test_new_elements_are_drawn_with_the_clusters_that_they_joined():
    old = [(3 * k + a, 3 * k + b) for k in range(40) for a, b in ((0, 1), (1, 2), (0, 2))]
    new = [(120 + k, 3 * k + a) for k in range(30) for a in range(3)]
    p = gp.SetPartition.from_pairs(150, old + new, -np.ones(len(old + new)))
    r = gp.solve(p)
    before = {node: int(r.labels[node]) for node in range(120)}
    left, right = plot_changes(p, before, r)
    rims = right.collections[-1].get_edgecolors()
    reds = int((rims == matplotlib.colors.to_rgba("red")).all(1).sum())
    assert reds == 15 and len(rims) == 60  # fifteen clusters of four
    assert len(left.collections[-1].get_offsets()) == 45
    one = np.zeros(150, np.int32)
    assert "60 elements drawn" in plot_changes(p, one, r)[1].get_title()  # one cluster of too many elements
    matplotlib.pyplot.close("all")
