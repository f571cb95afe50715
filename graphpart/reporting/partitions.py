"""The contents of a report on a set partition problem: the result, doubtful decisions, and the quality of the
result."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.display import number, plural
from graphpart.display.grids import grid_of_problem
from graphpart.display.layout import READABLE
from graphpart.partition.confidence.doubts import Doubts
from graphpart.partition.problem import SetPartition
from graphpart.reporting.cluster_map import chosen_clusters, map_chart
from graphpart.reporting.doubtful import PairRows, decisions_table, elements_table
from graphpart.reporting.page import Page, Table, column
from graphpart.reporting.pair_totals import KINDS, LIFTED_KINDS, PairTotals, pair_totals
from graphpart.reporting.payload import NAMED, ROWS, SEARCHED, packed, packed_costs, packed_names, rounded, short
from graphpart.reporting.pictures import Links, graph_chart, image_chart, matrix_chart, sizes_chart
from graphpart.reporting.progress import progress_chart
from graphpart.reporting.words import facts_of, verdict
from graphpart.result import Result

__all__ = ["partition_page"]

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
PAIRS = 240_000  # that the page gets one by one
CELLS = 250  # rows of the matrix, at most: each is an element


def partition_page(
    p: SetPartition,
    result: Result,
    doubts: Doubts | None,
    title: str,
    remarks: list[str],
    rows: PairRows | None = None,
) -> Page:
    """The page on a partition.

    Parameters
    ----------
    p : SetPartition
    result : Result
        A partition of p.
    doubts : Doubts or None
    title : str
    remarks : list of str
        Sentences about omitted contents.
    rows : PairRows or None
        The columns of a frame of pairs.
    """
    origin, listed = p._origin, p.m
    if p.background is not None:
        p = _listed(p, remarks)
    labels = p.labels(result)
    first = first_of(labels)
    shown = result.labels[first].astype(np.int64) if len(result.labels) == p.n else np.arange(len(first))
    sizes = np.bincount(labels, minlength=len(shown))
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    order = np.argsort(rank[labels], kind="stable")
    doubt, to = _of_elements(p, doubts)
    chosen = chosen_clusters(sizes, _doubtful(doubts, shown))
    cells = p.n if p.n <= CELLS else 0
    totals = pair_totals(p, labels, chosen, order, cells, PAIRS)
    headline, sentence = verdict(result, "partition")
    counts = {"elements": p.n, "pairs": listed, "clusters": len(sizes)}
    if p.n:
        counts |= {"in the largest": int(sizes.max()), "alone": int((sizes == 1).sum())}
    if p.lifted is not None:
        counts["lifted pairs"] = int(p.lifted.sum())
    if len(p.must_join):
        counts["pairs required together"] = len(p.must_join)
    page = Page(title, headline, sentence, facts_of(result, counts), remarks)
    searched = 0 < p.n <= SEARCHED
    if p.n:
        came: list[Any] = []
        if (grid := grid_of_problem(p)) is not None:
            if isinstance(p.nodes, range):  # pixels, which the page names by their places as well
                shape = () if origin is None else origin.shape or ()
                page.data["shape"] = list(shape) if len(shape) in (2, 3) else [int(axis.max()) + 1 for axis in grid]
            came.append(image_chart(*grid, labels, "cluster", "element", remarks))
        elif p.n > READABLE and len(sizes) > 1:
            names = [short(p.nodes[i]) for i in first[chosen].tolist()]
            came.append(map_chart(chosen, shown, sizes, names, totals, remarks, doubts is not None))
        came += ["search", _graph(totals)] if searched else []
        came += [_clusters(p, shown, sizes, order, totals, doubts, remarks), sizes_chart(sizes)]
        page.parts.append(("What came out", came))
        if doubts is not None:
            page.parts.append(
                (
                    "What is doubtful",
                    [decisions_table(p, doubts, rows, page.data.get("shape")), elements_table(p, doubts)],
                )
            )
    good = [progress_chart(result, remarks), _matrix(p, np.sort(sizes)[::-1], totals) if cells else None]
    page.parts.append(("How good it is", [chart for chart in good if chart is not None]))
    if searched:
        page.data["elements"] = {
            "n": p.n,
            "names": packed_names(p.nodes),
            "labels": packed(shown[labels], "int32"),
            "order": packed(order, "int32"),
            "doubt": None if doubts is None else packed_costs(doubt),
            "to": None if doubts is None else packed(to, "int32"),
            "own": packed_costs(totals.own),
            "pairs": _pairs(totals, order, remarks),
            "word": "element",
            "group": "cluster",
            "first": _first_looked_at(p, doubts, shown, sizes),
            "scores": None if origin is None or origin.kind == "cost" else _scores(origin),
        }
    elif p.n:
        remarks.append(f"Elements cannot be searched for: there are more than {number(SEARCHED)}.")
    return page


def _listed(problem: SetPartition, remarks: list[str]) -> SetPartition:
    """A problem without background, if its matrix is drawn pair by pair; else only pairs that are listed count."""
    from graphpart.partition.problem.forms import explicit

    found = explicit(problem) if problem.n <= CELLS else None
    if found is not None:
        return found
    remarks.append(
        f"Pairs that are not listed cost {problem.background!r}: the cost counts them, pictures and tables do not."
    )
    return problem


def _scores(origin: Any) -> dict[str, Any]:
    """How the page computes the score of a pair from its cost."""
    name = short(origin.column if origin.column is not None else origin.kind)
    shift = origin.shift if origin.kind == "probability" else origin.threshold
    return {"kind": origin.kind, "name": name, "shift": shift}


def _doubtful(doubts: Doubts | None, shown: Integers) -> NDArray[np.int64]:
    """The clusters of decisions, the most doubtful first."""
    if doubts is None:
        return np.zeros(0, np.int64)
    code = dict(zip(shown.tolist(), range(len(shown)), strict=True))
    head = doubts.decisions.head(ROWS)
    both = np.stack([head["cluster"], head["other"]], 1).ravel()
    return np.array([code[k] for k in both.tolist() if k in code], np.int64)


def _first_looked_at(p: SetPartition, doubts: Doubts | None, shown: Integers, sizes: Integers) -> list[int]:
    """The clusters that are drawn at first: all, or those of the most doubtful decision, or the largest one."""
    if p.n <= READABLE:
        return [int(k) for k in shown]
    if doubts is not None and doubts.decisions.rows:
        head = doubts.decisions.head(1)
        return [int(k) for k in (*head["cluster"], *head["other"]) if k >= 0]
    return [int(shown[np.argmax(sizes)])]


def _of_elements(p: SetPartition, doubts: Doubts | None) -> tuple[Floats, Integers]:
    """The doubt of each element and where it would move to; inf and -1 where it is not known."""
    doubt, to = np.full(p.n, np.inf), np.full(p.n, -1, np.int64)
    if doubts is not None:
        elements = doubts.elements["element"]
        at = (
            elements
            if isinstance(p.nodes, range)
            else np.array([p.index(name) for name in elements.tolist()], np.int64)
        )
        doubt[at], to[at] = doubts.elements["doubt"], doubts.elements["to"]
    return doubt, to


def _graph(totals: PairTotals) -> Any:
    """The picture of some clusters, which the page's script fills."""
    none = np.zeros(0, np.int64)
    caption = (
        "Each point is an element, in the colour of its cluster. Lines are pairs: those against the partition are "
        "drawn in full colour. Press a cluster on the map or in a table, or a decision, to draw its elements here. "
        "Drag to move, zoom by the buttons or Ctrl and the wheel; point at an element or a line to read its name and "
        "cost, press an element to look at it."
    )
    kinds: tuple[str, ...] = KINDS
    if len(totals.kinds) > len(KINDS):
        kinds += LIFTED_KINDS
        caption += " Lifted pairs are drawn thin and pale: they have a cost, but do not connect."
    links = Links(none, none, np.zeros(0), none, kinds, totals.kinds.tolist())
    chart = graph_chart(np.zeros(0), np.zeros(0), none, none, links, "Elements and their clusters", caption)
    chart.data["focus"] = True
    return chart


def _matrix(p: SetPartition, sizes: Integers, totals: PairTotals) -> Any:
    finite = np.abs(totals.cells[np.isfinite(totals.cells)])
    largest = float(np.quantile(finite, 0.99)) if len(finite) else 1.0
    largest = largest or float(finite.max(initial=0.0)) or 1.0
    caption = (
        "Blue pairs attract (costs below 0), red pairs repel; pairs without a cost are blank. "
        f"Full colour is a cost of {number(float(f'{largest:.3g}'))} or more. Frames are clusters, the largest first."
    )
    return matrix_chart(totals.cells, p.n, sizes, largest, caption)


def _clusters(
    p: SetPartition,
    shown: Integers,
    sizes: Integers,
    order: Integers,
    totals: PairTotals,
    doubts: Doubts | None,
    remarks: list[str],
) -> Table:
    k = len(sizes)
    doubt, change = np.full(k, np.nan), np.full(k, "", object)
    if doubts is not None:
        table = doubts.clusters
        code = dict(zip(shown.tolist(), range(k), strict=True))
        changes = (table[name].tolist() for name in ("cluster", "change", "other", "leaving", "doubt"))
        for cluster, what, other, leaving, rise in zip(*changes, strict=True):
            doubt[code[cluster]] = rise
            if what in ("join", "split"):
                change[code[cluster]] = f"join with {other}" if what == "join" else plural(leaving, "leaves", "leave")
    by_size = np.argsort(-sizes, kind="stable")
    rows = by_size
    if k > ROWS:
        rows, which = by_size[:ROWS], "the largest."
        if doubts is not None:
            unsure = np.argsort(doubt, kind="stable")[: ROWS // 2]
            rows = np.unique(np.concatenate([by_size[: ROWS // 2], unsure]))
            rows = rows[np.argsort(-sizes[rows], kind="stable")]
            which = f"the {number(ROWS // 2)} largest and the {number(ROWS // 2)} that are least sure."
        remarks.append(f"The table has {number(len(rows))} of {plural(k, 'cluster')}: {which}")
    start = np.zeros(k, np.int64)
    start[by_size] = np.cumsum(sizes[by_size]) - sizes[by_size]
    members = [order[start[s] : start[s] + min(NAMED, sizes[s])].tolist() for s in rows.tolist()]
    texts = [
        ", ".join(short(p.nodes[i], 40) for i in some) + (", ..." if sizes[s] > NAMED else "")
        for s, some in zip(rows.tolist(), members, strict=True)
    ]
    columns = [
        column("cluster", shown[rows].tolist(), "cluster"),
        column("size", sizes[rows].tolist()),
        column("cost within", totals.inside[rows].tolist()),
        column("cost to others", totals.outside[rows].tolist()),
        column("elements", texts, "text"),
    ]
    caption = "Press a cluster to draw it. Costs are sums over pairs: those within the cluster count, others do not."
    if doubts is not None:
        columns[4:4] = [
            column("change", change[rows].tolist(), "text"),
            column("doubt", doubt[rows].tolist()),
        ]
        caption += (
            " The cheapest change joins the cluster with another one, or splits it in two; the doubt is its cost."
        )
    return Table("clusters", plural(k, "cluster"), caption, columns, -2)


def _pairs(totals: PairTotals, order: Integers, remarks: list[str]) -> dict[str, Any]:
    """The pairs one by one, by the places of elements in the order of clusters: differences of places pack well."""
    u, v, cost, kind = totals.links
    count = int(totals.kinds.sum())
    if len(u) > PAIRS:
        rank = np.lexsort((-np.abs(cost), kind % len(KINDS) < 2))  # those against the partition come first
        rank = rank[:PAIRS]
        u, v, cost, kind = u[rank], v[rank], cost[rank], kind[rank]
    if len(u) < count:
        remarks.append(
            f"The page has {number(len(u))} of {plural(count, 'pair')} with a cost other than 0: those against the "
            "partition, and of the others those of the largest absolute cost."
        )
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    a, b = np.minimum(place[u], place[v]), np.maximum(place[u], place[v])
    by_place = np.lexsort((b, a))
    a, b, cost, kind = a[by_place], b[by_place], cost[by_place], kind[by_place]
    if len(u) > 50_000:
        cost = rounded(cost)
    return {
        "u": packed(np.diff(a, prepend=0), "int32"),
        "v": packed(b - a, "int32"),
        "cost": packed_costs(cost),
        **({"lifted": packed(kind >= len(KINDS), "uint8")} if len(totals.kinds) > len(KINDS) else {}),
    }
