"""Pictures of results, with matplotlib (extra ``plot``), which is imported only when something is drawn.

Problems of both kinds draw themselves by what is here, so this module knows no class of theirs, only what it asks them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graphpart.display import number, plural
from graphpart.display.grids import grid_of
from graphpart.display.layout import parts_in_rows
from graphpart.errors import InvalidOption, MissingDependency
from graphpart.files.source import replacing
from graphpart.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "plot_changes",
    "plot_factor_graph",
    "plot_history",
    "plot_partition",
    "plot_segments",
]


def __dir__() -> list[str]:
    return sorted(__all__)


KINDS = ("auto", "graph", "map", "image", "matrix")
LARGEST_GRAPH = 60  # elements that are drawn as a graph by default
LARGEST_EDGES = 400  # pairs in it, without a partition
LARGEST_FACTOR_GRAPH = 400  # variables and factors
CELLS = 800  # rows of the picture of a matrix, at most: more elements share cells
LINES = 100  # clusters whose borders are drawn, at most
LARGEST_CHANGES = 60  # elements of two partitions side by side
CLUSTERS, LINKS = 400, 800  # clusters on a map, and lines between them
OUTLINES = 50_000  # edges of pixels
STRONGEST = 150  # pairs against the partition in a graph


class Costs(Protocol):
    """What is asked of a set partition problem that is drawn."""

    n: int
    background: Any

    @property
    def m(self) -> int: ...
    @property
    def origin(self) -> Any: ...
    @property
    def is_dense(self) -> bool: ...
    @property
    def nodes(self) -> Any: ...
    @property
    def must_join(self) -> Any: ...
    @property
    def lifted(self) -> Any: ...
    def labels(self, partition: Any) -> Any: ...
    def pairs(self) -> Any: ...
    def listed(self) -> Any: ...
    def move_rises(self, labels: Any) -> Any: ...
    def restrict(self, elements: Any) -> Any: ...
    def evaluate_labels(self, labels: Any) -> float: ...


class Factors(Protocol):
    """What is asked of a factor graph that is drawn."""

    @property
    def n(self) -> int: ...
    @property
    def shape(self) -> Any: ...
    @property
    def scope(self) -> Any: ...
    @property
    def scope_start(self) -> Any: ...
    @property
    def m(self) -> int: ...
    @property
    def variables(self) -> Any: ...
    def factor(self, k: int) -> Any: ...
    def labels(self, labeling: Any) -> Any: ...
    def evaluate_labels(self, labels: Any) -> float: ...


def plot_history(result: Result, ax: Axes | None = None) -> Axes:
    """Draw the cost, and the lower bound where there is one, against time.

    Parameters
    ----------
    result : Result
        Its `history` and its `bounds` are drawn.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    InvalidOption
        If the result has no history.
    """
    if not result.history:
        raise InvalidOption(f"the result of method {result.method} has no history: nothing to draw")
    if ax is None:
        ax = _pyplot().figure().add_subplot()
    ax.step(*zip(*result.history, strict=True), where="post", label=f"cost {result.cost:.6g}", color="tab:blue")
    if math.isfinite(result.lower_bound):
        bounds = [*result.bounds, (result.seconds, result.lower_bound)]
        ax.step(
            *zip(*bounds, strict=True),
            where="post",
            marker="o" if len(bounds) < 3 else None,
            label=f"lower bound {result.lower_bound:.6g}",
            color="tab:orange",
        )
    ax.set_xlabel("seconds")
    ax.set_ylabel("cost")
    ax.set_title(f"{result.method}: {result.status}")
    ax.legend()
    return ax


def plot_partition(problem: Costs, partition: Any = None, ax: Axes | None = None, *, kind: str = "auto") -> Axes:
    """Draw a set partition problem and a partition of it; see SetPartition.plot."""
    if kind not in KINDS:
        raise InvalidOption(f"kind is {kind!r}: expected one of {', '.join(KINDS)}")
    labels = None if partition is None else np.asarray(problem.labels(partition))
    grid = _grid_of(problem) if kind in ("auto", "image") and labels is not None else None
    if kind == "auto":
        if grid is not None:
            kind = "image"
        elif problem.n <= LARGEST_GRAPH and (labels is not None or problem.m <= LARGEST_EDGES):
            kind = "graph"
        else:
            kind = "matrix" if labels is None else "map"
    if kind in ("map", "image") and labels is None:
        raise InvalidOption(f"kind is {kind!r}, which needs a partition: expected problem.plot(result)")
    if kind == "image" and grid is None:
        raise InvalidOption("kind is 'image', but the elements lie on no grid: expected one from from_affinities")
    if ax is None:
        ax = _pyplot().figure(layout="constrained").add_subplot()
    if kind == "image":
        _draw_labels(grid, labels, ax)
    else:
        {"graph": _draw_graph, "matrix": _draw_matrix, "map": _draw_map}[kind](problem, labels, ax)
    clusters = "" if labels is None else f", {plural(int(labels.max(initial=-1)) + 1, 'cluster')}"
    cost = "" if labels is None else f", cost {number(problem.evaluate_labels(labels))}"
    ax.set_title(f"{plural(problem.n, 'element')}{clusters}{cost}")
    return ax


def plot_changes(problem: Costs, before: Any, after: Any, axes: Any = None) -> Any:
    """Draw two partitions side by side, with what is different between them.

    Parameters
    ----------
    problem : SetPartition
    before, after : Result or a partition in any form
    axes : sequence of two matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.

    Returns
    -------
    ndarray of two matplotlib.axes.Axes
        Elements have the same places and clusters the same colours, as far as they correspond. Elements whose cluster
        has other members than before have a dark rim. Clusters that are equal in both are left out if there are more
        than 60 elements, and of the others those with the most elements are drawn.

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    """
    old, new = (np.asarray(problem.labels(labels)).astype(np.int64) for labels in (before, after))
    sizes, width = [np.bincount(x) for x in (old, new)], int(new.max(initial=0)) + 1
    overlap = np.bincount(old * width + new, minlength=len(sizes[0]) * width).reshape(-1, width)
    same = (overlap[old, new] == sizes[0][old]) & (overlap[old, new] == sizes[1][new])
    colour = np.argmax(overlap, axis=0)  # of the old cluster that it has most elements of
    taken: set[int] = set()
    for k in np.argsort(-overlap.max(axis=0), kind="stable").tolist():
        colour[k] = colour[k] if int(colour[k]) not in taken else len(sizes[0]) + k
        taken.add(int(colour[k]))
    if axes is None:
        axes = _pyplot().subplots(1, 2, figsize=(11, 4.5), layout="constrained")[1]
    grid, changed = _grid_of(problem), int((~same).sum())
    titles = [f"{what}: {plural(len(s), 'cluster')}" for what, s in zip(("before", "after"), sizes, strict=True)]
    if grid is not None:
        _draw_labels(grid, old, axes[0])
        _draw_labels(grid, colour[new], axes[1])
    else:
        kept = _most_changed(old, new, same) if problem.n > LARGEST_CHANGES else np.arange(problem.n)
        part = problem.restrict(kept)
        places = _places(part, new[kept])
        for ax, labels in ((axes[0], old[kept]), (axes[1], colour[new[kept]])):
            _draw_graph(part, labels, ax, places, ~same[kept])
        if len(kept) < problem.n:
            titles = [f"{title}, {len(kept)} elements drawn" for title in titles]
    costs = [problem.evaluate_labels(x.astype(np.int32)) for x in (old, new)]
    axes[0].set_title(f"{titles[0]}, cost {number(costs[0])}")
    axes[1].set_title(f"{titles[1]}, cost {number(costs[1])}\n{plural(changed, 'element')} in changed clusters")
    return axes


def _most_changed(old: Any, new: Any, same: Any) -> Any:
    """The elements of clusters that differ, the smallest of these clusters first, as many as are drawn."""
    places = np.flatnonzero(~same)
    sizes = np.bincount(old)[old[places]] + np.bincount(new)[new[places]]
    return np.sort(places[np.lexsort((new[places], old[places], sizes))][:LARGEST_CHANGES])


def _grid_of(problem: Costs) -> Any:
    """Rows and columns of elements of a grid, else None."""
    shape = None if problem.origin is None else problem.origin.shape
    if not problem.n or (shape is None and problem.is_dense):  # of a matrix no neighbours can be told
        return None
    none = np.zeros(0, np.int64)
    u, v = (none, none) if problem.is_dense else problem.pairs()[:2]
    return grid_of(problem.nodes, u, v, shape)


def _draw_labels(grid: Any, labels: Any, ax: Axes) -> None:
    """Draw labels on a grid as a picture, with outlines between them where there is room."""
    from matplotlib.collections import LineCollection

    codes = np.full((int(grid[0].max()) + 1, int(grid[1].max()) + 1), -1, np.int64)
    codes[grid] = labels
    shown = np.where(codes >= 0, codes * 7 % 20, np.nan) if codes.max() >= 20 else np.where(codes >= 0, codes, np.nan)
    ax.imshow(shown, cmap="tab20", vmin=0, vmax=19, interpolation="nearest")
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    y, x = np.nonzero(codes[:, 1:] != codes[:, :-1])
    upright = np.stack([np.stack([x + 0.5, y - 0.5], 1), np.stack([x + 0.5, y + 0.5], 1)], 1)
    y, x = np.nonzero(codes[1:] != codes[:-1])
    level = np.stack([np.stack([x - 0.5, y + 0.5], 1), np.stack([x + 0.5, y + 0.5], 1)], 1)
    if len(upright) + len(level) <= OUTLINES:
        ax.add_collection(LineCollection([*upright, *level], colors="black", linewidths=0.6))


def _draw_matrix(problem: Costs, labels: Any, ax: Axes) -> None:
    n = max(1, problem.n)
    cells = min(n, CELLS)
    order = np.arange(problem.n) if labels is None else np.argsort(labels, kind="stable")
    place = np.empty(problem.n, np.int64)
    place[order] = np.arange(problem.n)
    cell = place * cells // n
    u, v, cost = problem.listed()
    finite = np.isfinite(cost) & (cost != 0)
    u, v, cost = cell[u[finite]], cell[v[finite]], cost[finite]
    total = np.bincount(u * cells + v, cost, cells * cells) + np.bincount(v * cells + u, cost, cells * cells)
    count = np.bincount(u * cells + v, minlength=cells * cells) + np.bincount(v * cells + u, minlength=cells * cells)
    mean = np.divide(total, count, out=np.zeros(cells * cells), where=count > 0).reshape(cells, cells)
    largest = float(np.quantile(np.abs(cost), 0.99)) if len(cost) else 1.0
    image = ax.imshow(
        mean, cmap="RdBu_r", vmin=-largest, vmax=largest, interpolation="nearest", extent=(0, n, n, 0), aspect="equal"
    )
    ax.figure.colorbar(image, ax=ax, label="cost")
    if labels is not None and 1 < labels.max(initial=0) + 1 <= LINES:
        for end in np.cumsum(np.bincount(labels))[:-1].tolist():
            ax.axhline(end, color="black", linewidth=0.5)
            ax.axvline(end, color="black", linewidth=0.5)
    what = "element" if labels is None else "element, by cluster"
    ax.set_xlabel(what)
    ax.set_ylabel(what)


def _places(problem: Costs, labels: Any) -> Any:
    """Places of elements, the clusters one by one."""
    u, v, cost = problem.listed()
    inside = (labels[u] == labels[v]) & ((cost < 0) if problem.lifted is None else ~problem.lifted)
    x, y = parts_in_rows(np.full(problem.n, 0.7), u[inside], v[inside], 1.5, labels)
    return dict(enumerate(zip(x.tolist(), (-y).tolist(), strict=True)))


def _draw_graph(problem: Costs, labels: Any, ax: Axes, position: Any = None, rims: Any = None) -> None:
    """Elements cluster by cluster; with a partition, pairs that agree with it are faint, or not drawn."""
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(range(problem.n))
    u, v, cost = problem.listed()
    joins = np.asarray(problem.must_join).reshape(-1, 2)
    lifted = np.zeros(len(u) + len(joins), bool)
    if problem.lifted is not None:
        lifted[: len(u)] = problem.lifted
    u, v = np.concatenate([u, joins[:, 0]]), np.concatenate([v, joins[:, 1]])
    cost = np.concatenate([cost, np.full(len(joins), -np.inf)])
    together = np.zeros(len(u), bool) if labels is None else labels[u] == labels[v]
    if position is None and labels is not None:
        position = _places(problem, labels)
    if position is None:
        attract = (cost < 0) & ~lifted if problem.lifted is None else ~lifted  # base pairs hang together
        G.add_edges_from(zip(u[attract].tolist(), v[attract].tolist(), strict=True))
        position = nx.spring_layout(G, seed=0)
    sure = 1.0 if labels is None else 0.35
    for those, colour, style, alpha in (
        (cost < 0 if labels is None else (cost < 0) & together, "tab:blue", "solid", sure),
        (cost > 0 if labels is None else (cost > 0) & ~together & (len(u) <= STRONGEST), "tab:red", "dashed", 0.3),
        ((cost > 0) & together, "tab:red", "solid", 1.0),
        ((cost < 0) & ~together & (labels is not None), "tab:blue", "dashed", 1.0),
    ):
        at = np.flatnonzero(those)
        if alpha == 1.0:  # those against the partition: the strongest
            at = at[np.argsort(-np.abs(cost[at]), kind="stable")[:STRONGEST]]
        for far, width in ((False, 1.0), (True, 0.6)):
            mine = at[lifted[at] == far]
            lines = [(int(a), int(b)) for a, b in zip(u[mine], v[mine], strict=True)]
            nx.draw_networkx_edges(
                nx.Graph(lines), position, lines, ax=ax, edge_color=colour, style="dotted" if far else style,
                alpha=alpha, width=width,
            )  # fmt: skip
    _draw_nodes(G, position, labels, problem.nodes, ax, rims)


def _draw_map(problem: Costs, labels: Any, ax: Axes) -> None:
    """A disc for each cluster, as large as it has members, in the colour of its least doubt; lines are summed costs."""
    from matplotlib.collections import EllipseCollection, LineCollection

    sizes = np.bincount(labels)
    rises = problem.move_rises(labels)
    doubt = np.full(len(sizes), np.inf)
    if rises is not None:
        np.minimum.at(doubt, labels, rises)
    ranks = np.minimum(np.argsort(np.argsort(-sizes, kind="stable")), np.argsort(np.argsort(doubt, kind="stable")))
    chosen = np.sort(np.argsort(ranks, kind="stable")[:CLUSTERS])  # large ones and doubtful ones in turn
    place = np.full(len(sizes), -1)
    place[chosen] = np.arange(len(chosen))
    u, v, cost = problem.listed()
    a, b = place[labels[u]], place[labels[v]]
    kept = (a >= 0) & (b >= 0) & (a != b) & np.isfinite(cost)
    key, at = np.unique(np.minimum(a, b)[kept] * len(chosen) + np.maximum(a, b)[kept], return_inverse=True)
    sums, attract = np.bincount(at, cost[kept], len(key)), np.bincount(at, cost[kept] < 0, len(key))
    best = np.argsort(-attract, kind="stable")[:LINKS]
    a, b, sums, attract = key[best] // len(chosen), key[best] % len(chosen), sums[best], attract[best]
    radius = np.maximum(np.sqrt(sizes[chosen] / sizes.max()), 0.08)
    x, y = parts_in_rows(radius, a, b, 1.5)
    points = np.stack([x, -y], 1)
    widths = 0.4 + 2.5 * np.sqrt(np.abs(sums) / max(float(np.abs(sums).max(initial=0.0)), 1e-300))
    colours = [(0.12, 0.47, 0.71, 0.5) if k else (0.84, 0.15, 0.16, 0.15) for k in attract]
    ax.add_collection(LineCollection([*np.stack([points[a], points[b]], 1)], linewidths=widths, colors=colours))
    discs = EllipseCollection(
        2 * radius,
        2 * radius,
        np.zeros(len(radius)),
        units="xy",
        offsets=points,
        offset_transform=ax.transData,
        zorder=2,
    )
    if np.isfinite(doubt[chosen]).any():
        discs.set_array(np.ma.masked_invalid(doubt[chosen]))
        discs.set_cmap("viridis")
        ax.figure.colorbar(discs, ax=ax, label="cost of moving its least sure element")
    ax.add_collection(discs)
    reach = float(radius.max(initial=1.0))
    ax.set_xlim(x.min() - reach, x.max() + reach)
    ax.set_ylim(-y.max() - reach, -y.min() + reach)
    ax.set_aspect("equal")
    ax.set_axis_off()
    if len(chosen) < len(sizes):
        ax.text(0.5, -0.02, f"{number(len(chosen))} clusters: the largest and the least sure", transform=ax.transAxes,
                ha="center", va="top", fontsize="small")  # fmt: skip


def plot_factor_graph(f: Factors, labeling: Any = None, ax: Axes | None = None) -> Axes:
    """Draw a factor graph; see FactorGraph.plot."""
    import networkx as nx

    if labeling is not None and f.n:
        two = f.scope_start[:-1][np.diff(f.scope_start) == 2]
        if (grid := grid_of(f.variables, f.scope[two], f.scope[two + 1], f.shape)) is not None:
            return _plot_labels(f, grid, np.asarray(f.labels(labeling)), ax)
    if f.n + f.m > LARGEST_FACTOR_GRAPH:
        raise InvalidOption(
            f"the factor graph has {f.n + f.m} variables and factors: expected at most {LARGEST_FACTOR_GRAPH} for a "
            "drawing, or a labeling of variables on a grid; plotting.plot_history draws the cost of a result against "
            "time"
        )
    labels = None if labeling is None else f.labels(labeling)
    if ax is None:
        ax = _pyplot().figure().add_subplot()
    G = nx.Graph()
    G.add_nodes_from(range(f.n + f.m))
    for k in range(f.m):
        G.add_edges_from((f.n + k, s) for s in f.factor(k)[0])
    position = nx.spring_layout(G, seed=0)
    nx.draw_networkx_edges(G, position, ax=ax, edge_color="tab:gray")
    nx.draw_networkx_nodes(
        G, position, range(f.n, f.n + f.m), ax=ax, node_shape="s", node_size=40, node_color="tab:gray"
    )
    _draw_nodes(G.subgraph(range(f.n)), position, labels, f.variables, ax)
    cost = "" if labels is None else f", cost {number(f.evaluate_labels(labels))}"
    ax.set_title(f"{plural(f.n, 'variable')}, {plural(f.m, 'factor')}{cost}")
    return ax


def plot_segments(
    labels: Any, image: Any = None, ax: Axes | None = None, *, slice: int | None = None, axis: int = 0
) -> Axes:
    """Draw the outlines of segments over an image; of a volume, those in one slice.

    Parameters
    ----------
    labels : array_like of int, of 2 or 3 axes
        The segment of each pixel or voxel; 0 is no segment.
    image : array_like, optional
        The picture below: of the shape of the labels, or with an axis of colours in addition. Default: a colour for
        each segment.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.
    slice : int, optional
        Of a volume; default: the middle one.
    axis : int
        The axis across which a volume is sliced.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    InvalidOption
        If shapes differ, or there is no such slice.
    """
    segments = np.asarray(labels)
    below = None if image is None else np.asarray(image)
    if segments.ndim not in (2, 3) or segments.dtype.kind not in "iu":
        raise InvalidOption(
            f"labels have shape {segments.shape} and dtype {segments.dtype}: expected 2 or 3 axes of integers"
        )
    if below is not None and below.shape[: segments.ndim] != segments.shape:
        raise InvalidOption(f"image has shape {below.shape}: expected {segments.shape}, with or without colours")
    title = ""
    if segments.ndim == 3:
        if not -3 <= axis < 3:
            raise InvalidOption(f"axis is {axis!r}: expected 0, 1 or 2")
        depth = segments.shape[axis]
        at = depth // 2 if slice is None else slice
        if not 0 <= at < depth:
            raise InvalidOption(f"slice is {slice!r}: expected 0 to {depth - 1}")
        segments = segments.take(at, axis)
        below = None if below is None else below.take(at, axis)
        title = f", slice {at} of {depth}"
    if ax is None:
        ax = _pyplot().figure().add_subplot()
    if below is None:
        shown = np.where(segments > 0, (segments.astype(np.int64) * 7919) % 19 + 1, 0)
        ax.imshow(shown, cmap="tab20", vmin=0, vmax=19, interpolation="nearest")
    else:
        ax.imshow(below, cmap="gray", interpolation="nearest")
    border = np.zeros((*segments.shape, 4))
    for near, far in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        border[near][segments[near] != segments[far]] = 1.0, 0.85, 0.0, 1.0
    ax.imshow(border, interpolation="nearest")
    ax.set_axis_off()
    ax.set_title(f"{plural(len(np.unique(segments[segments > 0])), 'segment')}{title}")
    return ax


def _plot_labels(f: Factors, grid: Any, labels: Any, ax: Axes | None) -> Axes:
    """The labels of variables on a grid as a picture, with a bar that names them."""
    if ax is None:
        ax = _pyplot().figure(layout="constrained").add_subplot()
    codes = np.full((int(grid[0].max()) + 1, int(grid[1].max()) + 1), np.nan)
    codes[grid] = labels
    few = labels.max() < 20
    colours = _pyplot().get_cmap("tab20" if labels.max() >= 10 else "tab10") if labels.max() > 1 and few else "gray"
    image = ax.imshow(codes, cmap=colours, interpolation="nearest", vmin=0, vmax=_top(int(labels.max())))
    ax.figure.colorbar(image, ax=ax, label="label", ticks=range(int(labels.max()) + 1) if few else None)
    ax.set_title(f"{plural(f.n, 'variable')} on a grid, cost {number(f.evaluate_labels(labels))}")
    return ax


def _top(most: int) -> int:
    """The label that has the last colour."""
    return max(most, 1) if most <= 1 or most >= 20 else 9 if most < 10 else 19


def _draw_nodes(G: Any, position: Any, labels: Any, names: Any, ax: Axes, rims: Any = None) -> None:
    import networkx as nx

    colours = "lightgray" if labels is None else [labels[i] % 20 for i in G]
    options = {} if labels is None else {"cmap": "tab20", "vmin": 0, "vmax": 19}
    if rims is not None:
        options["edgecolors"] = ["black" if rims[i] else "none" for i in G]
    nx.draw_networkx_nodes(G, position, list(G), ax=ax, node_color=colours, node_size=200, **options)
    if len(G) <= 40:
        shown = {i: str(names[i]).replace("$", r"\$")[:12] for i in G}  # a name is no formula
        nx.draw_networkx_labels(G, position, shown, ax=ax, font_size=8)
    ax.set_axis_off()


def check_picture(path: str) -> None:
    """Raise MissingDependency or InvalidOption, before any work is done, if a picture of this name cannot be drawn."""
    kinds = _pyplot().Figure().canvas.get_supported_filetypes()
    if Path(path).suffix.lower().removeprefix(".") not in kinds:
        raise InvalidOption(f"{path!r} is no name of a picture: expected one that ends in .{', .'.join(sorted(kinds))}")


def save_history(result: Result, path: str) -> None:
    """Draw `plot_history` into a file, of the kind that its name says."""
    figure = picture()
    plot_history(result, figure.add_subplot())
    with replacing(path) as stream:
        figure.savefig(stream, format=Path(path).suffix.lower().removeprefix("."), bbox_inches="tight")


def picture() -> Any:
    """A new figure that no window shows."""
    _pyplot()
    from matplotlib.figure import Figure

    return Figure(layout="constrained")


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError:
        raise MissingDependency("matplotlib", "plot", "drawing") from None
    return pyplot
