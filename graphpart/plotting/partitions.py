"""Set partition problems as a graph, a map of clusters, a picture or a matrix, as fits; two partitions side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import number, plural
from graphpart.display.grids import grid_of_problem
from graphpart.display.layout import DRAWN, READABLE
from graphpart.errors import InvalidOption
from graphpart.plotting.figures import axes_for, colour_bar, pyplot
from graphpart.plotting.graphs import draw_graph, places
from graphpart.plotting.maps import draw_map
from graphpart.plotting.pictures import draw_clusters

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_changes", "plot_partition"]

KINDS = ("auto", "graph", "map", "image", "matrix")


def plot_partition(problem: Any, partition: Any = None, ax: Axes | None = None, *, kind: str = "auto") -> Axes:
    """Draw a set partition problem and a partition of it; see SetPartition.plot."""
    if kind not in KINDS:
        raise InvalidOption(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")
    labels = None if partition is None else np.asarray(problem.labels(partition))
    grid = grid_of_problem(problem) if kind in ("auto", "image") and labels is not None else None
    if kind == "auto":
        if grid is not None:
            kind = "image"
        elif problem.n <= READABLE and (labels is not None or problem.m <= DRAWN):
            kind = "graph"
        else:
            kind = "matrix" if labels is None else "map"
    if kind in ("map", "image") and labels is None:
        raise InvalidOption(f"kind is {kind!r}, which needs a partition: expected problem.plot(result)")
    if kind == "image" and grid is None:
        raise InvalidOption("kind is 'image', but the elements lie on no grid: expected one from from_affinities")
    ax = axes_for(ax)
    if kind == "image":
        draw_clusters(grid, labels, ax)
    else:
        {"graph": draw_graph, "matrix": _draw_matrix, "map": draw_map}[kind](problem, labels, ax)
    clusters = "" if labels is None else f", {plural(int(labels.max(initial=-1)) + 1, 'cluster')}"
    cost = "" if labels is None else f", cost {number(problem._evaluate_labels(labels))}"
    ax.set_title(f"{plural(problem.n, 'element')}{clusters}{cost}")
    return ax


def plot_changes(problem: Any, before: Any, after: Any, axes: Any = None) -> Any:
    """Draw two partitions side by side, with what is different between them.

    Parameters
    ----------
    problem : SetPartition
    before, after : Result or a partition in any form
        Elements that `before` leaves out are new.
    axes : sequence of two matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.

    Returns
    -------
    ndarray of two matplotlib.axes.Axes
        Elements have the same places and clusters the same colours, as far as they correspond. Elements whose cluster
        has other members than before have a dark rim. New elements have a red rim, and are not drawn before. Clusters
        that are equal in both are left out if there are more than 60 elements. Of the others, as many whole clusters
        are drawn as have 60 elements together, those with the fewest elements first.

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    """
    old = np.asarray(problem.labels(before, partial=True)).astype(np.int64)
    new = np.asarray(problem.labels(after)).astype(np.int64)
    known = old >= 0
    sizes, width = [np.bincount(x) for x in (old[known], new)], int(new.max(initial=0)) + 1
    overlap = np.bincount(old[known] * width + new[known], minlength=len(sizes[0]) * width).reshape(-1, width)
    same = known.copy()
    same[known] = (overlap[old, new] == sizes[0][old])[known] & (overlap[old, new] == sizes[1][new])[known]
    colour = np.argmax(overlap, axis=0)  # of the old cluster that it has most elements of
    taken: set[int] = set()
    for k in np.argsort(-overlap.max(axis=0), kind="stable").tolist():
        if not overlap[:, k].any() or int(colour[k]) in taken:
            colour[k] = len(sizes[0]) + k
        taken.add(int(colour[k]))
    if axes is None:
        axes = pyplot().subplots(1, 2, figsize=(11, 4.5), layout="constrained")[1]
    grid, changed = grid_of_problem(problem), int((~same).sum())
    titles = [f"{what}: {plural(len(s), 'cluster')}" for what, s in zip(("before", "after"), sizes, strict=True)]
    if grid is not None:
        draw_clusters(grid, old, axes[0])
        draw_clusters(grid, colour[new], axes[1])
    else:
        kept = _most_changed(old, new, same) if problem.n > READABLE else np.arange(problem.n)
        part = problem._restrict(kept)
        position = places(part, new[kept])
        rims = np.where(same[kept], "none", np.where(known[kept], "black", "red"))
        there = np.flatnonzero(known[kept])
        earlier = {i: position[k] for i, k in enumerate(there.tolist())}
        draw_graph(problem._restrict(kept[there]), old[kept[there]], axes[0], earlier, rims[there])
        draw_graph(part, colour[new[kept]], axes[1], position, rims)
        _explain_rims(axes[1], rims)
        if len(kept) < problem.n:
            titles = [f"{title}, {len(kept)} elements drawn" for title in titles]
    alone = np.where(known, old, len(sizes[0]) + np.arange(problem.n))  # new elements, so that they cost nothing
    costs = [problem._evaluate_labels(x.astype(np.int32)) for x in (alone, new)]
    more = "" if known.all() else f", {number(int((~known).sum()))} new"
    axes[0].set_title(f"{titles[0]}, cost {number(costs[0])}")
    axes[1].set_title(f"{titles[1]}, cost {number(costs[1])}\n{plural(changed, 'element')} in changed clusters{more}")
    return axes


def _explain_rims(axes: Axes, rims: NDArray[Any]) -> None:
    """A legend of the rims that are drawn."""
    from matplotlib.lines import Line2D

    texts = {"black": "in a cluster with other members than before", "red": "new"}
    style: dict[str, Any] = {"marker": "o", "linestyle": "none", "markerfacecolor": "lightgrey", "markersize": 8}
    handles = [Line2D([], [], markeredgecolor=rim, label=text, **style) for rim, text in texts.items() if rim in rims]
    if handles:
        axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0.0), frameon=False, ncols=2)


def _most_changed(old: Any, new: Any, same: Any) -> Any:
    """The elements of clusters that differ, as many as are drawn: whole clusters, those with few elements first.

    Clusters of before and after that share elements are drawn together.
    """
    from graphpart.kernels import _pairs

    places = np.flatnonzero(~same)
    known = places[old[places] >= 0]
    first = int(new.max(initial=-1)) + 1  # the number of the first cluster of before
    count = first + int(old.max(initial=-1)) + 1
    u, v = new[known].astype(np.int32), (first + old[known]).astype(np.int32)
    part = _pairs.connected_components(count, u, v)[new[places]]
    order = np.lexsort((old[places], new[places], part, np.bincount(part)[part]))
    ends = np.append(np.flatnonzero(np.diff(part[order])) + 1, len(order))
    fit = ends[ends <= READABLE]
    return np.sort(places[order[: fit[-1] if len(fit) else READABLE]])


def _draw_matrix(problem: Any, labels: Any, ax: Axes) -> None:
    n = max(1, problem.n)
    cells = min(n, 800)  # more elements share cells
    order = np.arange(problem.n) if labels is None else np.argsort(labels, kind="stable")
    place = np.empty(problem.n, np.int64)
    place[order] = np.arange(problem.n)
    cell = place * cells // n
    u, v, cost = problem._listed()
    finite = np.isfinite(cost) & (cost != 0)
    u, v, cost = cell[u[finite]], cell[v[finite]], cost[finite]
    total = np.bincount(u * cells + v, cost, cells * cells) + np.bincount(v * cells + u, cost, cells * cells)
    count = np.bincount(u * cells + v, minlength=cells * cells) + np.bincount(v * cells + u, minlength=cells * cells)
    mean = np.divide(total, count, out=np.zeros(cells * cells), where=count > 0).reshape(cells, cells)
    largest = float(np.quantile(np.abs(cost), 0.99)) if len(cost) else 1.0
    image = ax.imshow(
        mean, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="nearest", extent=(0, n, n, 0), aspect="equal"
    )
    colour_bar(image, ax, "cost")
    if labels is not None and 1 < labels.max(initial=0) + 1 <= READABLE:
        for end in np.cumsum(np.bincount(labels))[:-1].tolist():
            ax.axhline(end, color="black", linewidth=0.5)
            ax.axvline(end, color="black", linewidth=0.5)
    what = "element" if labels is None else "element, by cluster"
    ax.set_xlabel(what)
    ax.set_ylabel(what)
