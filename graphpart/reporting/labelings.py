"""The contents of a report on a factor graph and a labeling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.confidence.doubts import LabelDoubts
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.shared_tables import places_in_tables
from graphpart.display import number, plural
from graphpart.display.grids import grid_of
from graphpart.display.layout import DRAWN, READABLE, springs
from graphpart.reporting.charts import Chart
from graphpart.reporting.page import Page, Table, column
from graphpart.reporting.payload import LEAST_SURE, NAMED, ROWS, SEARCHED, packed, packed_costs, packed_names, short
from graphpart.reporting.pictures import ATTRACT, REPEL, Links, bars, graph_chart, image_chart, legend_of
from graphpart.reporting.progress import progress_chart
from graphpart.reporting.words import facts_of, verdict
from graphpart.result import Result

__all__ = ["energies_of", "labeling_page"]

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
KINDS = ("factors at their least energy", "factors above it")
LINES = ((ATTRACT, "solid", 0.6), (REPEL, "solid", 0.7))  # colour, dash and opacity of each


def labeling_page(f: FactorGraph, result: Result, doubts: LabelDoubts | None, title: str, remarks: list[str]) -> Page:
    """The page on a labeling.

    Parameters
    ----------
    f : FactorGraph
    result : Result
        A labeling of f.
    doubts : LabelDoubts or None
    title : str
    remarks : list of str
        Sentences about omitted contents.
    """
    labels = f.labels(result)
    headline, sentence = verdict(result, "labeling")
    counts = {"variables": f.n, "factors": f.m, "labels of a variable, at most": int(f.domains.max(initial=0))}
    page = Page(title, headline, sentence, facts_of(result, counts), remarks)
    energies, least = energies_of(f, labels)
    above = energies - least
    came: list[Any] = []
    if f.n:
        if isinstance(f.variables, range) and f.shape is not None and len(f.shape) in (2, 3):
            page.data["shape"] = list(f.shape)  # the page names pixels by their places as well
        grid = grid_of(f.variables, *_pairs(f), f.shape)
        if grid is not None:
            came.append(image_chart(*grid, labels, "label", "variable", remarks))
        elif f.n <= DRAWN:
            came.append(_graph(f, labels, above, remarks))
        else:
            remarks.append(f"The graph is not drawn: there are more than {DRAWN} variables, which lie on no grid.")
        came += ["search"] if f.n <= SEARCHED else []
        came.append(_labels_chart(labels))
        page.parts.append(("What came out", came))
    if doubts is not None and f.n:
        page.parts.append(("What is doubtful", [_least_sure(f, doubts)]))
    good: list[Any] = [progress_chart(result, remarks)]
    if f.m:
        tables = [_by_arity(f, energies, least), _factors(f, labels, energies, least, remarks)]
        good += [_energies_chart(energies), *tables]
    page.parts.append(("How good it is", [part for part in good if part is not None]))
    if f.n and f.n <= SEARCHED:
        doubt, to = _of_variables(f, doubts)
        page.data |= {
            "elements": {
                "n": f.n,
                "names": packed_names(f.variables),
                "labels": packed(labels, "int32"),
                "order": None,
                "doubt": None if doubts is None else packed_costs(doubt),
                "to": None if doubts is None else packed(to, "int32"),
                "own": None,
                "pairs": None,
                "word": "variable",
                "group": "label",
            }
        }
    return page


def energies_of(f: FactorGraph, labels: Integers) -> tuple[Floats, Floats]:
    """The energy of each factor, and the least entry of its table; O(size of all tables).

    Examples
    --------
    >>> f = FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, 3.0]]), ([[0, 1]], [[[0.0, 1.0], [2.0, 4.0]]])])
    >>> energies, least = energies_of(f, np.array([1, 0]))
    >>> energies.tolist(), least.tolist()
    ([3.0, 2.0], [0.0, 0.0])
    """
    if not f.m:
        return np.zeros(0), np.zeros(0)
    at = places_in_tables(f.domains, f.scope_start, f.scope, labels)
    return f.tables[f.table_start[:-1] + at], np.minimum.reduceat(f.tables, f.table_start[:-1])


def _pairs(f: FactorGraph) -> tuple[Integers, Integers]:
    """The variables of factors over two."""
    two = f.scope_start[:-1][np.diff(f.scope_start) == 2]
    return f.scope[two], f.scope[two + 1]


def _labels_chart(labels: Integers) -> Any:
    counts = np.bincount(labels)
    values = np.flatnonzero(counts)
    texts = [f"label {k}: {plural(int(counts[k]), 'variable')}" for k in values.tolist()]
    caption = f"{plural(len(values), 'label')} in use."
    x = (-0.7, max(1.7, float(values.max()) + 0.7))
    drawn = bars(values - 0.45, values + 0.45, counts[values], ("label", "variables"), x)
    return Chart("labels", "Variables of each label", caption, drawn, {"kind": "bars", "texts": texts})


def _energies_chart(energies: Floats) -> Any:
    finite = energies[np.isfinite(energies)]
    if not len(finite) or finite.min() == finite.max():
        value = float(finite[0]) if len(finite) else 0.0
        edges = np.array([value - 0.5, value + 0.5])
    else:
        edges = np.linspace(float(finite.min()), float(finite.max()), READABLE + 1)
    place = np.clip(np.searchsorted(edges, finite, "right") - 1, 0, len(edges) - 2)
    counts = np.bincount(place, minlength=len(edges) - 1)
    texts = [
        f"{plural(int(c), 'factor')} from {a:.4g} to {b:.4g}" for c, a, b in zip(counts, edges, edges[1:], strict=False)
    ]
    margin = 0.03 * float(edges[-1] - edges[0])
    caption = f"They add up to {number(float(finite.sum()))}."
    if len(finite) < len(energies):
        caption += f" {plural(len(energies) - len(finite), 'factor')} forbid the labeling and are not drawn."
    x = (float(edges[0]) - margin, float(edges[-1]) + margin)
    drawn = bars(edges[:-1], edges[1:], counts, ("energy", "factors"), x, whole=False)
    return Chart("energies", "Energies of factors", caption, drawn, {"kind": "bars", "texts": texts})


def _graph(f: FactorGraph, labels: Integers, above: Floats, remarks: list[str]) -> Any:
    """Variables as points, a line from the first variable of a factor to each other one."""
    arity = np.diff(f.scope_start)
    owner = np.repeat(np.arange(f.m), arity)
    first = np.repeat(f.scope[np.minimum(f.scope_start[:-1], max(len(f.scope) - 1, 0))], arity) if f.m else owner
    other = np.arange(len(f.scope)) != np.repeat(f.scope_start[:-1], arity)
    u, v, excess = first[other], f.scope[other], above[owner[other]]
    kind = (excess > 0).astype(np.int64)
    x, y = springs(labels, u, v)
    if len(u) > ROWS:
        kept = np.sort(np.argsort(-excess, kind="stable")[:ROWS])
        u, v, excess, kind = u[kept], v[kept], excess[kept], kind[kept]
        remarks.append(f"The graph shows {number(ROWS)} lines, those of the factors furthest above their least energy.")
    counts = [int((above[arity > 1] <= 0).sum()), int((above[arity > 1] > 0).sum())]
    caption = (
        "Variables in the colours of their labels; lines are factors, from their first variable to each other one, and "
        "say by how much their energy is above the least one of their table."
    )
    links = Links(u, v, excess, kind, KINDS, counts, LINES)
    chart = graph_chart(x, y, labels, np.arange(f.n), links, "Variables and their labels", caption)
    chart.data["legend"] = legend_of("label", labels)
    return chart


def _by_arity(f: FactorGraph, energies: Floats, least: Floats) -> Table:
    arity = np.diff(f.scope_start)
    rows = np.unique(arity)
    sums = [(int((arity == k).sum()), float(energies[arity == k].sum()), float(least[arity == k].sum())) for k in rows]
    caption = "A labeling cannot cost less than the least entries of all tables, taken one by one."
    if f.constant:
        caption += f" A constant of {number(f.constant)} is added to every energy."
    return Table(
        "arities",
        "Energies by number of variables",
        caption,
        [
            column("variables of the factor", rows.tolist()),
            column("factors", [row[0] for row in sums]),
            column("energy", [row[1] for row in sums]),
            column("sum of least entries", [row[2] for row in sums]),
            column("above it", [row[1] - row[2] for row in sums]),
        ],
    )


def _factors(f: FactorGraph, labels: Integers, energies: Floats, least: Floats, remarks: list[str]) -> Table:
    above = energies - least
    rows = np.argsort(-above, kind="stable")[:ROWS]
    if f.m > ROWS:
        remarks.append(
            f"The table of factors has {number(ROWS)} of {number(f.m)}: those furthest above their least energy."
        )
    scopes, own = [], []
    for k in rows.tolist():
        scope = f.factor(k)[0]
        more = ", ..." if len(scope) > NAMED else ""
        scopes.append(", ".join(short(f.variables[i], 40) for i in scope[:NAMED]) + more)
        own.append(", ".join(str(labels[i]) for i in scope[:NAMED]) + more)
    return Table(
        "factors",
        plural(f.m, "factor"),
        "Factors whose energy is far above the least entry of their table are those that the labeling gives up.",
        [
            column("factor", rows.tolist()),
            column("variables", scopes, "text"),
            column("labels", own, "text"),
            column("energy", energies[rows].tolist()),
            column("least entry", least[rows].tolist()),
            column("above it", above[rows].tolist()),
        ],
        -6,
    )


def _least_sure(f: FactorGraph, doubts: LabelDoubts) -> Table:
    head = doubts.variables.head(LEAST_SURE)
    what = ""
    if doubts.gain > 0:
        what = f" A change lowers the energy by {number(float(f'{doubts.gain:.6g}'))}: solve again from here."
    elif doubts.undecided > 1:
        what = f" Of all, {number(doubts.undecided)} have another label at the same energy."
    return Table(
        "elements",
        "Variables",
        f"The doubt is what the best other label would cost more: the {head.rows} least sure of "
        f"{plural(doubts.variables.rows, 'variable')}. Exact costs are the least possible; with more search, those by "
        f"local search may turn out lower.{what}",
        [
            column("variable", [f.index(name) for name in head["variable"].tolist()], "element"),
            column("label", head["label"].tolist()),
            column("other", ["" if k < 0 else str(k) for k in head["other"].tolist()], "text"),
            column("doubt", head["doubt"].tolist()),
            column("method", head["method"].tolist(), "text"),
        ],
    )


def _of_variables(f: FactorGraph, doubts: LabelDoubts | None) -> tuple[Floats, Integers]:
    doubt, to = np.full(f.n, np.inf), np.full(f.n, -1, np.int64)
    if doubts is not None:
        at = np.array([f.index(name) for name in doubts.variables["variable"].tolist()], np.int64)
        doubt[at], to[at] = doubts.variables["doubt"], doubts.variables["other"]
    return doubt, to
