"""Small set partition problems as graphs, cluster by cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.display import shortened
from graphpart.display.layout import parts_in_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_graph", "draw_nodes", "places"]

STRONGEST = 150  # pairs against the partition in a graph


def places(problem: Any, labels: Any) -> Any:
    """Places of elements, the clusters one by one."""
    u, v, cost = problem._listed()
    inside = (labels[u] == labels[v]) & ((cost < 0) if problem.lifted is None else ~problem.lifted)
    x, y = parts_in_rows(np.full(problem.n, 0.7), u[inside], v[inside], 1.5, labels)
    return dict(enumerate(zip(x.tolist(), (-y).tolist(), strict=True)))


def draw_graph(problem: Any, labels: Any, ax: Axes, position: Any = None, rims: Any = None) -> None:
    """Elements cluster by cluster; with a partition, pairs that agree with it are faint, or not drawn.

    `rims` has a colour for each element.
    """
    import networkx as nx

    G = nx.Graph()
    G.add_nodes_from(range(problem.n))
    u, v, cost = problem._listed()
    joins = np.asarray(problem.must_join).reshape(-1, 2)
    lifted = np.zeros(len(u) + len(joins), bool)
    if problem.lifted is not None:
        lifted[: len(u)] = problem.lifted
    u, v = np.concatenate([u, joins[:, 0]]), np.concatenate([v, joins[:, 1]])
    cost = np.concatenate([cost, np.full(len(joins), -np.inf)])
    together = np.zeros(len(u), bool) if labels is None else labels[u] == labels[v]
    if position is None and labels is not None:
        position = places(problem, labels)
    if position is None:
        attract = cost < 0 if problem.lifted is None else ~lifted  # base pairs hang together
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
    draw_nodes(G, position, labels, problem.nodes, ax, rims)


def draw_nodes(G: Any, position: Any, labels: Any, names: Any, ax: Axes, rims: Any = None) -> None:
    import networkx as nx

    colours = "lightgray" if labels is None else [labels[i] % 20 for i in G]
    options = {} if labels is None else {"cmap": "tab20", "vmin": 0, "vmax": 19}
    if rims is not None:
        options["edgecolors"] = [rims[i] for i in G]
    nx.draw_networkx_nodes(G, position, list(G), ax=ax, node_color=colours, node_size=200, **options)
    if len(G) <= 40:
        shown = {i: shortened(str(names[i]), 12).replace("$", r"\$") for i in G}  # a name is no formula
        nx.draw_networkx_labels(G, position, shown, ax=ax, font_size=8)
    ax.set_axis_off()
