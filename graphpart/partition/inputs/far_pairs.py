"""Warnings about pairs of pixels that lie several pixels apart, which do not attract by default.

A pair of pixels far apart is joined directly: no path of joined pixels has to lead from one to the other. If affinities
at large offsets know only both ends, two pixels inside two cells attract each other across the wall between them. Walls
are thin and cells are thick, so such pairs outnumber the walls: all cells become one cluster, and the pixels of walls,
which repel all of their neighbours, become clusters of one pixel each.

So pairs at offsets beyond the neighbours only repel by default. If they are to attract, a warning says how many of them
do so across neighbours that repel. Another warning says how many pixels repel all of their neighbours: no partition of
pixels puts these into a segment, but one of regions does (:func:`graphpart.images.segment`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, warn

__all__ = ["costs_of_far_pairs"]

FEWEST = 1000  # pixels from which on shares mean something
CONTRADICTORY, LONELY = 0.01, 0.05  # shares that are worth a warning

Floats = NDArray[np.float64]


def costs_of_far_pairs(
    shape: tuple[int, ...], offsets: Any, costs: Floats, far: str | None, given_as_cost: bool
) -> Floats:
    """The costs of all pairs of a grid, where those beyond the neighbours do not attract, unless they shall; warns.

    Parameters
    ----------
    shape : tuple of int
    offsets : array_like of int, shape (k, d)
    costs : ndarray
        Of all pairs of the first offset, of the second one, ...
    far : {"repel", "all"} or None
        None: "all" for costs and weights, which say what they mean, else "repel".
    given_as_cost : bool
    """
    if far not in (None, "repel", "all"):
        raise InvalidOption(f"far is {far!r}: expected repel or all")
    steps = [tuple(int(x) for x in step) for step in np.asarray(offsets)]
    sizes = [math.prod(max(0, n - abs(x)) for n, x in zip(shape, step, strict=True)) for step in steps]
    parts = dict(zip(steps, np.split(costs, np.cumsum(sizes)[:-1]), strict=True))
    near = {step: part for step, part in parts.items() if sum(map(abs, step)) == 1}
    beyond = {step: part for step, part in parts.items() if step not in near}
    attracting = far == "all" or (far is None and given_as_cost)
    if not near:
        return costs
    if not given_as_cost and math.prod(shape) >= FEWEST:
        repels = _repels(shape, near)
        crossing = _crossing(shape, beyond, repels) if attracting else 0.0
        lonely = _lonely(shape, near)
        if crossing > CONTRADICTORY:
            warn(
                f"{crossing:.0%} of the pairs beyond the neighbours that attract do so across neighbours that "
                "repel: their affinities know only both ends, not what lies between, so separate cells are joined: "
                "far='repel' leaves their attraction out, and graphpart.images.segment(affinities=..., offsets=...) "
                "partitions regions"
            )
        if lonely > LONELY:
            warn(
                f"{lonely:.0%} of the pixels repel all of their neighbours, as those on boundaries do, so each is a "
                "cluster of its own: graphpart.images.segment(affinities=..., offsets=...) partitions regions instead"
            )
    if attracting or not beyond:
        return costs
    return np.concatenate([part if step in near else np.maximum(part, 0.0) for step, part in parts.items()])


def _inner(shape: Sequence[int], step: Sequence[int], at: Sequence[int]) -> tuple[slice, ...]:
    """The first pixels of all pairs a step apart, moved by `at`."""
    return tuple(slice(max(0, -x) + a, n - max(0, x) + a) for n, x, a in zip(shape, step, at, strict=True))


def _repels(shape: tuple[int, ...], near: dict[tuple[int, ...], Floats]) -> dict[int, NDArray[np.int32]]:
    """By axis: how many pairs of neighbours repel before each pixel of its line."""
    found = {}
    for step, part in near.items():
        axis = int(np.flatnonzero(step)[0])
        lengths = tuple(n - (k == axis) for k, n in enumerate(shape))
        before = np.zeros(shape, np.int32)
        later = tuple(slice(1, None) if k == axis else slice(None) for k in range(len(shape)))
        np.cumsum(part.reshape(lengths) > 0, axis=axis, dtype=np.int32, out=before[later])
        found[axis] = before
    return found


def _crossing(
    shape: tuple[int, ...], beyond: dict[tuple[int, ...], Floats], repels: dict[int, NDArray[np.int32]]
) -> float:
    """The share of pairs that attract across neighbours that repel, on the way along one axis after the other."""
    attract = across = 0
    for step, part in beyond.items():
        moves = [axis for axis, x in enumerate(step) if x]
        if not part.size or not all(axis in repels for axis in moves):
            continue
        at = [0] * len(shape)
        cut = np.zeros(part.shape, bool)
        for axis in moves:
            before = repels[axis][_inner(shape, step, at)]
            at[axis] += step[axis]
            cut |= (repels[axis][_inner(shape, step, at)] != before).ravel()
        attract += int(np.count_nonzero(part < 0))
        across += int(np.count_nonzero(cut & (part < 0)))
    return across / attract if attract else 0.0


def _lonely(shape: tuple[int, ...], near: dict[tuple[int, ...], Floats]) -> float:
    """The share of pixels that repel all of their neighbours."""
    linked = np.zeros(shape, bool)
    for step, part in near.items():
        here, there = _inner(shape, step, [0] * len(shape)), _inner(shape, step, step)
        calm = part.reshape(tuple(n - abs(x) for n, x in zip(shape, step, strict=True))) <= 0
        linked[here] |= calm
        linked[there] |= calm
    return 1 - float(linked.mean())
