"""How results, problems and what is known of them look, and what they turn into."""

import io
import pickle
import re
import sys
import types
from dataclasses import replace
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest

import graphpart as gp
from graphpart.display import progress

NAMES = ["<b>ann</b>", "bob & co", "<script>alert(1)</script>", "$x_1"]


def partition_result():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -0.5], NAMES, dense=False)
    return p, gp.solve(p)


def shown_things():
    p, r = partition_result()
    f = gp.generate.factor_chain(30, seed=1).problem
    named = gp.FactorGraph.from_arrays([2] * 4, [([[0], [1], [2], [3]], [[0.0, 1.0]] * 4)], NAMES)
    return {
        "SetPartition": p,
        "dense SetPartition": gp.generate.planted_partition(30, 3, seed=1).problem,
        "required": gp.SetPartition.from_pairs(4, [(0, 1)], [1.0], NAMES, must_join=[NAMES[:2]], must_cut=[NAMES[1:3]]),
        "no element": gp.SetPartition.from_pairs(0, [], []),
        "PartitionResult": r,
        "empty PartitionResult": gp.solve(gp.SetPartition.from_pairs(0, [], [])),
        "FactorGraph": f,
        "LabelingResult": gp.solve(named),
        "Marginals": gp.crf.marginals(named),
        "partition.Persistency": gp.partition.persistency(p),
        "crf.Persistency": gp.crf.persistency(f),
        "Instance": gp.generate.planted_partition(30, 3, seed=1),
        "Instance without truth": gp.generate.uniform_integers(10, seed=1),
        "FactorInstance": gp.generate.factor_grid(4, 4, seed=1),
        "summary": r.summary(),
    }


class Checker(HTMLParser):
    """Finds every tag, and whether each is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("name", shown_things())
def test_representations(name):
    thing = shown_things()[name]
    text = repr(thing)
    if name != "summary":
        assert len(text.splitlines()) <= 2 and max(map(len, text.splitlines())) <= 160, text
        assert text.startswith(f"<{type(thing).__name__}") and text.endswith(">"), text
    checker = Checker()
    checker.feed(thing._repr_html_())
    assert not checker.open
    assert checker.seen <= {"div", "p", "b", "table", "thead", "tbody", "tr", "td", "th"}  # no tag out of a name
    if name in ("SetPartition", "PartitionResult", "LabelingResult", "Marginals"):
        assert "<b>ann</b>" in checker.text and "<script>" in checker.text  # as text


def test_long_names_are_shortened():
    p = gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0], ["x" * 10_000, "y"], dense=False)
    assert len(p._repr_html_()) < 2000 and len(gp.solve(p)._repr_html_()) < 2000


def test_summary():
    _, r = partition_result()
    s = r.summary()
    assert s["clusters"] == 2 and s["elements"] == 4 and s["cost"] == -2.5 and s["status"] == "optimal"
    assert s["largest"] == 2 and s["alone"] == 0
    assert ("iterations" in s) == (r.iterations > 0)
    lines = str(s).splitlines()
    assert len(lines) == len(s) and lines[0].split() == ["method", "auto"]


def test_clusters():
    _, r = partition_result()
    with pytest.warns(DeprecationWarning, match="use result.n_clusters"):
        assert r.subsets == 2
    assert r.n_clusters == 2 and r.clusters == r.partition == [set(NAMES[:2]), set(NAMES[2:])]


def test_frames():
    _, r = partition_result()
    f = gp.solve(gp.FactorGraph.from_arrays([2, 3], [([[0]], [[1.0, 0.0]]), ([[1]], [[1.0, 2.0, 0.0]])], ["x", "y"]))
    columns = {"element": NAMES, "cluster": [0, 0, 1, 1], "size": [2, 2, 2, 2]}
    pd = pytest.importorskip("pandas")
    assert r.to_frame().to_dict("list") == columns
    assert f.to_frame().to_dict("list") == {"variable": ["x", "y"], "label": [1, 2]}
    series = r.to_series()
    assert series.name == "cluster" and series.index.name == "element" and series[NAMES[2]] == 1
    assert pd.Series(NAMES[::-1]).map(series).tolist() == [1, 1, 0, 0]
    assert f.to_series()["y"] == 2
    pairs = gp.solve(gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0], [(0, "a"), (0, "b")]))
    assert pairs.to_series().index.tolist() == [(0, "a"), (0, "b")]
    assert gp.solve(gp.SetPartition.from_pairs(0, [], [])).to_frame().shape == (0, 3)
    with pytest.raises(gp.InvalidOption, match="library is 'excel': expected one of pandas, polars, pyarrow"):
        r.to_frame("excel")


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries(library):
    pytest.importorskip(library)
    for result in (partition_result()[1], gp.solve(gp.SetPartition.from_pairs(2, [(0, 1)], [-1.0]))):
        frame = result.to_frame(library)
        found = frame.to_dict(as_series=False) if library == "polars" else frame.to_pydict()
        assert found["element"] == list(result.nodes) and found["cluster"] == result.labels.tolist()


def test_a_missing_library_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(gp.MissingDependency, match=r"needs the package pandas: pip install 'graphpart\[frames\]'"):
        partition_result()[1].to_frame()


def test_networkx():
    _, r = partition_result()
    G = r.to_networkx()
    assert nx.get_node_attributes(G, "cluster") == dict(zip(NAMES, [0, 0, 1, 1], strict=True))
    assert G.edges[NAMES[0], NAMES[1]] == {"cost": -2.0, "joined": True}
    assert G.edges[NAMES[1], NAMES[2]] == {"cost": 1.0, "joined": False}
    f = gp.generate.factor_chain(5, seed=1).problem
    G = gp.solve(f).to_networkx()
    assert sum("label" in data for _, data in G.nodes(data=True)) == 5


def test_pickles_leave_the_problem_behind():
    p, r = partition_result()
    assert r.problem is p
    back = pickle.loads(pickle.dumps(r))
    assert back.problem is None and back.clusters == r.clusters and back.cost == r.cost
    for call in (back.plot, back.to_networkx):
        with pytest.raises(gp.InvalidOption, match="pickled do not hold their problem"):
            call()
    assert back.to_frame is not None and replace(r, message="x").problem is p


class TestPictures:
    def test_graph_and_matrix(self):
        plt = pytest.importorskip("matplotlib.pyplot")
        p, r = partition_result()
        for problem, options in ((p, {}), (p, {"kind": "matrix"}), (gp.generate.grid(30, 40, seed=1).problem, {})):
            result = gp.partition.greedy_joining(problem)
            for ax in (result.plot(**options), problem.plot(**options), problem.plot(result.labels, **options)):
                ax.figure.savefig(io.BytesIO())
                plt.close(ax.figure)
        ax = plt.figure().add_subplot()
        assert r.plot(ax) is ax and ax.get_title() == "4 elements, 2 clusters, cost -2.5"
        plt.close(ax.figure)
        with pytest.raises(gp.InvalidOption, match="kind is 'circle'"):
            p.plot(kind="circle")

    def test_a_matrix_is_ordered_by_cluster(self):
        plt = pytest.importorskip("matplotlib.pyplot")
        p, truth = gp.generate.planted_partition(12, 3, sigma=0, seed=1)
        image = p.plot(truth, kind="matrix").get_images()[0].get_array()
        sizes = np.bincount(truth)
        expected = np.repeat(np.repeat(np.eye(3, dtype=bool), sizes, 0), sizes, 1)
        off = ~np.eye(12, dtype=bool)
        assert ((image < 0) == expected)[off].all()
        plt.close("all")

    def test_degenerate_problems(self):
        plt = pytest.importorskip("matplotlib.pyplot")
        for n in (0, 1, 2):
            for kind in ("matrix", "graph"):
                gp.SetPartition.from_pairs(n, [], []).plot([0] * n, kind=kind).figure.savefig(io.BytesIO())
        p = gp.SetPartition.from_pairs(3, [(0, 1)], [np.inf], must_join=[(1, 2)])
        for kind in ("matrix", "graph"):
            p.plot([0, 1, 1], kind=kind).figure.savefig(io.BytesIO())
        plt.close("all")

    def test_factor_graphs(self):
        plt = pytest.importorskip("matplotlib.pyplot")
        f = gp.generate.factor_chain(8, seed=1).problem
        for ax in (gp.solve(f).plot(), f.plot()):
            ax.figure.savefig(io.BytesIO())
            plt.close(ax.figure)
        with pytest.raises(gp.InvalidOption, match="expected at most 400 for a drawing"):
            gp.generate.factor_chain(500, seed=1).problem.plot()


class Terminal(io.StringIO):
    def isatty(self):
        return True


class TestProgress:
    def test_on_a_terminal(self, monkeypatch):
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        p = gp.generate.planted_partition(60, 6, sigma=2.0, seed=1).problem
        calls = []
        r = gp.solve(p, "search", time_limit=0.5, progress=True, callback=lambda *call: calls.append(call))
        assert r.cost < 0 and calls
        assert "search, 60 elements" in screen.getvalue() and "cost -" in screen.getvalue()

    def test_nowhere_else_and_not_unasked(self, monkeypatch, capsys):
        p = gp.generate.planted_partition(20, 3, seed=1).problem
        assert gp.solve(p, progress=True).cost == gp.solve(p).cost
        assert capsys.readouterr() == ("", "")
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        gp.solve(p)
        assert screen.getvalue() == ""

    def test_a_callback_still_stops_the_run(self):
        p = gp.generate.planted_partition(80, 6, sigma=2.0, seed=1).problem
        r = gp.solve(p, "search", progress=True, callback=lambda *_: True)
        assert r.status == "interrupted"

    def test_in_a_notebook(self, monkeypatch):
        shown = []

        class Handle:
            def update(self, bundle, raw):
                shown.append(bundle["text/plain"])

        def display(bundle, raw, display_id):
            assert display_id is True
            return Handle()

        class ZMQInteractiveShell:
            pass

        ipython = types.ModuleType("IPython")
        ipython.get_ipython = ZMQInteractiveShell
        ipython.display = types.ModuleType("IPython.display")
        ipython.display.display = display
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
        assert progress.in_notebook()
        p = gp.generate.planted_partition(60, 6, sigma=2.0, seed=1).problem
        gp.solve(p, "search", time_limit=0.5, progress=True)
        assert shown[-1] == "" and any("s  cost -" in text for text in shown)

    def test_in_a_real_notebook_kernel(self, monkeypatch):
        """With IPython's own display and publisher, as a kernel of Jupyter has them."""
        pytest.importorskip("IPython")
        from IPython.core.displaypub import CapturingDisplayPublisher
        from IPython.core.interactiveshell import InteractiveShell

        class ZMQInteractiveShell(InteractiveShell):
            pass

        shell = ZMQInteractiveShell.instance()
        try:
            shell.display_pub = CapturingDisplayPublisher()
            p = gp.generate.planted_partition(80, 6, sigma=3.0, seed=1).problem
            gp.solve(p, time_limit=1.5, progress=True)
            shown = [output["data"]["text/plain"] for output in shell.display_pub.outputs]
        finally:
            ZMQInteractiveShell.clear_instance()
        assert shown[0] == shown[-1] == ""
        assert any(re.search(r"\d s  cost -\S+  bound -\S+  gap \S+%", text) for text in shown)

    def test_what_is_shown_fits(self):
        assert progress.shortened("abcdefghij", 10) == "abcdefghij"
        assert progress.shortened("abcdefghijk", 10) == "abcd...ijk"
        assert progress.fitting("auto, 300 elements, 44850 pairs", 20) == "auto, 300 elements"
        assert progress.fitting("a_long_name.json", 10) == "a_lo...son"
        assert progress.state_text(np.inf, -np.inf) == ""
        assert progress.state_text(np.inf, -3.0) == "bound -3"
        assert progress.state_text(0.0, -3.0) == "cost 0  bound -3"

    def test_the_given_callback_hears_of_bounds_too(self):
        bounds, shown = [], []

        def callback(seconds, cost):
            return cost < 0

        callback.on_bound = lambda seconds, bound: bounds.append(bound)
        display = progress.Display(lambda *state: shown.append(state), callback)
        stopping = gp.Stopping(callback=display)
        stopping.raise_bound(-5.0)
        stopping.record(2.0)
        assert (stopping.reason, bounds) == (None, [-5.0])
        stopping.record(-1.0)
        assert stopping.reason is gp.Status.INTERRUPTED
        assert [state[1:] for state in shown] == [(np.inf, -5.0), (2.0, -5.0), (-1.0, -5.0)]

    def test_estimators(self, monkeypatch):
        estimators = pytest.importorskip("graphpart.estimators")
        screen = Terminal()
        monkeypatch.setattr(sys, "stderr", screen)
        monkeypatch.setenv("TERM", "xterm")
        estimators.CorrelationClustering(threshold=2.0, progress=True).fit([[0.0], [1.0], [10.0]])
        assert "auto, 3 elements" in screen.getvalue()


def test_a_series_of_labels_goes_by_its_index_and_a_frame_by_its_columns():
    pandas = pytest.importorskip("pandas")
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0], ["a", "b", "c"])
    r = gp.solve(p)
    assert p.labels(r.to_series()[::-1]).tolist() == r.labels.tolist() == [0, 0, 1]
    assert p.labels(pandas.Series([5, 6, 5])).tolist() == [0, 1, 0]  # without names
    assert p.labels(r.to_series()[["c"]], partial=True).tolist() == [-1, -1, 0]
    with pytest.raises(gp.GraphPartError, match="'z' is not a node"):
        p.labels(pandas.Series([0, 0, 0], ["a", "b", "z"]))
    with pytest.raises(gp.GraphPartError, match="'a' is named twice"):
        p.labels(pandas.Series([0, 1, 0], ["a", "a", "c"]))
    assert p.labels(r.to_frame()[::-1]).tolist() == [0, 0, 1] and not len(r.changes(r.to_frame()))
    assert gp.metrics.compare(r.to_frame(), r).adjusted_rand_index == 1
    with pytest.raises(gp.GraphPartError, match="'a' is twice in the column element"):
        p.labels(pandas.DataFrame({"element": ["a", "b", "a"], "cluster": [0, 0, 1]}))
    q = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], list(pandas.date_range("2020", periods=3)))
    assert q.evaluate(gp.solve(q).to_frame()) == -1.0
    with pytest.raises(gp.GraphPartError, match="got DataFrame: expected the columns element and cluster"):
        p.labels(pandas.DataFrame({"name": [0, 1, 2]}))
    f, g = gp.FactorGraph(), gp.FactorGraph()
    for graph, order in ((f, "vw"), (g, "wv")):
        for name in order:
            graph.add_variable(name)
        graph.add_factor(("v",), [0.0, 1.0])
        graph.add_factor(("w",), [1.0, 0.0])
    best = gp.solve(f)
    assert g.labels(best).tolist() == g.labels(best.to_series()).tolist() == [1, 0]
    assert g.evaluate(best) == best.cost == 0.0
