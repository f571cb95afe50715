"""Answers about places in a picture or volume, as answers about the regions that are there.

Numbers of regions change with the picture, or with the way in which regions are found; places do not.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.images.graph import RegionGraph
from graphpart.partition.inputs.frames import table_of

__all__ = ["by_region"]

PLACE = re.compile(r"\(\s*\d+(\s*,\s*\d+)+\s*\)")


def by_region(answers: Any, graph: RegionGraph, regions: NDArray[Any]) -> dict[str, list[Any]]:
    """A table of answers with elements in place of places; `left_place` and `right_place` come before other names.

    Raises
    ------
    InvalidProblem
        If a place is not in the array, or in no region.

    Examples
    --------
    >>> from graphpart.images import region_graph
    >>> regions = np.array([[1, 1, 2, 2]])
    >>> said = {"left": [(0, 0)], "right": ["(0, 3)"], "answer": ["apart"]}
    >>> by_region(said, region_graph(regions, np.zeros((1, 4))), regions)
    {'left': [0], 'right': [1], 'answer': ['apart']}
    """
    table = table_of(answers)
    out = {str(name): table.objects(name) for name in table.columns}
    for side in ("left", "right"):
        if side in out:
            names = out[f"{side}_place"] if {"left_place", "right_place"} <= set(out) else out[side]
            out[side] = [_element(name, graph, regions) for name in names]
    return out


def _element(name: Any, graph: RegionGraph, regions: NDArray[Any]) -> Any:
    """The element of the region at a place; other names as they are."""
    if isinstance(name, str) and PLACE.fullmatch(name.strip()):
        name = tuple(int(part) for part in re.findall(r"\d+", name))
    if not isinstance(name, tuple | list | np.ndarray):
        return name
    place = tuple(int(part) for part in name)
    if len(place) != regions.ndim or any(not 0 <= x < size for x, size in zip(place, regions.shape, strict=True)):
        raise InvalidProblem(f"answers has the place {place}: expected one in an array of the shape {regions.shape}")
    found = int(np.searchsorted(graph.labels, regions[place]))
    if found == graph.n or graph.labels[found] != regions[place]:
        raise InvalidProblem(f"answers has the place {place}, where there is no region: expected one in a region")
    return found
