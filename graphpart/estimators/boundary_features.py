"""Features of boundaries between regions that mean the same in volumes of other contrast.

1. Boundary values are scaled such that of the values of all contacts of the picture a twentieth is below 0 and a
   twentieth above 1, by the histograms of its region graph. So brightness and contrast of the boundary map do not
   count. (Ranks among the contacts do not change by any increasing function. But more and smaller regions, as noise
   makes them, have more contacts within cells, which changes the ranks of all walls.)
2. Lengths and sizes become logarithms.
3. A boundary is compared with those around it: its lower quartile minus the mean of the lower quartiles of all
   boundaries of each of both regions (`excess`), weighted by length, and its share of the boundary of each (`share`).
   The lower and the higher of both numbers are features.
4. Strengths of edges by filters (`images/filters`) are scaled such that a twentieth of the boundaries is below 0, and a
   twentieth above 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.images import RegionGraph
from graphpart.images.graph import DECIDES
from graphpart.images.statistics import QUANTILES

__all__ = ["boundary_features"]

Floats = NDArray[np.float64]


def boundary_features(graph: RegionGraph) -> dict[str, Floats]:
    """The features of each pair of regions that touch, by name. O(n + m), and the filters, which are applied once."""
    found = {name: np.asarray(column, np.float64) for name, column in graph.columns.items() if name != "area"}
    found |= {name: np.log(found[name]) for name in ("length", "smaller", "larger")}
    length = graph.columns["length"].astype(np.float64)
    around = _sums(graph, length)
    found |= _of_both("share", *(length[:, None] / around[graph.pairs]).T)
    if graph.valued:
        found |= _scaled(graph, found)
        value = found[DECIDES]
        beside = _sums(graph, length * value) / np.maximum(around, 1)
        found |= _of_both("excess", *(value[:, None] - beside[graph.pairs]).T)
    for name, column in graph.edges.items():
        low, high = np.quantile(column, [0.05, 0.95]) if len(column) else (0.0, 1.0)
        found[name] = (column - low) / max(high - low, 1e-6)
    return found


def _scaled(graph: RegionGraph, found: dict[str, Floats]) -> dict[str, Floats]:
    """Features of boundary values, scaled."""
    number = graph.statistics.histograms.sum(axis=0)
    edges = np.arange(len(number) + 1) / len(number)
    low, high = np.interp([0.05, 0.95], np.append(0, np.cumsum(number) / max(1, number.sum())), edges)
    scale = 1 / max(high - low, 1 / len(number))
    scaled = {
        name: (found[name] - low) * scale for name in ("mean", "min", "max", "far_mean", *QUANTILES) if name in found
    }
    return scaled | {"std": found["std"] * scale}


def _sums(graph: RegionGraph, values: Floats) -> Floats:
    """For each region, the sum of values over its boundaries."""
    return np.bincount(graph.pairs.ravel(), values.repeat(2), graph.n).astype(np.float64)


def _of_both(name: str, one: Floats, other: Floats) -> dict[str, Floats]:
    return {f"{name}_low": np.minimum(one, other), f"{name}_high": np.maximum(one, other)}
