"""The map of clusters of a partition that is too large for a graph.

Up to `LINKED` clusters are drawn with the two clearest lines of each. Of more clusters, those are drawn of which one
element is least sure, each with a line to the cluster that attracts it most, or if doubts are not known, those whose
links attract most; and the largest ones, without lines: these would link all of them to one chain. What is left out
is told below the picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.display import number, shortened
from graphpart.display.layout import CLUSTERS, clearest, parts_in_rows
from graphpart.plotting.figures import colour_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_map"]

MOST = CLUSTERS // 2  # a picture cannot be zoomed
LINKED = 15  # clusters between which lines can be followed
ATTRACT, REPEL, FIXED = "tab:blue", "tab:red", "silver"


def draw_map(problem: Any, labels: Any, ax: Axes) -> None:
    """A disc for each cluster, as large as it has members, in the colour of its least doubt; lines are summed costs.

    A name is left out where it would be written over that of a larger cluster.
    """
    from matplotlib import colormaps
    from matplotlib.collections import EllipseCollection, LineCollection
    from matplotlib.lines import Line2D

    sizes = np.bincount(labels)
    rises = problem._move_rises(labels)
    doubt = np.full(len(sizes), np.inf)
    if rises is not None:
        np.minimum.at(doubt, labels, rises)
    between = _between(problem, labels, len(sizes))
    nearest = _nearest(doubt, *between[:3])
    chosen = _chosen(sizes, nearest, *between[:2])
    place = np.full(len(sizes), -1)
    place[chosen] = np.arange(len(chosen))
    inside = np.flatnonzero((place[between[0]] >= 0) & (place[between[1]] >= 0))
    a, b, sums, attract = (array[inside] for array in between)
    a, b = place[a], place[b]
    linked = len(sizes) <= LINKED
    if linked:
        kept = clearest(len(chosen), a, b, -np.abs(sums), -attract)
    else:
        kept = np.flatnonzero(np.isin(inside, list(nearest.values())))
    few = len(kept) < len(a)
    a, b, sums, attract = (array[kept] for array in (a, b, sums, attract))
    radius = np.maximum(np.sqrt(sizes[chosen] / sizes.max()), 0.15)
    single = np.bincount(np.concatenate([a, b]), minlength=len(chosen)) == 0
    x, y = parts_in_rows(radius + 1.0 + single, a, b, 1.5)  # with room for a name
    points = np.stack([x, -y], 1)
    widths = 0.6 + 2.5 * np.sqrt(np.abs(sums) / max(float(np.abs(sums).max(initial=0.0)), 1e-300))
    colours = [ATTRACT if some else REPEL for some in attract]
    lines = [*np.stack([points[a], points[b]], 1)]
    ax.add_collection(LineCollection(lines, linewidths=widths, colors=colours, alpha=0.5))
    discs = EllipseCollection(
        2 * radius,
        2 * radius,
        np.zeros(len(radius)),
        units="xy",
        offsets=points,
        offset_transform=ax.transData,
        zorder=2,
    )
    fixed = ~np.isfinite(doubt[chosen])
    if not fixed.all():
        discs.set_array(np.ma.masked_array(doubt[chosen], fixed))
        discs.set_cmap(colormaps["viridis"].with_extremes(bad=FIXED))
        colour_bar(discs, ax, "cost of moving its least sure element")
    ax.add_collection(discs)
    surest = _surest(labels, rises, len(sizes))
    names = []
    for k, (cluster, r) in enumerate(zip(chosen.tolist(), radius.tolist(), strict=True)):
        name = shortened(str(problem.nodes[surest[cluster]]), 18).replace("$", r"\$")
        text = f"{name}\n{_members(int(sizes[cluster]))}"
        names.append(ax.annotate(text, (points[k, 0], points[k, 1] - r), (0, -1), textcoords="offset points",
                                 ha="center", va="top", fontsize=6, annotation_clip=True,
                                 bbox={"facecolor": "white", "linewidth": 0, "alpha": 0.7, "pad": 0.5}))  # fmt: skip
    reach = float(radius.max(initial=1.0)) + 0.6
    ax.set_xlim(x.min() - reach, x.max() + reach)
    ax.set_ylim(-y.max() - reach - 2.0, -y.min() + reach)  # with room for the names of the last row
    ax.set_aspect("equal")
    ax.set_axis_off()
    some = _left_out(sizes, chosen, doubt, len(a)) if not linked else "of each, the two clearest lines" if few else ""
    texts = {ATTRACT: "some pairs between them attract", REPEL: "all of them repel"}
    handles = [Line2D([], [], color=c, alpha=0.5, label=text) for c, text in texts.items() if c in colours]
    if fixed.any() and not fixed.all():
        style: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": FIXED}
        handles.append(Line2D([], [], **style, label="no element can move"))
    legend = ax.legend(
        handles=handles, title=some or None, loc="upper center", bbox_to_anchor=(0.5, 0.0), ncols=2, fontsize="small",
        title_fontsize="small", frameon=False,
    )  # fmt: skip
    ax.figure.figure.draw_without_rendering()  # only then it is known how large the axes are
    _keep_apart([legend, *(names[k] for k in np.lexsort((doubt[chosen], -sizes[chosen])).tolist())])


def _nearest(doubt: Any, a: Any, b: Any, sums: Any) -> dict[int, int]:
    """The least sure clusters, each with the line to the cluster that attracts it most; -1 if it has no line.

    If nothing is known of doubts, these are the clusters of the lines that attract most.
    """
    if not np.isfinite(doubt).any():
        return {int(a[k]): k for k in np.argsort(sums, kind="stable")[: MOST // 3].tolist()}
    found = {}
    for k in np.argsort(doubt, kind="stable")[: MOST // 3].tolist():
        if np.isfinite(doubt[k]):
            mine = np.flatnonzero((a == k) | (b == k))
            found[k] = int(mine[np.argmin(sums[mine])]) if len(mine) else -1
    return found


def _left_out(sizes: Any, chosen: Any, doubt: Any, lines: int) -> str:
    """Which clusters are drawn, some with lines, and how large the others are."""
    some = f"{len(chosen)} of {number(len(sizes))} clusters: " if len(chosen) < len(sizes) else ""
    known = np.isfinite(doubt).any()
    some += "the least sure, each with a line to the nearest, and " if known else ""
    some += "those that attract each other most, and " if lines and not known else ""
    some += "the largest"
    rest = np.delete(sizes, chosen)
    if not len(rest):
        return some if known else ""
    low, high = int(rest.min()), int(rest.max())
    members = f"{number(low)} to {number(high)} members" if low < high else _members(low)
    return f"{some}\nnot drawn: {number(len(rest))}, {members}"


def _keep_apart(texts: list[Any]) -> None:
    """Remove texts that would be written over an earlier one."""
    kept: list[Any] = []
    for text in texts:
        box = text.get_window_extent()
        if any(box.overlaps(other) for other in kept):
            text.remove()
        else:
            kept.append(box)


def _members(size: int) -> str:
    """The number of members."""
    return "alone" if size == 1 else f"{number(size)} members"


def _between(problem: Any, labels: Any, count: int) -> tuple[Any, Any, Any, Any]:
    """Pairs of clusters, the summed cost of the pairs between them, and how many of these attract."""
    u, v, cost = problem._listed()
    a, b = labels[u], labels[v]
    kept = (a != b) & np.isfinite(cost)
    low, high = np.minimum(a, b)[kept].astype(np.int64), np.maximum(a, b)[kept]
    keys, at = np.unique(low * count + high, return_inverse=True)
    return (
        keys // count,
        keys % count,
        np.bincount(at, cost[kept], len(keys)),
        np.bincount(at, cost[kept] < 0, len(keys)),
    )


def _chosen(sizes: Any, nearest: dict[int, int], a: Any, b: Any) -> Any:
    """The clusters on the map, in ascending order: the least sure ones, those nearest to them, and the largest."""
    lines = [line for line in nearest.values() if line >= 0]
    chosen = {*nearest, *a[lines].tolist(), *b[lines].tolist()}
    for k in np.argsort(-sizes, kind="stable").tolist():
        if len(chosen) >= MOST:
            break
        chosen.add(k)
    return np.sort(list(chosen))


def _surest(labels: Any, rises: Any, count: int) -> Any:
    """The member of each cluster that it would cost most to move."""
    order = np.arange(len(labels)) if rises is None else np.argsort(-rises, kind="stable")
    found = np.zeros(count, np.int64)
    found[labels[order[::-1]]] = order[::-1]
    return found
