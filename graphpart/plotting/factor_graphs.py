"""Factor graphs: labels of variables on a grid as a picture, else variables and factors as a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.display import number, plural
from graphpart.display.grids import grid_of
from graphpart.display.layout import DRAWN
from graphpart.errors import InvalidOption
from graphpart.plotting.figures import axes_for
from graphpart.plotting.graphs import draw_nodes
from graphpart.plotting.pictures import draw_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_factor_graph"]


def plot_factor_graph(f: Any, labeling: Any = None, ax: Axes | None = None) -> Axes:
    """Draw a factor graph; see FactorGraph.plot."""
    import networkx as nx

    if labeling is not None and f.n:
        two = f.scope_start[:-1][np.diff(f.scope_start) == 2]
        if (grid := grid_of(f.variables, f.scope[two], f.scope[two + 1], f.shape)) is not None:
            found, ax = np.asarray(f.labels(labeling)), axes_for(ax)
            draw_labels(grid, found, ax)
            ax.set_title(f"{plural(f.n, 'variable')} on a grid, cost {number(f.evaluate_labels(found))}")
            return ax
    if f.n + f.m > DRAWN:
        raise InvalidOption(
            f"the factor graph has {f.n + f.m} variables and factors: expected at most {DRAWN} for a "
            "drawing, or a labeling of variables on a grid; plotting.plot_history draws the cost of a result against "
            "time"
        )
    labels = None if labeling is None else f.labels(labeling)
    ax = axes_for(ax)
    G = nx.Graph()
    G.add_nodes_from(range(f.n + f.m))
    for k in range(f.m):
        G.add_edges_from((f.n + k, s) for s in f.factor(k)[0])
    position = nx.spring_layout(G, seed=0)
    nx.draw_networkx_edges(G, position, ax=ax, edge_color="tab:gray")
    nx.draw_networkx_nodes(
        G, position, range(f.n, f.n + f.m), ax=ax, node_shape="s", node_size=40, node_color="tab:gray"
    )
    draw_nodes(G.subgraph(range(f.n)), position, labels, f.variables, ax)
    cost = "" if labels is None else f", cost {number(f.evaluate_labels(labels))}"
    ax.set_title(f"{plural(f.n, 'variable')}, {plural(f.m, 'factor')}{cost}")
    return ax
