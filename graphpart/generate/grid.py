"""A grid of pixels with planted regions and long-range edges, as in image segmentation."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.generate.instance import (
    Instance,
    check_integer,
    check_number,
    distinct_integers,
    random_generator,
    rounded,
    standard_normal,
)
from graphpart.partition.problem import Labels, SetPartition, canonical

__all__ = ["far_pairs", "grid", "neighbour_pairs", "regions_of_points"]


def grid(
    height: int,
    width: int,
    long_range: float = 0.1,
    reach: int = 10,
    regions: int | None = None,
    sigma: float = 1.0,
    decimals: int | None = None,
    seed: int | None = 0,
) -> Instance:
    """A grid of height * width pixels, joined to their four neighbours, with random long-range edges.

    The planted regions are those of nearest seed points. An edge costs -1 within a region and +1 across, plus Gaussian
    noise. Without regions, costs are noise alone. Pixel (i, j) is element ``i * width + j``.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns of pixels.
    long_range : float
        Number of long-range edges as a share of the number of neighbour edges.
    reach : int
        A long-range edge leads to a pixel up to this many rows and columns away, and more than one of either.
    regions : int, optional
        Number of seed points; none: no regions are planted, and a cost is noise alone.
    sigma : float
        Standard deviation of the noise.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (sparse but for tiny grids) and the planted labels, None without regions.

    Notes
    -----
    O(m log m) for m edges. Drawn in this order: seed points, ranks of long-range edges until all are different, noise
    of neighbour edges down, to the right, of long-range edges.

    Examples
    --------
    >>> p, truth = grid(20, 30, regions=4, sigma=0, seed=1)
    >>> p.n, p.m, len(set(truth.tolist()))
    (600, 1265, 4)
    """
    height, width = check_integer("height", height, 0), check_integer("width", width, 0)
    long_range = check_number("long_range", long_range, 0)
    reach = check_integer("reach", reach, 2)
    sigma = check_number("sigma", sigma, 0)
    n = height * width
    rng = random_generator(seed)
    truth = (
        regions_of_points((height, width), check_integer("regions", regions, 1), rng) if regions is not None else None
    )

    down, right = neighbour_pairs((height, width))
    far = far_pairs((height, width), round(long_range * (len(down[0]) + len(right[0]))), reach, rng)
    u, v = (np.concatenate([a, b, c]) for a, b, c in zip(down, right, far, strict=True))
    costs = sigma * standard_normal(rng, len(u))
    if truth is not None:
        costs += np.where(truth[u] == truth[v], -1.0, 1.0)
    return Instance(SetPartition.from_pairs(n, (u, v), rounded(costs, decimals)), truth)


def regions_of_points(shape: tuple[int, ...], regions: int, rng: np.random.Generator) -> Labels:
    """Canonical labels of the elements of a grid by the nearest of some random points."""
    from scipy.spatial import cKDTree

    points = rng.random((regions, len(shape))) * shape
    pixels = np.indices(shape).reshape(len(shape), -1).T + 0.5
    near = cKDTree(points).query(pixels, k=list(range(1, min(2, regions) + 1)))[1]
    # A compiler may fuse operations of the tree, on some processors: of the two nearest, a plain comparison decides.
    distance = np.zeros(near.shape)
    for x, y in zip(pixels.T, points.T, strict=True):
        distance += (x[:, None] - y[near]) ** 2
    return canonical(near[np.arange(len(near)), distance.argmin(axis=1)])


def neighbour_pairs(shape: tuple[int, ...]) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """The pairs of neighbours along each axis."""
    index = np.arange(math.prod(shape)).reshape(shape)
    return [
        (index.take(range(size - 1), axis).ravel(), index.take(range(1, size), axis).ravel())
        for axis, size in enumerate(shape)
    ]


def far_pairs(
    shape: tuple[int, ...], count: int, reach: int, rng: np.random.Generator, name: str = "long_range"
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Different pairs of elements, up to `reach` places apart along each axis, and more than one along some."""
    reaches = [min(reach, max(size - 1, 0)) for size in shape]
    ranges = [np.arange(-r if axis else 0, r + 1) for axis, r in enumerate(reaches)]
    steps = np.stack([x.ravel() for x in np.meshgrid(*ranges, indexing="ij")])
    first = steps[np.argmax(steps != 0, axis=0), np.arange(steps.shape[1])]
    steps = steps[:, (first > 0) & (np.abs(steps).max(axis=0) > 1)]
    room = np.array(shape)[:, None] - np.abs(steps)  # along each axis, for each offset
    places = np.maximum(room, 0).prod(axis=0)
    ends = np.cumsum(places)
    total = int(ends[-1]) if len(ends) else 0
    if count > total:
        raise InvalidOption(f"{name} asks for {count} edges: expected at most {total}, all that reach={reach} allows")
    ranks = distinct_integers(total, count, rng)
    which = np.searchsorted(ends, ranks, side="right")
    ranks -= (ends - places)[which]
    u = np.zeros(count, np.int64)
    v = np.zeros(count, np.int64)
    stride = 1
    for axis in range(len(shape) - 1, -1, -1):
        step = steps[axis, which]
        ranks, place = np.divmod(ranks, np.maximum(room[axis, which], 1))
        place += np.maximum(-step, 0)
        u += stride * place
        v += stride * (place + step)
        stride *= shape[axis]
    return u, v
