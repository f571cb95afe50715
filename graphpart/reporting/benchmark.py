"""`report_benchmark(runs, path)` writes one HTML file about the runs of methods on instances."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from graphpart.display import number, plural
from graphpart.errors import InvalidOption
from graphpart.reporting.charts import COLOURS, DASHES, Chart, check_report, figure, source
from graphpart.reporting.page import Page, Table, column
from graphpart.reporting.payload import short
from graphpart.reporting.profiles import best_costs, gaps, profile, ratios, times_to
from graphpart.result import Status

__all__ = ["report_benchmark"]

Run = Mapping[str, Any]
TOLERANCES = ((0.0, "the best cost"), (0.001, "0.1% of the best cost"), (0.01, "1% of the best cost"))
LEAST_GAP = 1e-5  # smaller gaps are drawn like this one
FAMILY_COLUMNS = (
    "family",
    "method",
    "instances",
    "best cost reached",
    "mean gap in %",
    "largest gap in %",
    "proven",
    "seconds",
)
NEEDED = ("instance", "family", "method", "cost", "seconds", "status")


def report_benchmark(
    runs: Sequence[Run],
    path: str | os.PathLike[str] | BinaryIO,
    *,
    title: str = "Benchmark",
    time_limit: float | None = None,
) -> None:
    """Write a report on a benchmark: a table by family and method, performance profiles, and all runs.

    Parameters
    ----------
    runs : sequence of mappings
        A mapping for each run with ``instance``, ``family``, ``method``, ``cost``, ``seconds``, ``status``; if known,
        also ``kind`` (of the problem: each kind has its own profiles), ``elements``, ``pairs``, ``best known`` (cost),
        ``lower_bound``, ``subsets`` and ``history``, a sequence of (seconds, cost).
    path : str, path-like or binary file
        Where to write; a file appears under its name only when it is complete.
    title : str
        The title of the page.
    time_limit : float, optional
        The time limit of each run in seconds, for the text of the page.

    Raises
    ------
    MissingDependency
        If Bokeh is not installed: ``pip install 'graphpart[report]'``.
    InvalidOption
        If a required entry of a run is missing.

    Notes
    -----
    Performance profiles are those of E. D. Dolan and J. J. Moré, Benchmarking optimization software with performance
    profiles, Mathematical Programming 91 (2002).
    """
    check_report()
    for k, run in enumerate(runs):
        for name in NEEDED:
            if name not in run:
                raise InvalidOption(f"run {k} has no {name}: expected {', '.join(NEEDED)}")
    best = best_costs(runs)
    methods = list(dict.fromkeys(run["method"] for run in runs))
    reached = gaps(runs)
    page = Page(title, *_verdict(runs, methods, reached, len(best)), _facts(runs, best, methods, time_limit))
    styles = {
        method: {
            "name": short(method),
            "colour": COLOURS[k % len(COLOURS)],
            "dash": DASHES[k // len(COLOURS) % len(DASHES)],
        }
        for k, method in enumerate(methods)
    }
    page.parts.append(("By family", [_families(runs, best)]))
    kinds = list(dict.fromkeys(run.get("kind", "") for run in runs))
    for k, kind in enumerate(kinds):  # methods are compared on problems of the kind that they solve
        mine = [run for run in runs if run.get("kind", "") == kind]
        charts: list[Any] = [_times_chart(mine, tolerance, words, styles, k) for tolerance, words in TOLERANCES]
        what = f"Performance profiles: {kind}" if len(kinds) > 1 else "Performance profiles"
        page.parts.append((what, [*charts, _gaps_chart(gaps(mine), styles, k)]))
    page.parts.append(("Runs", [_runs(runs, best)]))
    page.write(path)


def _verdict(
    runs: Sequence[Run], methods: Sequence[str], reached: Mapping[str, Sequence[float]], n: int
) -> tuple[str, str]:
    if not runs:
        return "No runs", "No method ran on any instance."
    hits = {method: sum(gap == 0.0 for gap in reached[method]) for method in methods}
    most = max(hits.values())
    winners = " and ".join(method for method in methods if hits[method] == most)
    proven = sum(run["status"] == Status.OPTIMAL for run in runs)
    head = (
        f"{winners}: the best cost on {number(most)} of {plural(n, 'instance')}"
        if len(methods) > 1
        else (f"{methods[0]}: the best cost on {number(most)} of {plural(n, 'instance')}")
    )
    known = sum(run.get("best known") is not None for run in runs)
    what = (
        "The best cost is the best known one, or a better one found here."
        if known
        else ("The best cost is the best one found here: no best known values were given.")
    )
    return head, f"{what} {number(proven)} of {plural(len(runs), 'run')} ended with a proof that nothing costs less."


def _facts(
    runs: Sequence[Run], best: Mapping[str, float], methods: Sequence[str], limit: float | None
) -> list[tuple[str, str]]:
    facts = [
        ("instances", number(len(best))),
        ("families", number(len({run["family"] for run in runs}))),
        ("methods", number(len(methods))),
        ("runs", number(len(runs))),
        ("time of all runs", f"{math.fsum(run['seconds'] for run in runs):.3g} seconds"),
    ]
    return [*facts, ("time limit of a run", f"{limit:g} seconds")] if limit is not None else facts


def _families(runs: Sequence[Run], best: Mapping[str, float]) -> Table:
    rows: dict[tuple[str, str], list[Run]] = {}
    for family in (None, "all families"):
        for run in runs:
            rows.setdefault((family or run["family"], run["method"]), []).append(run)
    columns: dict[str, list[Any]] = {name: [] for name in FAMILY_COLUMNS}
    for (family, method), group in rows.items():
        mine = gaps_of(group, best)
        finite = [gap for gap in mine if math.isfinite(gap)]
        values = (
            short(family),
            short(method),
            len(group),
            sum(gap == 0 for gap in mine),
            100 * math.fsum(finite) / len(finite) if finite else math.nan,
            100 * max(mine),
            sum(run["status"] == Status.OPTIMAL for run in group),
            math.fsum(run["seconds"] for run in group),
        )
        for name, value in zip(columns, values, strict=True):
            columns[name].append(value)
    caption = (
        "Gaps are (cost - best cost) / |best cost|; their mean is over instances with a finite gap. "
        "A cost is proven if the method showed that nothing costs less."
    )
    kinds = ["text", "text", *["number"] * 6]
    made = [column(name, values, kind) for (name, values), kind in zip(columns.items(), kinds, strict=True)]
    return Table("families", "Families and methods", caption, made)


def gaps_of(runs: Sequence[Run], best: Mapping[str, float]) -> list[float]:
    """The gap of each run to the best cost of its instance."""
    found = []
    for run in runs:
        known = {"best known": best[run["instance"]]}
        found.append(gaps([{**run, **known}])[run["method"]][0])
    return found


def _times_chart(
    runs: Sequence[Run], tolerance: float, words: str, styles: Mapping[str, Mapping[str, str]], k: int
) -> Chart:
    of_method = ratios(times_to(runs, tolerance))
    largest = max((r for values in of_method.values() for r in values if math.isfinite(r)), default=1.0)
    end = max(10.0, 1.3 * largest)
    caption = (
        f"Share of instances on which a method gets to {words} within a factor of the time of the fastest method "
        "(Dolan and Moré 2002); times below 1 ms count as 1 ms. Higher is better; at 1: how often it is the fastest; "
        "at the right: how often it gets there. Instances on which a method did not run count as not getting there."
    )
    key = f"times-{k}-{tolerance:g}".replace(".", "-")
    drawn, data = _curves(of_method, styles, 1.0, end, "times the fastest")
    return Chart(key, f"Time to {words}", caption, drawn, data)


def _gaps_chart(reached: Mapping[str, Sequence[float]], styles: Mapping[str, Mapping[str, str]], k: int) -> Chart:
    values = {method: [max(gap, LEAST_GAP) for gap in found] for method, found in reached.items()}
    caption = (
        "Share of instances on which the cost of a method is at most so much above the best one, as a part of it; "
        "at the left edge: the best cost itself."
    )
    drawn, data = _curves(values, styles, LEAST_GAP, 1.0, "gap to the best cost")
    return Chart(f"gaps-{k}", "Quality in the end", caption, drawn, data)


def _curves(
    values: Mapping[str, Sequence[float]],
    styles: Mapping[str, Mapping[str, str]],
    start: float,
    end: float,
    label: str,
) -> tuple[Any, dict[str, Any]]:
    """The share of instances up to each value, a step curve for each method: the figure, and its data for the page."""
    drawn = figure((0.95 * start, end), (-0.02, 1.03), aspect=1.5, x_log=True)
    drawn.xaxis.axis_label, drawn.yaxis.axis_label = label, "share of instances"
    for method, ascending in values.items():
        x, share = profile([value if value <= end else math.inf for value in ascending])
        last = share[-1] if share else 0.0
        style = styles[method]
        columns = source(style["name"], x=[start, *x, end], y=[share[0] if x and x[0] <= start else 0.0, *share, last])
        drawn.step(
            "x", "y", source=columns, mode="after", color=style["colour"], line_dash=style["dash"], line_width=2.5,
            line_alpha=0.85, name=style["name"],
        )  # fmt: skip
    return drawn, {"kind": "lines", "series": [styles[name] for name in values], "x": label, "y": "share"}


def _runs(runs: Sequence[Run], best: Mapping[str, float]) -> Table:
    names = [str(run["instance"]) for run in runs]
    bare = {name: Path(name).name for name in names}
    shown = bare if len(set(bare.values())) == len(bare) else {name: name for name in names}
    return Table(
        "runs",
        plural(len(runs), "run"),
        "A lower bound is a cost below which nothing is: this is proven.",
        [
            column("instance", [short(shown[name]) for name in names], "text"),
            column("family", [short(run["family"]) for run in runs], "text"),
            column("elements", [run.get("elements") for run in runs]),
            column("pairs", [run.get("pairs") for run in runs]),
            column("method", [short(run["method"]) for run in runs], "text"),
            column("cost", [run["cost"] for run in runs]),
            column("best cost", [best[name] for name in names]),
            column("gap in %", [100 * gap for gap in gaps_of(runs, best)]),
            column("lower bound", [run.get("lower_bound") for run in runs]),
            column("clusters", [run.get("clusters", run.get("subsets")) for run in runs]),
            column("status", [str(run["status"]).replace("_", " ") for run in runs], "text"),
            column("seconds", [run["seconds"] for run in runs]),
        ],
    )
