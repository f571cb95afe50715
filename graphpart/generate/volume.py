"""Small regions of a volume and their neighbours, as in the segmentation of electron microscopy images."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.generate.instance import Instance, check_integer, check_number, random_generator, standard_normal
from graphpart.partition.problem import Labels, SetPartition, canonical

__all__ = ["volume"]

SHARES = (0.01, *(k / 10 for k in range(1, 10)), 1 - 0.01)  # the probabilities of a boundary that faces may have


def volume(
    regions: int = 2000,
    bodies: int | None = None,
    noise: float = 1.0,
    seed: int | None = 0,
) -> Instance:
    """Regions of an oversegmented volume, a pair for each face between two, with few different, saturated costs.

    A cube of voxels is divided into the cells of random points, and so are the cells, into bodies that are stretched
    along one of the axes each. Each face says with what probability there is a boundary: that of a face between two
    bodies near 1, else near 0, with Gaussian noise, more on small faces, in steps of a tenth, from 0.01 to 0.99. The
    cost of a pair is the logarithm of the odds: one of eleven numbers.

    Parameters
    ----------
    regions : int
        Number of elements.
    bodies : int, optional
        Number of planted sets, at most; default: one for 40 regions.
    noise : float
        Standard deviation of the noise; at 0, no face of average area or more is mistaken.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem, with about 7 pairs for each element, and the planted labels.

    Notes
    -----
    O(n log n) for n regions, 125 voxels each. Drawn in this order: points of regions, points of bodies, their axes,
    noise of faces in the order of pairs.

    Examples
    --------
    >>> p, truth = volume(300, bodies=5, seed=1)
    >>> p.n, len(set(truth.tolist())), sorted(set(p.pairs()[2].tolist()))[:3]
    (300, 5, [-4.5951, -2.1972, -1.3863])
    """
    regions = check_integer("regions", regions, 1)
    bodies = check_integer("bodies", bodies, 1) if bodies is not None else max(1, regions // 40)
    if bodies > regions:
        raise InvalidOption(f"bodies is {bodies}: expected at most {regions}, the number of regions")
    noise = check_number("noise", noise, 0)
    rng = random_generator(seed)
    points = rng.random((regions, 3))
    truth = _bodies(points, rng.random((bodies, 3)), rng.integers(3, size=bodies))
    u, v, area = _faces(points)
    certainty = np.sqrt(np.minimum(area / max(1.0, float(area.sum()) / max(1, len(area))), 4.0))
    signal = np.where(truth[u] == truth[v], -2.2, 2.2) * certainty  # in standard deviations, as the noise
    boundary = 0.5 + signal * 0.45 / 2 + noise * 0.45 * standard_normal(rng, len(u))
    step = np.clip(np.round(boundary * 10), 0, 10).astype(np.int64)
    costs = np.array([round(math.log(share / (1 - share)), 4) for share in SHARES])
    return Instance(SetPartition.from_pairs(regions, (u, v), costs[step]), canonical(truth))


def _bodies(points: NDArray[np.float64], centres: NDArray[np.float64], axes: NDArray[np.int64]) -> Labels:
    """The body of each point: that of the nearest centre, where distances along its axis count less."""
    nearest = np.full(len(points), np.inf)
    labels = np.zeros(len(points), np.int32)
    stretched = np.ones((3, 3)) - 0.5 * np.eye(3)  # bodies are twice as long along their axes
    for k, (centre, axis) in enumerate(zip(centres, axes.tolist(), strict=True)):
        x, y, z = ((points - centre) * stretched[axis]).T
        distance = x * x + y * y + z * z
        closer = distance < nearest
        nearest[closer] = distance[closer]
        labels[closer] = k
    return labels


def _faces(points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The pairs of cells that touch, ascending, and in how many faces of voxels."""
    from scipy.spatial import cKDTree

    n = len(points)
    side = max(2, round((n * 125) ** (1 / 3)))
    middles = (np.arange(side) + 0.5) / side
    voxels = np.stack(np.meshgrid(middles, middles, middles, indexing="ij"), -1).reshape(-1, 3)
    near = cKDTree(points).query(voxels, k=list(range(1, min(2, n) + 1)))[1]
    # A compiler may fuse operations of the tree, on some processors: of the two nearest, a plain comparison decides.
    closest, least = near[:, 0].astype(np.int64), np.full(len(voxels), np.inf)
    for one in near.T:
        x, y, z = (voxels - points[one]).T
        distance = x * x + y * y + z * z
        closest = np.where((distance < least) | ((distance == least) & (one < closest)), one, closest)
        least = np.minimum(distance, least)
    cells = closest.reshape(side, side, side)
    keys = []
    for axis in range(3):
        a, b = (cells.take(np.arange(side - 1) + shift, axis).ravel() for shift in (0, 1))
        keys.append((np.minimum(a, b) * n + np.maximum(a, b))[a != b])
    pairs, area = np.unique(np.concatenate(keys), return_counts=True)
    return pairs // n, pairs % n, area
