"""The pictures of a set partition problem and its clusters: graph, matrix, image, and sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.display import number, plural
from graphpart.display.layout import READABLE
from graphpart.reporting.charts import COLOURS, Chart, figure, models, source
from graphpart.reporting.payload import packed

__all__ = [
    "ATTRACT",
    "REPEL",
    "Links",
    "bars",
    "figure_for",
    "graph_chart",
    "image_chart",
    "legend_of",
    "matrix_chart",
    "sizes_chart",
]

Floats = NDArray[np.float64]
Integers = NDArray[np.integer[Any]]
ATTRACT, REPEL = "#3b78b8", "#d1542c"
PALE_ATTRACT, PALE_REPEL = "#8fb8de", "#eba68f"  # of lifted pairs
LINKS = (  # colour, dash, opacity by kind, see pair_totals.KINDS
    (ATTRACT, "solid", 0.45),
    (REPEL, "dotted", 0.35),
    (REPEL, "solid", 0.6),
    (ATTRACT, "dashed", 0.8),
    (PALE_ATTRACT, "solid", 0.5),
    (PALE_REPEL, "dotted", 0.5),
    (PALE_REPEL, "solid", 0.8),
    (PALE_ATTRACT, "dashed", 0.9),
)
SHOWN = (600, 100, 600, 600, 300, 100, 300, 300)  # lines up to which a kind is shown at first


class Links(NamedTuple):
    """Pairs that are drawn as lines: their points, costs and kinds.

    `kinds` are the names of kinds, `counts` the number of pairs of each kind, drawn or not, and `styles` the colour,
    dash and opacity of each kind.
    """

    u: Integers
    v: Integers
    cost: Floats
    kind: Integers
    kinds: Sequence[str]
    counts: Sequence[int]
    styles: Sequence[tuple[str, str, float]] = LINKS


def graph_chart(
    x: Floats, y: Floats, labels: Integers, elements: Integers, links: Links, title: str, caption: str
) -> Chart:
    """Elements as points in the colours of their clusters, pairs as lines."""
    drawn = figure_for(x, y, 1.25 if len(x) else 2.0, 2.2)
    u, v, cost, kind, kinds, counts, styles = links
    shown = []
    for k in range(len(kinds)):
        colour, dash, alpha = styles[k]
        mine = np.flatnonzero(kind == k)
        columns = source(
            f"links-{k}",
            x0=x[u[mine]], y0=y[u[mine]], x1=x[v[mine]], y1=y[v[mine]],
            u=elements[u[mine]].astype(np.int32), v=elements[v[mine]].astype(np.int32), cost=cost[mine],
        )  # fmt: skip
        visible = len(mine) <= SHOWN[k]
        drawn.segment(
            "x0", "y0", "x1", "y1", source=columns, color=colour, line_dash=dash, line_alpha=alpha,
            line_width=1.3 if k < 4 else 0.8,
            name=f"links-{k}", visible=visible,
        )  # fmt: skip
        line = {"name": kinds[k], "drawn": len(mine), "count": int(counts[k])}
        shown.append({**line, "visible": visible, "colour": colour, "dash": dash})
    near = source("near", x0=[], y0=[], x1=[], y1=[], colour=[])  # pairs of the element that is looked at
    drawn.segment("x0", "y0", "x1", "y1", source=near, color="colour", line_width=2.5, name="near")
    colours = [COLOURS[label % len(COLOURS)] for label in labels.tolist()]
    nodes = source("nodes", x=x, y=y, element=elements.astype(np.int32), colour=colours)
    size = float(np.clip(12 * np.sqrt(300 / max(len(x), 1)), 3, 12))
    drawn.scatter("x", "y", source=nodes, size=size, color="colour", line_width=0, name="nodes")
    _marker(drawn)
    return Chart("graph", title, caption, drawn, {"kind": "graph", "links": shown}, wide=True)


def figure_for(x: Floats, y: Floats, least: float, most: float, more: float = 0.0) -> Any:
    """An empty figure that has room for points, with a margin; its width over its height is from `least` to `most`."""
    left, right, top, bottom = _box(x, y, more)
    aspect = min(most, max(least, (right - left) / (bottom - top)))
    wide, high = max(right - left, aspect * (bottom - top)), max(bottom - top, (right - left) / aspect)
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    return figure(
        (middle_x - wide / 2, middle_x + wide / 2),
        (middle_y + high / 2, middle_y - high / 2),
        aspect=aspect,
        axes=False,
    )


def _box(x: Floats, y: Floats, more: float) -> tuple[float, float, float, float]:
    if not len(x):
        return 0.0, 1.0, 0.0, 1.0
    left, right, top, bottom = float(x.min()), float(x.max()), float(y.min()), float(y.max())
    margin = max(0.04 * max(right - left, bottom - top), 1e-3) + more
    return left - margin, right + margin, top - margin, bottom + margin


def _marker(drawn: Any) -> None:
    """A ring, not there yet, around the element that is looked at."""
    marker = source("marker", x=[], y=[])
    drawn.scatter(
        "x",
        "y",
        source=marker,
        size=22,
        fill_color=None,
        line_color="#e0007a",
        line_width=3,
        name="marker",
        level="overlay",
    )


def matrix_chart(cells: Floats, n: int, sizes: Integers, largest: float, caption: str) -> Chart:
    """The costs of pairs, elements ordered by cluster; the page's script fills the image from half of the matrix.

    Parameters
    ----------
    cells : ndarray of shape (c, c)
        Upper half filled.
    n : int
        Number of elements.
    sizes : ndarray of int
        Of the clusters, in the order of the matrix.
    largest : float
        The absolute cost that has the full colour.
    """
    scale = 1.0 if 1e-20 < largest < 1e20 else 2.0 ** int(np.log2(largest))  # cells are in single precision
    with np.errstate(over="ignore", under="ignore"):
        cells = (cells / scale).astype(np.float32)
    drawn = figure((0, n), (n, 0), aspect=1.0)
    image = source("image", image=[np.zeros((1, 1), np.float32)], x=[0], y=[0], dw=[n], dh=[n])
    mapper = models().LinearColorMapper(
        ["#000000"], low=-largest / scale, high=largest / scale, nan_color="rgba(0,0,0,0)", name="costs"
    )
    drawn.image("image", source=image, x="x", y="y", dw="dw", dh="dh", color_mapper=mapper, name="image")
    _dots(drawn, cells, n, mapper)
    ends = np.cumsum(sizes)
    some = np.flatnonzero(sizes > 1)[:500]
    starts, ends = (ends - sizes)[some], ends[some]
    columns = source("outlines", left=starts, right=ends, top=starts, bottom=ends)
    drawn.quad(
        "left",
        "right",
        "top",
        "bottom",
        source=columns,
        fill_alpha=0,
        line_color="#888888",
        line_width=1,
        name="outlines",
    )
    cross = source("cross", x0=[], y0=[], x1=[], y1=[])
    drawn.segment("x0", "y0", "x1", "y1", source=cross, color="#e0007a", line_width=1.5, name="cross")
    drawn.grid.visible = False
    half = cells[np.triu_indices(len(cells))]
    data = {"kind": "matrix", "cells": len(cells), "half": packed(half, "float32"), "scale": scale}
    drawn.xaxis.axis_label = drawn.yaxis.axis_label = "elements, cluster by cluster"
    return Chart("matrix", "Costs of pairs, ordered by cluster", caption, drawn, data)


def _dots(drawn: Any, cells: Floats, n: int, mapper: Any) -> None:
    """Where few cells have a cost, a dot on each: a cell may be smaller than a pixel."""
    i, j = np.nonzero(np.triu(np.nan_to_num(cells, posinf=1.0, neginf=-1.0)))
    if not len(i) or len(i) > 0.02 * cells.size:
        return
    costs, scale = np.nan_to_num(cells[i, j], posinf=1e30, neginf=-1e30), n / len(cells)
    x, y = (np.concatenate(pair) * scale + scale / 2 for pair in ((i, j), (j, i)))
    dots = source("dots", x=x, y=y, cost=np.concatenate([costs, costs]))
    drawn.scatter(
        "x", "y", source=dots, marker="square", size=2.5, line_width=0, name="dots",
        fill_color={"field": "cost", "transform": mapper},
    )  # fmt: skip


def image_chart(row: Integers, column: Integers, labels: Integers, what: str, of: str, remarks: list[str]) -> Chart:
    """Labels on a grid as an image."""
    height, width = int(row.max()) + 1, int(column.max()) + 1
    step = max(1, -(-max(height, width) // 1024))
    few = int(labels.max(initial=0)) < len(COLOURS)
    codes = np.full((height, width), 255, np.uint8)
    codes[row, column] = labels % len(COLOURS)
    codes = codes[::step, ::step]
    if step > 1:
        remarks.append(f"The image shows one of {step} rows and columns: {codes.shape[1]} by {codes.shape[0]} pixels.")
    drawn = figure((0, width), (height, 0), aspect=min(2.2, max(0.6, width / height)))
    image = source("image", image=[codes], x=[0], y=[0], dw=[width], dh=[height])
    mapper = models().LinearColorMapper(list(COLOURS), low=0, high=len(COLOURS) - 1, high_color="rgba(0,0,0,0)")
    drawn.image("image", source=image, x="x", y="y", dw="dw", dh="dh", color_mapper=mapper, name="image")
    drawn.grid.visible = False
    _marker(drawn)
    drawn.xaxis.axis_label, drawn.yaxis.axis_label = "column", "row"
    colours = "" if few else f" Colours repeat: there are {len(COLOURS)}."
    legend = legend_of(what, labels)
    natural = len(row) == height * width and bool((row * width + column == np.arange(len(row))).all())
    place = None if natural else packed(row * width + column, "int32")
    data = {"kind": "image", "width": width, "height": height, "place": place, "legend": legend}
    caption = f"{height} by {width} {of}s, each in the colour of its {what}.{colours}"
    return Chart("image", f"The {what}s as an image", caption, drawn, data)


def legend_of(what: str, labels: Integers) -> list[dict[str, str]]:
    """The colours of labels; none where they repeat."""
    count = int(labels.max(initial=-1)) + 1
    return [{"name": f"{what} {k}", "colour": COLOURS[k]} for k in range(count)] if count <= len(COLOURS) else []


def sizes_chart(sizes: Integers) -> Chart:
    """How many clusters there are of each size; sizes that differ by less than a factor of two together if many."""
    values, counts = np.unique(sizes, return_counts=True)
    if len(values) <= READABLE and int(values.max(initial=0)) <= READABLE:
        low, high = values, values
        left, right = values - 0.45, values + 0.45
        log = False
    else:
        power = np.floor(np.log2(np.maximum(sizes, 1))).astype(np.int64)
        values, counts = np.unique(power, return_counts=True)
        low, high = 2**values, 2 ** (values + 1) - 1
        left, right = low.astype(float), (high + 1).astype(float)
        log = True
    texts = []
    for a, b, count in zip(low.tolist(), high.tolist(), counts.tolist(), strict=True):
        inside = int(sizes[(sizes >= a) & (sizes <= b)].sum())
        size = plural(a, "element") if a == b else f"{number(a)} to {number(b)} elements"
        texts.append(f"{plural(count, 'cluster')} of {size}: {plural(inside, 'element')} in all")
    alone = int((sizes == 1).sum())
    largest = int(sizes.max(initial=0))
    caption = f"{plural(len(sizes), 'cluster')}, the largest of {plural(largest, 'element')}; {number(alone)} alone."
    x = (0.9 * float(left.min(initial=1)), 1.1 * float(right.max(initial=1))) if log else (0.0, max(2.0, largest + 1.0))
    drawn = bars(left, right, counts, ("elements", "clusters"), x, log)
    return Chart("sizes", "Sizes of clusters", caption, drawn, {"kind": "bars", "texts": texts})


def bars(
    left: Any,
    right: Any,
    top: Any,
    labels: tuple[str, str],
    x: tuple[float, float],
    log: bool = False,
    whole: bool = True,
) -> Any:
    """A figure with bars from 0 on; with `whole`, the axis has whole numbers only."""
    top = np.asarray(top, np.float64)
    bottom = 0.5 if log else 0.0
    drawn = figure(x, (bottom, (2 if log else 1.08) * float(top.max(initial=1))), aspect=1.7, x_log=log, y_log=log)
    columns = source("bars", left=np.asarray(left, float), right=np.asarray(right, float), top=top)
    drawn.quad(
        "left",
        "right",
        "top",
        bottom,
        source=columns,
        color="#4477aa",
        line_color="#ffffff",
        line_alpha=0.4,
        name="bars",
    )
    drawn.xaxis.axis_label, drawn.yaxis.axis_label = labels
    if not log:
        drawn.yaxis.ticker.min_interval = 1
        if whole:
            drawn.xaxis.ticker.min_interval = 1
    return drawn
