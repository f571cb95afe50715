"""The pictures of the explanations and of the front page: ``python docs/figures/make.py``."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

import graphpart as gp
from graphpart.plotting import plot_history

HERE = Path(__file__).resolve().parent
COSTS = {
    ("a", "b"): -3, ("a", "c"): -2, ("b", "c"): -2, ("c", "d"): -1, ("b", "d"): 2, ("a", "d"): 2,
    ("d", "e"): -3, ("d", "f"): -2, ("e", "f"): -1, ("c", "e"): 2,
}  # fmt: skip
PLACE = {"a": (0, 1), "b": (0, 0), "c": (1, 0.5), "d": (2, 0.5), "e": (3, 1), "f": (3, 0)}


def draw(axis: Any, title: str, labels: dict[str, int], apart: bool = False) -> None:
    """Elements, colored by cluster, and their pairs; only those within clusters, or all."""
    G = nx.Graph(list(COSTS))
    colors = ["tab:blue", "tab:orange", "tab:green"]
    for attracts, color, style in ((True, "tab:blue", "solid"), (False, "tab:red", "dashed")):
        edges = [pair for pair, cost in COSTS.items() if (cost < 0) == attracts]
        if apart:
            edges = [(u, v) for u, v in edges if labels[u] == labels[v]]
        widths = [abs(COSTS[pair]) for pair in edges]
        nx.draw_networkx_edges(G, PLACE, edges, ax=axis, edge_color=color, style=style, width=widths)
    shown = [colors[labels[v]] if labels else "white" for v in G]
    nx.draw_networkx_nodes(G, PLACE, ax=axis, node_size=500, node_color=shown, edgecolors="black")
    nx.draw_networkx_labels(G, PLACE, ax=axis, font_color="white" if labels else "black")
    if not apart:
        nx.draw_networkx_edge_labels(G, PLACE, COSTS, ax=axis, font_size=8, rotate=False)
    axis.set_title(title, fontsize=11)
    axis.margins(0.15)
    axis.set_axis_off()


def partition() -> None:
    """What is given, what pairs want one by one, and the partition of least cost."""
    pairs = [(ord(u) - 97, ord(v) - 97) for u, v in COSTS]
    p = gp.SetPartition.from_pairs(6, pairs, list(COSTS.values()), nodes="abcdef")
    r = gp.solve(p)
    joined = p.evaluate([0] * 6)
    figure = Figure(figsize=(11, 3), layout="constrained")
    axes = figure.subplots(1, 3)
    draw(axes[0], "given: what each pair costs together", {})
    draw(axes[1], f"all that attracts joined: cost {joined:g}", dict.fromkeys("abcdef", 0), apart=True)
    labels = dict(zip(r.nodes, r.labels.tolist(), strict=True))
    draw(axes[2], f"least cost {r.cost:g}, {r.status}", labels, apart=True)
    figure.savefig(HERE / "partition.png", dpi=100)


def bounds() -> None:
    """Cost and lower bound of branch and cut over time."""
    p = gp.generate.planted_partition(60, 5, 2.4, seed=1).problem
    r = gp.partition.exact(p, initial=[0] * 60, time_limit=60)
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axis = figure.subplots()
    plot_history(r, axis)
    axis.set_ylim(1.5 * r.cost, 0.6 * r.cost)
    axis.set_title(f"branch and cut on 60 elements: {r.status} after {r.seconds:.1f} s")
    figure.savefig(HERE / "bounds.png", dpi=100)


def front() -> None:
    """A matrix of costs as it comes, and ordered by the clusters that were found and proven."""
    made = gp.generate.planted_partition(120, 8, 1.5, seed=4)
    r = gp.solve(made.problem, time_limit=60)
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    made.problem.plot(ax=left, kind="matrix")
    r.plot(ax=right, kind="matrix")
    left.set_title("costs of all pairs of 120 elements\n(blue attracts, red repels)")
    right.set_title(
        f"ordered by the {r.n_clusters} clusters found:\ncost {r.cost:.1f}, {r.status} after {r.seconds:.1f} s"
    )
    figure.savefig(HERE / "clusters.png", dpi=100)


def lifted() -> None:
    """Planted regions, and what pairs of neighbours alone, all pairs alike, and lifted pairs make of noisy costs."""
    shape = 40, 60
    p, truth = gp.generate.lifted_grid(*shape, regions=5, reach=20, seed=2)
    u, v, cost = p.pairs()
    near = np.flatnonzero(~p.lifted)
    problems = {
        "neighbours alone": gp.SetPartition.from_pairs(p.n, (u[near], v[near]), cost[near], dense=False),
        "all pairs alike": gp.SetPartition.from_pairs(p.n, (u, v), cost, dense=False),
        "lifted pairs": p,
    }
    shown = {"planted": truth}
    shown |= {name: gp.partition.search(q, time_limit=10, seed=1).labels for name, q in problems.items()}
    figure = Figure(figsize=(12, 2.6), layout="constrained")
    for axis, (name, labels) in zip(figure.subplots(1, 4), shown.items(), strict=True):
        sizes = np.bincount(labels)
        rank = np.argsort(np.argsort(-sizes, kind="stable"), kind="stable")
        colours = colormaps["tab20"](rank[labels] % 20)
        colours[sizes[labels] < 10] = (0.83, 0.83, 0.83, 1.0)
        axis.imshow(colours.reshape(*shape, 4), interpolation="nearest")
        index = "" if labels is truth else f", {gp.metrics.adjusted_rand_index(truth, labels):.2f}"
        axis.set_title(f"{name}{index}", fontsize=11)
        axis.set_axis_off()
    figure.savefig(HERE / "lifted.png", dpi=100)


def distributed() -> None:
    """Seconds of processors, bytes written and gap of runs in parts, against pairs, from what was measured."""
    with (HERE.parent / "benchmarks" / "distributed.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["family"] == "planted"]
    figure = Figure(figsize=(10, 3), layout="constrained")
    columns = ("seconds of processors", "GB written", "gap, %")
    for axis, column in zip(figure.subplots(1, 3), columns, strict=True):
        axis.loglog([float(row["pairs"]) for row in rows], [float(row[column]) for row in rows], "o-")
        axis.set_title(column, fontsize=11)
        axis.set_xlabel("pairs")
    axis.set_yscale("linear")
    axis.set_ylim(0)
    figure.savefig(HERE / "distributed.png", dpi=100)


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a file that a benchmark has written."""
    with (HERE.parent / "benchmarks" / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def quality() -> None:
    """How far above the best value each program ends, against the time that it takes, one point for each family."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    axis = figure.subplots()
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows_of("anytime_search"):
        gap = re.search(r"mean gap ([\d.]+)%", row["the search"])
        found = re.search(r"median ([\d.]+) s", row["the search"])
        seconds = float(found[1]) if found else float(row["limit"].split()[0])
        points.setdefault("graphpart search", []).append((seconds, float(gap[1]) if gap else 0.0))
        for peer, above, time in re.findall(r"([a-zA-Z][\w ]*?) ([\d.]+)% above in ([\d.]+) s", row["peers"]):
            points.setdefault(peer, []).append((float(time), float(above)))
    for marker, (name, found_at) in zip("osv^", points.items(), strict=True):
        axis.plot(*zip(*found_at, strict=True), marker, label=name, alpha=0.8)
    axis.set_xscale("log")
    axis.set_yscale("symlog", linthresh=0.01, linscale=0.4)
    axis.set_ylim(-0.003, 40)
    axis.set_yticks([0, 0.01, 0.1, 1, 10], ["0", "0.01%", "0.1%", "1%", "10%"])
    axis.set_xlabel("seconds")
    axis.set_ylabel("above the best value")
    axis.legend()
    figure.savefig(HERE / "quality.png", dpi=100)


def growth() -> None:
    """Seconds of methods against the number of pairs, for complete graphs and for random pairs."""
    sizes = {
        "complete, 100": 4950, "complete, 1000": 499500, "complete, 3000": 4498500, "10^4 elements, 10^5 pairs": 1e5,
        "10^5 elements, 10^6 pairs": 1e6, "10^6 elements, 10^7 pairs": 1e7,
    }  # fmt: skip
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    titles = ("complete graphs", "random pairs, ten for each element")
    for axis, title, dense in zip(figure.subplots(1, 2, sharey=True), titles, (True, False), strict=True):
        for method in ("greedy-joining", "kernighan-lin", "kernighan-lin-pairs"):
            found = [
                (sizes[row["problem"]], float(row["seconds"]))
                for row in rows_of("methods")
                if row["method"] == method and row["problem"] in sizes and row["problem"].startswith("comp") == dense
            ]
            axis.loglog(*zip(*found, strict=True), "o-", label=method)
        axis.set_title(title, fontsize=11)
        axis.set_xlabel("pairs")
        axis.legend()
    axis.figure.axes[0].set_ylabel("seconds")
    figure.savefig(HERE / "growth.png", dpi=100)


def proven() -> None:
    """How many cluster editing graphs are proven within each time, and real factor graphs beside toulbar2."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    seconds = sorted(float(row["seconds"]) for row in rows_of("pace") if row["status"] == "optimal")
    left.step([max(s, 0.01) for s in seconds], range(1, len(seconds) + 1), where="post")
    left.set_xscale("log")
    left.set_xlabel("seconds for a graph")
    left.set_title(f"cluster editing, PACE 2021: proven of {len(rows_of('pace'))} graphs", fontsize=11)
    for name in ("graphpart solve", "toulbar2"):
        rows = [row for row in rows_of("real_factor_graphs") if name in row["29 instances"]]
        times = [row["29 instances"].partition(" s:")[0] for row in rows]
        right.plot(times, [int(row["proven optimal"]) for row in rows], "o-", label=f"{name}: proven")
        reached = [int(row["best known reached"]) for row in rows]
        right.plot(times, reached, "s--", label=f"{name}: best known reached")
    right.set_ylim(0, 30)
    right.set_xlabel("limit, seconds")
    right.set_title("real factor graphs: number of 29", fontsize=11)
    right.legend(fontsize=8)
    figure.savefig(HERE / "proven.png", dpi=100)


if __name__ == "__main__":
    for name in sys.argv[1:] or [
        "partition",
        "bounds",
        "front",
        "lifted",
        "distributed",
        "quality",
        "growth",
        "proven",
    ]:
        globals()[name]()
