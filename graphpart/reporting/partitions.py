"""The contents of a report on a set partition problem and its subsets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.display import number, plural
from graphpart.partition.confidence.doubts import Doubts
from graphpart.partition.problem import SetPartition
from graphpart.reporting.grids import grid_of
from graphpart.reporting.layout import discs, springs
from graphpart.reporting.page import Page, Table, column
from graphpart.reporting.pair_totals import KINDS, PairTotals, pair_totals
from graphpart.reporting.payload import names_of, packed, packed_costs, short
from graphpart.reporting.pictures import graph_chart, image_chart, matrix_chart, sizes_chart
from graphpart.reporting.progress import progress_chart
from graphpart.reporting.words import facts_of, verdict
from graphpart.result import Result

__all__ = ["partition_page"]

Integers = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
DRAWN = 3000  # elements in the graph
DOUBTFUL = 1000  # of them, those that are least sure
SPRINGS = 300  # elements of a graph that is drawn by springs
LINKS = 2000  # pairs of each kind in the graph
EXACT_CELLS, CELLS = 1000, 500  # rows of a matrix whose cells are pairs; rows where elements share cells
SUBSETS = 10_000  # rows of the table
LEAST_SURE = 200  # rows of the tables of doubts
NEIGHBOURS = 400_000  # pairs of a problem that the page gets one by one
NAMES = 5  # members of a subset in the table
ELEMENTS = 400_000  # that can be searched for


def partition_page(p: SetPartition, result: Result, doubts: Doubts | None, title: str, remarks: list[str]) -> Page:
    """The page on a partition.

    Parameters
    ----------
    p : SetPartition
    result : Result
        A partition of p.
    doubts : Doubts or None
    title : str
    remarks : list of str
        Sentences about what is left out.
    """
    labels = p.labels(result)
    first = first_of(labels)
    shown = result.labels[first].astype(np.int64) if len(result.labels) == p.n else np.arange(len(first))
    sizes = np.bincount(labels, minlength=len(shown))
    by_size = np.argsort(-sizes, kind="stable")
    rank = np.empty(len(sizes), np.int64)
    rank[by_size] = np.arange(len(sizes))
    order = np.argsort(rank[labels], kind="stable")
    doubt, to = _of_elements(p, doubts)
    grid = grid_of(p.nodes, *_listed(p)) if p.n else None
    with_graph = grid is None or p.n <= DRAWN  # a large grid is shown as an image
    drawn = _drawn(order, doubt, remarks) if with_graph else order[:0]
    cells = p.n if p.n <= EXACT_CELLS else CELLS
    totals = pair_totals(p, labels, drawn, order, cells, LINKS)
    headline, sentence = verdict(result, "partition")
    counts = {"elements": p.n, "pairs": p.m, "subsets": len(sizes)}
    if len(p.must_join):
        counts["pairs required together"] = len(p.must_join)
    page = Page(title, headline, sentence, facts_of(result, counts), remarks)
    charts = [progress_chart(result, remarks), sizes_chart(sizes) if p.n else None]
    page.parts.append(("How it went", [chart for chart in charts if chart is not None]))
    if p.n:
        pictures: list[Any] = ["search"] if p.n <= ELEMENTS else []
        if grid is not None:
            pictures.append(image_chart(*grid, labels, "subset", "element", remarks))
        if with_graph:
            pictures.append(_graph(p, labels, doubt, drawn, totals, grid, remarks))
        pictures.append(_matrix(p, sizes[by_size], totals, remarks))
        page.parts.append(("Pictures", pictures))
        page.parts.append(("Subsets", [_subsets(p, labels, shown, sizes, order, totals, doubts, remarks)]))
    if doubts is not None and p.n:
        page.parts.append(("What is least sure", _least_sure(p, doubts)))
    if p.n <= ELEMENTS:
        page.data |= {
            "elements": {
                "n": p.n,
                "names": names_of(p.nodes),
                "labels": packed(shown[labels], "int32"),
                "order": packed(order, "int32"),
                "doubt": None if doubts is None else packed_costs(doubt),
                "to": None if doubts is None else packed(to, "int32"),
                "own": packed_costs(totals.own),
                "pairs": _pairs(p, remarks),
                "word": "element",
                "group": "subset",
            }
        }
    else:
        remarks.append(f"Elements cannot be searched for: there are more than {number(ELEMENTS)}.")
    return page


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


def _drawn(order: NDArray[np.int64], doubt: Floats, remarks: list[str]) -> NDArray[np.int64]:
    """The elements that are drawn as points: all, or the most doubtful and of the others some at equal distance."""
    n = len(order)
    if n <= DRAWN:
        return np.arange(n)
    chosen = np.zeros(n, bool)
    chosen[np.argsort(doubt, kind="stable")[:DOUBTFUL]] = np.isfinite(doubt).any()
    others = order[~chosen[order]]
    wanted = DRAWN - int(chosen.sum())
    chosen[others[np.arange(wanted) * len(others) // wanted]] = True
    what = f"the {number(DOUBTFUL)} that are least sure, and of the others " if np.isfinite(doubt).any() else ""
    remarks.append(
        f"The graph shows {number(DRAWN)} of {plural(n, 'element')}: {what}some at equal distance in "
        "the order of subsets."
    )
    return np.flatnonzero(chosen)


def _listed(p: SetPartition) -> tuple[Integers, Integers]:
    if p.matrix is not None:  # of a matrix no neighbours can be told
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    u, v, _ = p.pairs()
    return u, v


def _graph(
    p: SetPartition, labels: Integers, doubt: Floats, drawn: Integers, totals: PairTotals, grid: Any, remarks: list[str]
) -> Any:
    u, v, cost, kind = totals.links
    some = "Points that are near each other attract each other."
    if grid is not None:
        (x, y), some = (grid[1][drawn].astype(float), grid[0][drawn].astype(float)), "Elements stand on their grid."
    elif len(drawn) <= SPRINGS:
        x, y = springs(labels[drawn], u[cost < 0], v[cost < 0])
    else:
        x, y = discs(labels[drawn], doubt[drawn])
        some = "Each disc is a subset, the largest first; elements that are least sure lie at the rim."
    possible = totals.kinds
    got = np.bincount(kind, minlength=len(KINDS))
    if len(drawn) == p.n and (got < possible).any():
        remarks.append(
            f"The graph shows at most {number(LINKS)} pairs of each kind, those of the largest absolute cost: "
            f"{number(len(u))} of {plural(int(possible.sum()), 'pair')} with a cost other than 0."
        )
    caption = (
        f"{some} Lines are pairs: those against the partition are drawn in full colour. Drag to move, zoom by the "
        "buttons or Ctrl and the wheel; point at an element or a line to read its name and cost, press to look at it."
    )
    return graph_chart(x, y, labels[drawn], drawn, totals.links, KINDS, possible.tolist(), caption)


def _matrix(p: SetPartition, sizes: Integers, totals: PairTotals, remarks: list[str]) -> Any:
    cells = len(totals.cells)
    finite = np.abs(totals.cells[np.isfinite(totals.cells)])
    largest = float(np.quantile(finite, 0.99)) if len(finite) else 1.0
    largest = largest or float(finite.max(initial=0.0)) or 1.0
    caption = (
        "Blue pairs attract (costs below 0), red pairs repel; pairs without a cost are blank. "
        f"Full colour is a cost of {number(float(f'{largest:.3g}'))} or more. Frames are subsets, the largest first."
    )
    if cells < p.n:
        remarks.append(
            f"The matrix has {cells} rows for {plural(p.n, 'element')}: a cell has the mean cost of the pairs in it."
        )
    return matrix_chart(totals.cells, p.n, sizes, largest, caption)


def _subsets(
    p: SetPartition,
    labels: Integers,
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
            change[code[cluster]] = (
                f"join with {other}" if what == "join" else f"{number(leaving)} leave" if what == "split" else ""
            )
    by_size = np.argsort(-sizes, kind="stable")
    rows = by_size
    if k > SUBSETS:
        unsure = np.argsort(doubt, kind="stable")[: SUBSETS // 2]
        rows = np.unique(np.concatenate([np.arange(k)[by_size][: SUBSETS // 2], unsure]))
        rows = rows[np.argsort(-sizes[rows], kind="stable")]
        remarks.append(
            f"The table has {number(len(rows))} of {plural(k, 'subset')}: the {number(SUBSETS // 2)} largest"
            + (f" and the {number(SUBSETS // 2)} that are least sure." if doubts is not None else ".")
        )
    start = np.zeros(k, np.int64)
    start[by_size] = np.cumsum(sizes[by_size]) - sizes[by_size]
    members = [order[start[s] : start[s] + min(NAMES, sizes[s])].tolist() for s in rows.tolist()]
    texts = [
        ", ".join(short(p.nodes[i])[:40] for i in some) + (", ..." if sizes[s] > NAMES else "")
        for s, some in zip(rows.tolist(), members, strict=True)
    ]
    columns = [
        column("subset", shown[rows].tolist(), "subset"),
        column("size", sizes[rows].tolist()),
        column("cost within", totals.inside[rows].tolist()),
        column("cost to others", totals.outside[rows].tolist()),
        column("elements", texts, "text"),
    ]
    caption = "Costs are sums over pairs: those within the subset count, those to others do not."
    if doubts is not None:
        columns[4:4] = [
            column("cheapest change", change[rows].tolist(), "text"),
            column("it would cost", doubt[rows].tolist()),
        ]
        caption += " The cheapest change joins the subset with another one, or splits it in two."
    return Table("subsets", plural(k, "subset"), caption, columns, -2)


def _least_sure(p: SetPartition, doubts: Doubts) -> list[Any]:
    index = (lambda name: int(name)) if isinstance(p.nodes, range) else p.index
    elements, pairs = doubts.elements.head(LEAST_SURE), doubts.pairs.head(LEAST_SURE)
    moves = ["on its own" if to == -1 else f"to {to}" for to in elements["to"].tolist()]
    moves = ["" if d == np.inf else move for d, move in zip(elements["doubt"], moves, strict=True)]
    what = (
        ""
        if doubts.gain <= 0
        else f" A change lowers the cost by {number(float(f'{doubts.gain:.6g}'))}: solve again from here."
    )
    tables = [
        Table(
            "elements",
            "Elements",
            f"What it would cost to move each of them, all others staying: the {len(moves)} least sure of "
            f"{plural(doubts.elements.rows, 'element')}.{what}",
            [
                column("element", [index(name) for name in elements["element"].tolist()], "element"),
                column("subset", elements["cluster"].tolist(), "subset"),
                column("cheapest move", moves, "text"),
                column("it would cost", elements["doubt"].tolist()),
            ],
        )
    ]
    if pairs.rows:
        tables.append(
            Table(
                "pairs",
                "Pairs",
                "What it would cost to part those that are together, and to join those that are apart: the "
                f"{pairs.rows} least sure of {plural(doubts.pairs.rows, 'pair')}. Exact costs are the least possible; "
                "with more search, those by local search may turn out lower.",
                [
                    column("element", [index(name) for name in pairs["left"].tolist()], "element"),
                    column("and", [index(name) for name in pairs["right"].tolist()], "element"),
                    column("are", ["together" if joined else "apart" for joined in pairs["joined"].tolist()], "text"),
                    column("cost of the pair", pairs["cost"].tolist()),
                    column("otherwise it would cost", pairs["doubt"].tolist()),
                    column("method", pairs["method"].tolist(), "text"),
                ],
            )
        )
    return tables


def _pairs(p: SetPartition, remarks: list[str]) -> Any:
    """The pairs one by one, for the text about an element; in a small problem, they are in the matrix."""
    if p.n <= EXACT_CELLS:
        return None
    if p.m > NEIGHBOURS:
        remarks.append(
            f"Of an element that is looked at, its pairs are not listed: there are {number(p.m)} of them in all."
        )
        return None
    u, v, cost = p.listed()
    return {"u": packed(u, "int32"), "v": packed(v, "int32"), "cost": packed_costs(cost)}
