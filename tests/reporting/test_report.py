"""What a report says is true, nothing in a name runs, and the file asks no other place for anything."""

import dataclasses
import html.parser
import io
import math
import re
import sys

import numpy as np
import pytest

import graphpart as gp
from graphpart.cli import main
from graphpart.generate import factor_grid, grid, noisy_image, planted_partition, sparse_random
from graphpart.reporting import report_benchmark

pytest.importorskip("bokeh")
from report_pages import NAMES, data_of, hostile_factor_graph, hostile_problem, names_in, page_of, table, unpacked


class Structure(html.parser.HTMLParser):
    """Elements of a page with their attributes, and the texts of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.scripts, self.open = [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.open = (tag, dict(attrs))
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open and self.open[0] == "script":
            self.scripts[-1] += data


@pytest.fixture(scope="module")
def hostile():
    problem = hostile_problem()
    return page_of(problem, gp.solve(problem, time_limit=0.5), title="</title><script>window.harmed = 9</script>")


@pytest.mark.parametrize("kind", ["partition", "factor graph"])
def test_names_are_data_and_nothing_else(kind, hostile):
    if kind == "factor graph":
        f = hostile_factor_graph()
        page = page_of(f, gp.solve(f))
    else:
        page = hostile
    found = Structure(page)
    scripts = [attributes for tag, attributes in found.elements if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}, {}]
    assert not {tag for tag, _ in found.elements} & {"img", "iframe", "object", "embed", "form", "base"}
    assert not any(name.startswith("on") for _, attributes in found.elements for name in attributes)
    block = found.scripts[0]
    assert block.isascii() and not set(block) & set("<>&") and "\u2028" not in block
    names = names_in(page)
    for name in NAMES:
        expected = " ".join(name.split()).replace("\ud800", "\ufffd")
        assert (expected if len(expected) <= 100 else expected[:49] + "..." + expected[-48:]) in names
    assert "window.harmed" not in page.replace(block, "").replace("&lt;script&gt;window.harmed = 9", "")


def test_nothing_is_asked_of_any_other_place(hostile):
    found = Structure(hostile)
    assert [tag for tag, attributes in found.elements if "src" in attributes or tag in ("iframe", "source")] == []
    links = [attributes["href"] for _, attributes in found.elements if "href" in attributes]
    assert links and all(link.startswith(("#", "data:")) for link in links)
    styles = re.findall(r"<style>(.*?)</style>", hostile, re.DOTALL)
    assert len(styles) == 1 and "url(" not in styles[0] and "@import" not in styles[0]
    (policy,) = (a["content"] for tag, a in found.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe-eval" not in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]
    assert not re.search(r"(?<!style-src )'unsafe-inline'", policy) and "http" not in policy


def test_same_result_same_bytes():
    problem = planted_partition(40, 4, 1.0, seed=3).problem
    result = gp.solve(problem)
    assert page_of(problem, result) == page_of(problem, result)
    f = factor_grid(6, 7, seed=1).problem
    result = gp.solve(f)
    assert page_of(f, result) == page_of(f, result)


def test_only_times_differ_between_runs():
    problem = planted_partition(30, 3, 1.0, seed=3).problem
    same = {"seconds": 0.5, "history": ((0.1, -3.0),), "bounds": (), "info": {}}
    pages = [page_of(problem, dataclasses.replace(gp.solve(problem), **same)) for _ in range(2)]
    assert pages[0] == pages[1]


def test_what_the_tables_say_is_what_the_problem_says():
    problem = planted_partition(40, 5, 1.5, seed=5).problem
    result = gp.partition.kernighan_lin(problem)
    page = page_of(problem, result)
    clusters = table(page, "clusters")
    assert math.isclose(sum(clusters["cost within"]), result.cost)
    sizes = np.bincount(result.labels)
    for label, size, inside, outside in zip(
        *(clusters[name] for name in ("cluster", "size", "cost within", "cost to others")), strict=True
    ):
        mine = result.labels == label
        assert size == sizes[label]
        assert math.isclose(inside, problem.matrix[np.ix_(mine, mine)].sum() / 2, abs_tol=1e-9)
        assert math.isclose(outside, problem.matrix[np.ix_(mine, ~mine)].sum(), abs_tol=1e-9)
    doubts = gp.partition.doubts(problem, result)
    elements = table(page, "elements")
    assert elements["element"] == doubts.elements["element"].tolist()
    assert elements["doubt"] == doubts.elements["doubt"].tolist()
    decisions = table(page, "decisions")
    assert decisions["doubt"] == doubts.decisions["doubt"][:200].tolist()
    assert decisions["pairs"] == doubts.decisions["pairs"][:200].tolist()
    assert "chance" not in decisions and decisions["cost"] == doubts.decisions["cost"][:200].tolist()
    data = data_of(page)["elements"]
    assert (unpacked(data["labels"]) == result.labels).all()
    own = [problem.matrix[i, result.labels == result.labels[i]].sum() for i in range(problem.n)]
    assert np.allclose(unpacked(data["own"]), own)


@pytest.mark.parametrize("dense", [True, False])
def test_the_matrix_holds_the_costs_in_order(dense):
    rng = np.random.default_rng(8)
    u, v = np.triu_indices(12, 1)
    kept = rng.random(len(u)) < (1.0 if dense else 0.2)
    costs = rng.normal(size=kept.sum())
    costs[0] = math.inf
    problem = gp.SetPartition.from_pairs(12, np.stack([u[kept], v[kept]], 1), costs)
    result = gp.solve(problem)
    page = data_of(page_of(problem, result))
    order = unpacked(page["elements"]["order"])
    (chart,) = (c for c in page["charts"] if c["key"] == "matrix")
    half = np.full((12, 12), np.nan)
    half[np.triu_indices(12)] = unpacked(chart["half"])
    expected = {(a, b): c for a, b, c in zip(u[kept].tolist(), v[kept].tolist(), costs.tolist(), strict=True)}
    for i in range(12):
        for j in range(i + 1, 12):
            cost = expected.get((min(order[i], order[j]), max(order[i], order[j])))
            if cost is None:
                assert np.isnan(half[i, j]) or (dense and half[i, j] == 0)
            else:
                assert half[i, j] == np.float32(cost)
    sizes = np.bincount(result.labels)[result.labels[order]]
    assert (np.diff(sizes) <= 0).all()


def test_energies_of_factors():
    f = factor_grid(5, 6, seed=4).problem
    result = gp.crf.icm(f)
    page = page_of(f, result)
    assert math.isclose(sum(table(page, "factors")["energy"]) + f.constant, result.cost)
    assert math.isclose(sum(table(page, "arities")["energy"]) + f.constant, result.cost)
    (image,) = (c for c in data_of(page)["charts"] if c["key"] == "image")
    assert (image["height"], image["width"], image["place"]) == (5, 6, None)


@pytest.mark.parametrize(
    "problem",
    [
        gp.SetPartition.from_pairs(0, [], []),
        gp.SetPartition.from_pairs(1, [], []),
        gp.SetPartition.from_pairs(2, [(0, 1)], [0.0]),
        gp.SetPartition.from_pairs(3, [(0, 1)], [math.inf]),
        gp.SetPartition.from_pairs(4, [(0, 1)], [1e300], must_join=[(2, 3)]),
        gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1e-300, 1e-300]),
        gp.SetPartition.from_pairs(300, [(0, 1)], [-1.0]),
        gp.FactorGraph(),
        gp.FactorGraph.from_arrays([1], []),
        gp.FactorGraph.from_arrays([2, 1], [([[0]], [[math.inf, 0.0]])], constant=3.0),
        gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1, 2]], np.zeros((1, 2, 2, 2)))]),
    ],
)
def test_degenerate_problems(problem):
    page = page_of(problem, gp.solve(problem))
    assert (
        data_of(page)["charts"] is not None and "NaN" not in page.rpartition('id="data"')[2].partition("</script>")[0]
    )


def test_a_forbidden_labeling():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0], [1]], [[math.inf, 0.0], [1.0, 2.0]])])
    not_found = {"labels": np.zeros(2, np.int32), "cost": math.inf, "lower_bound": 1.0}
    result = dataclasses.replace(gp.solve(f), **not_found, status=gp.Status.NOT_FOUND)
    page = page_of(f, result)
    assert "No allowed labeling was found" in page and "What is least sure is not shown" in page
    assert table(page, "factors")["energy"] == ["inf", 1.0]


def test_results_without_bound_or_history():
    problem = planted_partition(20, 3, 1.0, seed=0).problem
    result = dataclasses.replace(gp.partition.greedy_joining(problem), history=())
    page = page_of(problem, result)
    assert "How good this is has not been proven" in page
    assert table(page_of(problem, result, doubts=False), "clusters").keys() == {
        "cluster", "size", "cost within", "cost to others", "elements",
    }  # fmt: skip


def test_large_problems_are_sampled_and_the_page_says_so():
    problem = sparse_random(5000, 3000, seed=1).problem
    page = page_of(problem, gp.partition.greedy_joining(problem))
    assert "The map has 72 of " in page and {c["key"] for c in data_of(page)["charts"]}.isdisjoint({"matrix", "image"})
    assert len(page) < 3e6
    large = grid(80, 80, seed=1).problem
    page = page_of(large, gp.partition.greedy_joining(large), doubts=False)
    assert {c["key"] for c in data_of(page)["charts"]} == {
        "progress",
        "image",
        "graph",
        "sizes",
    } and "The map" not in page


def test_a_thousand_elements_take_at_most_six_megabytes():
    problem = planted_partition(1000, 40, 2.0, seed=1).problem
    assert len(page_of(problem, gp.partition.kernighan_lin(problem, max_iterations=1))) < 6e6


def test_wrong_input_is_said(tmp_path):
    problem = planted_partition(10, 2, 1.0, seed=0).problem
    result = gp.solve(problem)
    with pytest.raises(gp.InvalidOption, match="result is of type list"):
        gp.report(problem, [0] * 10, io.BytesIO())
    other = planted_partition(10, 2, 1.0, seed=7).problem
    with pytest.raises(gp.InvalidPartition, match="expected the problem that it solves"):
        gp.report(other, result, io.BytesIO())
    with pytest.raises(gp.InvalidOption, match="run 0 has no family"):
        report_benchmark([{"instance": "a"}], io.BytesIO())


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    problem = planted_partition(10, 2, 1.0, seed=0).problem
    result = gp.solve(problem)
    path = tmp_path / "three people.html"
    path.write_text("old")
    from graphpart.reporting import document

    monkeypatch.setattr(document, "json_block", lambda data: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        gp.report(problem, result, path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    gp.report(problem, result, path)
    assert "<title>three people</title>" in path.read_text("utf-8") and list(tmp_path.iterdir()) == [path]


def test_missing_bokeh_is_said_before_work_is_done(monkeypatch, tmp_path, capsys):
    monkeypatch.setitem(sys.modules, "bokeh", None)
    problem = planted_partition(10, 2, 1.0, seed=0).problem
    with pytest.raises(gp.MissingDependency, match=r"graphpart\[report\]"):
        gp.report(problem, gp.solve(problem), io.BytesIO())
    gp.write(problem, tmp_path / "p.csv")
    assert main(["solve", str(tmp_path / "p.csv"), "--report", str(tmp_path / "out.html")]) == 1
    assert "pip install 'graphpart[report]'" in capsys.readouterr().err and not (tmp_path / "out.html").exists()


def test_command_line(tmp_path, capsys):
    names = [f"{name} {i}" for i, name in enumerate(["ann", "<b>bob", "cid", "dan"])]
    problem = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -1.0], nodes=names)
    for name in ("one.json", "two.json"):
        gp.write(problem, tmp_path / name)
    out = tmp_path / "out.html"
    assert main(["solve", str(tmp_path / "one.json"), "--report", str(out)]) == 0
    page = out.read_text("utf-8")
    assert "<title>one.json</title>" in page and "<h1>Optimal</h1>" in page
    assert main(["solve", str(tmp_path), "--report", str(out)]) == 2
    assert "--report takes one FILE" in capsys.readouterr().err
    assert main(["solve", str(tmp_path / "one.json"), "--json", "--report", "-"]) == 2
    assert "both write to standard output" in capsys.readouterr().err
    assert main(["solve", str(tmp_path / "one.json"), "--report", str(tmp_path / "none" / "out.html")]) == 1
    assert main(["bench", str(tmp_path), "--time-limit", "0.1", "--report", str(out)]) == 0
    page = out.read_text("utf-8")
    runs = table(page, "runs")
    assert set(runs["instance"]) == {"one.json", "two.json"} and set(runs["cost"]) == {-3.0}
    families = table(page, "families")
    assert families["family"][-1] == "all families" and families["best cost reached"][-5:] == [2] * 5
    assert main(["bench", str(tmp_path), "--report", "-"]) == 2


def test_names_that_look_like_places_make_no_image():
    rng = np.random.default_rng(4)
    names = [f"rec-{i:05d}-{j}" for i in range(40) for j in range(5)]
    pairs = [(5 * i + a, 5 * i + b) for i in range(40) for a in range(5) for b in range(a)]
    frame = {"a": [names[i] for i, _ in pairs], "b": [names[j] for _, j in pairs], "p": rng.random(len(pairs))}
    problem = gp.SetPartition.from_frame(frame, "a", "b", probability="p")
    page = page_of(problem, gp.solve(problem))
    keys = {c["key"] for c in data_of(page)["charts"]}
    assert keys >= {"map", "graph"} and "image" not in keys


def test_affinities_of_a_volume_are_shown_as_an_image():
    rng = np.random.default_rng(5)
    offsets = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    problem = gp.SetPartition.from_affinities(rng.random((3, 4, 5, 6)) * 0.98 + 0.01, offsets)
    (image,) = (c for c in data_of(page_of(problem, gp.solve(problem)))["charts"] if c["key"] == "image")
    place = unpacked(image["place"])
    assert len(set(place.tolist())) == 120 and image["width"] * image["height"] == 120


def test_decisions_have_the_scores_and_columns_that_they_come_from():
    rng = np.random.default_rng(6)
    pairs = [(i, j) for i in range(12) for j in range(i)]
    names = [f"p{i}" for i in range(12)]
    same = np.array([i % 3 == j % 3 for i, j in pairs])
    score = np.where(same, rng.uniform(0.4, 0.99, len(pairs)), rng.uniform(0.01, 0.6, len(pairs)))
    frame = {"a": [names[i] for i, _ in pairs], "b": [names[j] for _, j in pairs], "p": score}
    frame |= {
        "street": score * 2,
        "town": [f"t{k}" for k in range(len(pairs))],
        "bf_name": 2.0 ** np.arange(len(pairs)),
    }
    problem = gp.SetPartition.from_frame(frame, "a", "b", probability="p")
    result = gp.solve(problem)
    page = page_of(problem, result, pairs=frame)
    decisions = table(page, "decisions")
    row_of = {(min(i, j), max(i, j)): k for k, (i, j) in enumerate(pairs)}
    ends = zip(decisions["a"], decisions["b"], strict=True)
    at = [problem.nodes.index(name) for name in names]
    back = {index: i for i, index in enumerate(at)}
    rows = [row_of[tuple(sorted((back[i], back[j])))] for i, j in ends]
    assert np.allclose(decisions["p"], score[rows], atol=1e-6)
    assert decisions["town"] == [f"t{k}" for k in rows] and np.allclose(decisions["street"], 2 * score[rows], atol=1e-5)
    (spec,) = (part for part in data_of(page)["tables"] if part["key"] == "decisions")
    (change,) = (c for c in spec["columns"] if c["name"] == "change")
    assert change["bits"] == [[["name", float(k)]] for k in rows]
    odds = [f"{100 / (1 + 2**d):.2g}%" for d in decisions["doubt"]]
    assert decisions["chance"] == odds
    shown = gp.partition.doubts(problem, result).to_frame(library="dict")
    assert [name for name in shown if not name.startswith("bf_")] == list(decisions)  # in the same order
    with pytest.raises(gp.InvalidOption, match="pairs has no column 'a'"):
        page_of(problem, result, pairs={"x": [1]})
    other = gp.SetPartition.from_pairs(2, [(0, 1)], [1.0])
    with pytest.raises(gp.InvalidOption, match=r"expected one from SetPartition\.from_frame"):
        page_of(other, gp.solve(other), pairs=frame)


def test_a_grid_is_shown_as_an_image_whatever_its_names():
    f = noisy_image(6, 8, seed=1).problem
    scopes = [(tuple(f"x_{v // 8}_{v % 8}" for v in scope), t) for scope, t in f.factors()]
    named = gp.FactorGraph()
    for i in np.random.default_rng(0).permutation(48).tolist():
        named.add_variable(f"x_{i // 8}_{i % 8}", domain=int(f.domains[i]))
    for scope, values in scopes:
        named.add_factor(scope, values)
    (image,) = (c for c in data_of(page_of(named, gp.solve(named)))["charts"] if c["key"] == "image")
    place = unpacked(image["place"])
    assert [f"x_{k // 8}_{k % 8}" for k in place.tolist()] == list(named.variables)


def test_variables_of_an_image_are_named_by_their_places():
    costs = np.random.default_rng(0).random((4, 5, 3))
    f = gp.crf.potts(unary=costs, weight=0.2)
    data = data_of(page_of(f, gp.solve(f)))
    assert data["shape"] == [4, 5]
    (table,) = (t for t in data["tables"] if t["key"] == "elements")
    assert [c["name"] for c in table["columns"]] == list(gp.crf.doubts(f, gp.solve(f)).variables)
