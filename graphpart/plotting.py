"""Pictures of results, with matplotlib (extra ``plot``), which is imported only when something is drawn.

Problems of both kinds draw themselves by what is here, so this module knows no class of theirs, only what it asks them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from graphpart.display import number, plural
from graphpart.errors import InvalidOption, MissingDependency
from graphpart.files.source import replacing
from graphpart.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "check_picture",
    "picture",
    "plot_factor_graph",
    "plot_history",
    "plot_partition",
    "plot_segments",
    "save_history",
]

LARGEST_GRAPH, LARGEST_EDGES = 100, 400  # elements and pairs that are drawn as a graph by default
LARGEST_FACTOR_GRAPH = 400  # variables and factors
CELLS = 800  # rows of the picture of a matrix, at most: more elements share cells
LINES = 100  # clusters whose borders are drawn, at most


class Costs(Protocol):
    """What is asked of a set partition problem that is drawn."""

    n: int
    background: Any

    @property
    def m(self) -> int: ...
    @property
    def nodes(self) -> Any: ...
    @property
    def must_join(self) -> Any: ...
    def labels(self, partition: Any) -> Any: ...
    def pairs(self) -> Any: ...
    def listed(self) -> Any: ...
    def evaluate_labels(self, labels: Any) -> float: ...


class Factors(Protocol):
    """What is asked of a factor graph that is drawn."""

    @property
    def n(self) -> int: ...
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
    """Draw the costs of a set partition problem, ordered by cluster; see SetPartition.plot.

    In a matrix, pairs without a cost are white. If a cell stands for several pairs, it shows their mean cost. In a
    graph, solid lines are pairs that attract, and dashed lines are pairs that repel.
    """
    if kind not in ("auto", "matrix", "graph"):
        raise InvalidOption(f"kind is {kind!r}: expected auto, matrix or graph")
    if kind == "auto":
        small = problem.n <= LARGEST_GRAPH and problem.m <= LARGEST_EDGES
        kind = "graph" if small else "matrix"
    labels = None if partition is None else problem.labels(partition)
    if ax is None:
        ax = _pyplot().figure().add_subplot()
    (_draw_graph if kind == "graph" else _draw_matrix)(problem, labels, ax)
    clusters = "" if labels is None else f", {plural(int(labels.max(initial=-1)) + 1, 'cluster')}"
    cost = "" if labels is None else f", cost {number(problem.evaluate_labels(labels))}"
    ax.set_title(f"{plural(problem.n, 'element')}{clusters}{cost}")
    return ax


def _draw_matrix(problem: Costs, labels: Any, ax: Axes) -> None:
    n = max(1, problem.n)
    cells = min(n, CELLS)
    order = np.arange(problem.n) if labels is None else np.argsort(labels, kind="stable")
    place = np.empty(problem.n, np.int64)
    place[order] = np.arange(problem.n)
    cell = place * cells // n
    u, v, cost = problem.listed() if problem.background is not None else problem.pairs()
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


def _draw_graph(problem: Costs, labels: Any, ax: Axes) -> None:
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(range(problem.n))
    u, v, cost = problem.listed() if problem.background is not None else problem.pairs()
    kept = cost != 0
    pairs = list(zip(u[kept].tolist(), v[kept].tolist(), cost[kept].tolist(), strict=True))
    pairs += [(a, b, -math.inf) for a, b in problem.must_join.tolist()]
    G.add_weighted_edges_from((a, b, 1.0) for a, b, c in pairs if c < 0)
    if labels is not None:  # members of a cluster near each other
        G.add_weighted_edges_from((a, b, 3.0) for a, b, c in pairs if c < 0 and labels[a] == labels[b])
    position = nx.spring_layout(G, seed=0)
    attract, repel = [(a, b) for a, b, c in pairs if c < 0], [(a, b) for a, b, c in pairs if c > 0]
    nx.draw_networkx_edges(G, position, attract, ax=ax, edge_color="tab:blue")
    nx.draw_networkx_edges(nx.Graph(repel), position, repel, ax=ax, edge_color="tab:red", style="dashed", alpha=0.5)
    _draw_nodes(G, position, labels, problem.nodes, ax)


def plot_factor_graph(f: Factors, labeling: Any = None, ax: Axes | None = None) -> Axes:
    """Draw a factor graph; see FactorGraph.plot."""
    import networkx as nx

    if f.n + f.m > LARGEST_FACTOR_GRAPH:
        raise InvalidOption(
            f"the factor graph has {f.n + f.m} variables and factors: expected at most {LARGEST_FACTOR_GRAPH} for a "
            "drawing; plotting.plot_history draws the cost of a result against time"
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


def _draw_nodes(G: Any, position: Any, labels: Any, names: Any, ax: Axes) -> None:
    import networkx as nx

    colours = "lightgray" if labels is None else [labels[i] % 20 for i in G]
    options = {} if labels is None else {"cmap": "tab20", "vmin": 0, "vmax": 19}
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
    plt = _pyplot()
    figure = plt.figure()
    try:
        plot_history(result, figure.add_subplot())
        with replacing(path) as stream:
            figure.savefig(stream, format=Path(path).suffix.lower().removeprefix("."), bbox_inches="tight")
    finally:
        plt.close(figure)


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
