"""The map of clusters: a point for each, as large as it has members, and lines between those that pairs link.

Clusters that lines link are placed near each other: each connected part by springs (Fruchterman & Reingold 1991), and
the parts in rows, the largest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.display import number, plural, shortened
from graphpart.display.layout import CLUSTERS, clearest, parts_in_rows
from graphpart.reporting.charts import COLOURS, Chart, source
from graphpart.reporting.pair_totals import PairTotals
from graphpart.reporting.pictures import ATTRACT, REPEL, figure_for

__all__ = ["chosen_clusters", "map_chart"]

Integers = NDArray[np.int64]


def chosen_clusters(sizes: Integers, doubtful: Integers) -> Integers:
    """The clusters on the map, in ascending order: the largest, and those of the most doubtful decisions."""
    if len(sizes) <= CLUSTERS:
        return np.arange(len(sizes))
    unsure = np.array(list(dict.fromkeys(doubtful.tolist()))[: 2 * CLUSTERS // 3], np.int64)
    largest = np.argsort(-sizes, kind="stable")
    largest = largest[~np.isin(largest, unsure)][: CLUSTERS - len(unsure)]
    return np.sort(np.concatenate([unsure, largest]))


def map_chart(
    chosen: Integers,
    shown: Integers,
    sizes: Integers,
    names: list[str],
    totals: PairTotals,
    remarks: list[str],
    unsure: bool = True,
) -> Chart:
    """The map.

    Parameters
    ----------
    chosen : ndarray of int64, shape (s,)
        Codes of clusters.
    shown, sizes : ndarray of int64, shape (k,)
        The label and the number of members of each cluster.
    names : list of str
        Of a member of each of the chosen clusters.
    totals : PairTotals
        With sums between the chosen clusters.
    remarks : list of str
    unsure : bool
        Whether clusters of doubtful decisions are among them.
    """
    cost, pairs, attract = totals.between
    a, b = np.nonzero(np.triu(pairs, 1))
    count = len(a)  # those that some pair would join first
    kept = clearest(len(chosen), a, b, -np.abs(cost[a, b]), -attract[a, b])
    a, b = a[kept], b[kept]
    radius = np.maximum(np.sqrt(sizes[chosen] / sizes.max()), 0.06)
    single = np.bincount(np.concatenate([a, b]), minlength=len(chosen)) == 0
    x, y = parts_in_rows(radius + 0.5 + 0.5 * single, a, b)  # with room for a name
    drawn = figure_for(x, y, 1.7, 2.4, float(radius.max(initial=0.0)))
    between = cost[a, b]
    largest = float(np.abs(between).max(initial=0.0)) or 1.0
    lines = source(
        "lines", x0=x[a], y0=y[a], x1=x[b], y1=y[b], u=a.astype(np.int32), v=b.astype(np.int32), cost=between,
        pairs=pairs[a, b].astype(np.int32), attract=attract[a, b].astype(np.int32),
        width=np.maximum(1.0, 6.0 * np.sqrt(np.abs(between) / largest)),
        colour=[ATTRACT if some else REPEL for some in attract[a, b].tolist()],
    )  # fmt: skip
    drawn.segment(
        "x0", "y0", "x1", "y1", source=lines, color="colour", line_width="width", line_alpha=0.45, name="lines"
    )
    labels = shown[chosen]
    members = [shortened(name, 18) for name in names]
    points = source(
        "clusters", x=x, y=y, radius=radius, label=labels.astype(np.int32), size=sizes[chosen].astype(np.int32),
        colour=[COLOURS[k % len(COLOURS)] for k in labels.tolist()], member=members,
        below=y + radius, text=members,
    )  # fmt: skip
    drawn.text(
        "x", "below", text="text", source=points, text_align="center", text_baseline="top", text_font_size="11px",
        name="names",
    )  # fmt: skip
    drawn.circle("x", "y", radius="radius", source=points, color="colour", line_width=0, alpha=0.9, name="clusters")
    ring = source("ring", x=[], y=[])
    drawn.scatter("x", "y", source=ring, size=24, fill_color=None, line_color="#e0007a", line_width=3, name="ring")
    some, few = "", ""
    if len(a) < count:
        few = f" Of {number(count)} lines, the two clearest of each cluster are drawn: those that attract come first."
    if len(chosen) < len(sizes):
        inside = int(sizes[chosen].sum())
        some = f" These are {number(len(chosen))} of {plural(len(sizes), 'cluster')}, with {plural(inside, 'element')}."
        which = "the largest and the least sure" if unsure else "the largest"
        remarks.append(f"The map has {number(len(chosen))} of {plural(len(sizes), 'cluster')}: {which}.")
    linked = "No pair that is listed links two of these clusters."
    if len(a):
        linked = (
            "Lines are sums of the costs of the pairs between two clusters: blue if some of these pairs attract, red "
            "if all repel."
        )
    caption = (
        "Each point is a cluster, as large as it has members, with the name of its first element; press it to see its "
        f"elements. {linked}{few}{some}"
    )
    return Chart("map", "Map of clusters", caption, drawn, {"kind": "map"}, wide=True)
