"""Volumes of cells with thin, noisy walls, as in electron microscopy, of any size, block by block.

Space is divided into cubes; each has a random point. A cell is all voxels that are nearest to one point, so the truth
is a Voronoi diagram. Walls are the blurred borders of cells. There is blurred noise on all voxels.
Points and noise are drawn for each cube by themselves, so each block of a volume is the same whether it is made
alone or with others.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption

__all__ = ["cells"]

HALO = 6  # voxels around a block that are generated because of the blur


def cells(
    shape: Sequence[int],
    *,
    size: int = 24,
    noise: float = 0.15,
    seed: int = 0,
    origin: Sequence[int] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """A boundary map of generated cells, and the true cell of each voxel.

    Parameters
    ----------
    shape : sequence of 2 or 3 int
    size : int
        Voxels along the side of the cube that has one point: the mean size of a cell.
    noise : float
        Standard deviation of the noise, of which walls have 1.
    seed : int
    origin : sequence of int, optional
        The first voxel, at least 0: a block of a larger volume. Default: zeros.

    Returns
    -------
    boundary : ndarray of float32
        From 0 to 1.
    truth : ndarray of int32
        From 1 on; the same number in each block.

    Notes
    -----
    About a second for 10^6 voxels.

    Examples
    --------
    >>> boundary, truth = cells((32, 48, 48))
    >>> boundary.shape, len(np.unique(truth)) > 5
    ((32, 48, 48), True)
    """
    from scipy import ndimage

    first = [0] * len(shape) if origin is None else [int(x) for x in origin]
    if len(shape) not in (2, 3) or len(first) != len(shape) or min(shape) < 1 or min(first) < 0:
        raise InvalidOption(f"shape is {shape!r} and origin {origin!r}: expected 2 or 3 whole numbers each")
    if size < 4 or not 0 <= noise < np.inf:
        raise InvalidOption(f"size is {size!r} and noise {noise!r}: expected at least 4 voxels, and at least 0")
    halo = HALO + 2 * size
    low = [x - halo for x in first]
    wide = [n + 2 * halo for n in shape]
    points = np.zeros(wide, np.int32)
    rough = np.zeros(wide, np.float32)
    ranges = [range(a // size, (a + n - 1) // size + 1) for a, n in zip(low, wide, strict=True)]
    for cube in itertools.product(*ranges):
        number = 0
        for k in cube:
            number = number * 4096 + k + 2048
        rng = np.random.default_rng([seed, number])
        place = [k * size - a for k, a in zip(cube, low, strict=True)]
        at = [p + int(x) for p, x in zip(place, rng.integers(0, size, len(cube)), strict=True)]
        if all(0 <= x < n for x, n in zip(at, wide, strict=True)):
            points[tuple(at)] = 1 + number % (2**31 - 2)
        if noise:
            values = rng.random((size,) * len(cube), np.float32) - np.float32(0.5)
            here = tuple(slice(max(0, p), min(n, p + size)) for p, n in zip(place, wide, strict=True))
            there = tuple(slice(s.start - p, s.stop - p) for s, p in zip(here, place, strict=True))
            rough[here] = values[there]
    nearest = ndimage.distance_transform_edt(points == 0, return_distances=False, return_indices=True)
    truth = points[tuple(nearest)]
    inner = tuple(slice(halo - HALO, halo + n + HALO) for n in shape)
    truth, rough = truth[inner], rough[inner]
    wall = np.zeros(truth.shape, np.float32)
    for axis in range(truth.ndim):
        lower = [slice(None)] * truth.ndim
        upper = [slice(None)] * truth.ndim
        lower[axis], upper[axis] = slice(None, -1), slice(1, None)
        differ = truth[tuple(lower)] != truth[tuple(upper)]
        wall[tuple(lower)][differ] = 1
        wall[tuple(upper)][differ] = 1
    wall = 1.2 * ndimage.gaussian_filter(wall, 1.0)
    scale = np.float32(noise * (4 * np.pi) ** (truth.ndim / 4) * 12**0.5)
    boundary = np.clip(wall + scale * ndimage.gaussian_filter(rough, 1.0), 0, 1)
    core = tuple(slice(HALO, HALO + n) for n in shape)
    return np.ascontiguousarray(boundary[core]), np.ascontiguousarray(truth[core])
