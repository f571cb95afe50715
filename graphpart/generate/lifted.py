"""Grids whose clusters have to be connected, with lifted pairs: planted regions, or costs that are noise alone."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.generate.grid import far_pairs, neighbour_pairs, regions_of_points
from graphpart.generate.instance import (
    Instance,
    check_integer,
    check_number,
    random_generator,
    rounded,
    standard_normal,
)
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.connectedness import linked_parts

__all__ = ["lifted_grid", "lifted_random"]

Ends = tuple[NDArray[np.int64], NDArray[np.int64]]


def lifted_grid(
    height: int,
    width: int,
    depth: int = 1,
    regions: int | None = None,
    lifted: float = 3.0,
    reach: int = 8,
    sigma: float = 2.0,
    lifted_sigma: float = 2.0,
    decimals: int | None = None,
    seed: int | None = 0,
) -> Instance:
    """A grid with planted regions: neighbours are base pairs, random far pairs are lifted, and each says little alone.

    The planted regions are the connected parts of the cells of random points. A pair costs -1 within a region and +1
    across, plus Gaussian noise: with the default noise, 31% of all pairs mislead.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns.
    depth : int
        Number of planes. With one, each element has four neighbours, else six. Element (i, j) of plane k is ``(k *
        height + i) * width + j``.
    regions : int, optional
        Number of random points; default: one for 200 elements.
    lifted : float
        Number of lifted pairs for each element.
    reach : int
        Lifted pairs are up to this many places apart along each axis, and more than one along some.
    sigma, lifted_sigma : float
        Standard deviation of the noise of base pairs, and of lifted pairs.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem and the planted labels.

    Notes
    -----
    O(m log m) for m pairs. Drawn in this order: points, ranks of lifted pairs until all are different, noise of base
    pairs axis by axis, noise of lifted pairs.

    Examples
    --------
    >>> p, truth = lifted_grid(30, 40, regions=4, seed=1)
    >>> p.n, p.m, int(p.lifted.sum()), len(set(truth.tolist()))
    (1200, 5930, 3600, 4)
    """
    shape = _shape(height, width, depth)
    lifted = check_number("lifted", lifted, 0)
    reach = check_integer("reach", reach, 2)
    sigma, lifted_sigma = check_number("sigma", sigma, 0), check_number("lifted_sigma", lifted_sigma, 0)
    n = math.prod(shape)
    regions = max(1, n // 200) if regions is None else check_integer("regions", regions, 1)
    rng = random_generator(seed)
    cells = regions_of_points(shape, regions, rng)
    near, far = _joined(neighbour_pairs(shape)), far_pairs(shape, round(lifted * n), reach, rng, "lifted")
    costs = [
        deviation * standard_normal(rng, len(u)) + np.where(cells[u] == cells[v], -1.0, 1.0)
        for (u, v), deviation in ((near, sigma), (far, lifted_sigma))
    ]
    p = _problem(n, near, far, costs, decimals)
    return Instance(p, linked_parts(p, cells))


def lifted_random(
    height: int,
    width: int,
    depth: int = 1,
    radius: float = 3.0,
    decimals: int | None = None,
    seed: int | None = 0,
) -> Instance:
    """A grid with a lifted pair of any two elements within a radius that are no neighbours, and normal random costs.

    Nothing is planted, so that bounds and proofs are hard.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns.
    depth : int
        Number of planes. With one, each element has four neighbours, else six. Element (i, j) of plane k is ``(k *
        height + i) * width + j``.
    radius : float
        The largest Euclidean distance of two elements of a pair, where neighbours have the distance 1.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem, without planted labels.

    Notes
    -----
    O(m) for m pairs. Drawn in this order: costs of base pairs axis by axis, costs of lifted pairs offset by offset.

    Examples
    --------
    >>> p, _ = lifted_random(10, 10, radius=3, seed=1)
    >>> p.n, p.m, int(p.lifted.sum())
    (100, 1058, 878)
    """
    shape = _shape(height, width, depth)
    radius = check_number("radius", radius, 1)
    rng = random_generator(seed)
    index = np.arange(math.prod(shape)).reshape(shape)
    pairs: list[Ends] = []
    for step in np.ndindex(*(2 * min(int(radius), size - 1) + 1 if size else 0 for size in shape)):
        by = [x - min(int(radius), size - 1) for x, size in zip(step, shape, strict=True)]
        length = sum(x * x for x in by)
        if 1 < length <= radius * radius and next(x for x in by if x) > 0:
            here = tuple(slice(max(0, -x), size - max(0, x)) for x, size in zip(by, shape, strict=True))
            there = tuple(slice(max(0, x), size + min(0, x)) for x, size in zip(by, shape, strict=True))
            pairs.append((index[here].ravel(), index[there].ravel()))
    near, far = _joined(neighbour_pairs(shape)), _joined(pairs)
    costs = [standard_normal(rng, len(u)) for u, _ in (near, far)]
    return Instance(_problem(math.prod(shape), near, far, costs, decimals), None)


def _shape(height: int, width: int, depth: int) -> tuple[int, ...]:
    height, width = check_integer("height", height, 0), check_integer("width", width, 0)
    depth = check_integer("depth", depth, 1)
    return (height, width) if depth == 1 else (depth, height, width)


def _joined(pairs: list[Ends]) -> Ends:
    empty = np.zeros(0, np.int64)
    u, v = (np.concatenate([empty, *ends]) for ends in zip(*pairs, strict=True)) if pairs else (empty, empty)
    return u, v


def _problem(n: int, near: Ends, far: Ends, costs: list[NDArray[np.float64]], decimals: int | None) -> SetPartition:
    local, more = (rounded(cost, decimals) for cost in costs)
    return SetPartition.from_pairs(n, near, local, lifted=(far, more))
