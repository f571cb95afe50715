"""Segments that have a class each, such as road, car or sky: a labelled partition of the regions.

The cost of a class for a region is a tenth of the sum of ``-log2`` of its probability over the pixels of the region:
neighbouring pixels err together, so a pixel says less than a boundary of one pixel. Two regions of different classes
are never in one segment, so the boundary decides where neighbours have one class, and both decide where classes are
unsure.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.images.graph import RegionGraph
from graphpart.labeled import LabeledPartition
from graphpart.partition.problem.requirements import RequirementOptions

__all__ = ["class_costs", "with_classes"]


def class_costs(probabilities: Any, graph: RegionGraph) -> NDArray[np.float64]:
    """The cost of each class of each region, shape (n, L). O(pixels L)

    Raises
    ------
    InvalidProblem
        If the shape does not fit, or a value is no probability.
    """
    p = np.asarray(probabilities)
    element = graph.elements()
    shape = ", ".join(map(str, element.shape))
    if p.ndim != element.ndim + 1 or p.shape[:-1] != element.shape or p.shape[-1] < 1 or p.dtype.kind not in "fiub":
        raise InvalidProblem(
            f"classes has shape {p.shape} and dtype {p.dtype}: expected ({shape}, L), the probability of each of L "
            "classes at each pixel or voxel"
        )
    inside = element >= 0
    of, values = element[inside], p[inside].astype(np.float64)
    if not ((values >= 0) & (values <= 1)).all():
        wrong = values[~((values >= 0) & (values <= 1))][0]
        raise InvalidProblem(f"classes has the value {wrong:.4g}: expected probabilities, from 0 to 1")
    costs = -0.1 * np.log2(np.maximum(values, 2.0**-10))  # a pixel may be wrong about what it calls impossible
    return np.stack([np.bincount(of, column, graph.n) for column in costs.T], 1)


def with_classes(
    graph: RegionGraph, costs: NDArray[np.float64], probabilities: Any, requirements: RequirementOptions
) -> LabeledPartition:
    """The problem over regions whose segments have a class each; O(n L + m L^2) memory."""
    of_classes = class_costs(probabilities, graph)
    joined = np.full((graph.m, of_classes.shape[1], of_classes.shape[1]), np.inf)
    same = np.arange(of_classes.shape[1])
    joined[:, same, same] = costs[:, None]
    return LabeledPartition.from_arrays(of_classes, graph.pairs, joined, **requirements)
