"""Small regions of a boundary map, by the watershed from maxima of the distance to boundaries.

1. Where the boundary probability exceeds 1/2 there is a boundary. The distance of each other voxel to the nearest one
   is computed, in units of the smallest side of a voxel.
2. The distances are smoothed; each of their maxima is the seed of a region.
3. From the seeds, the watershed floods the boundary map, slightly smoothed, and every voxel gets a region.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, MissingDependency, known_arguments
from graphpart.images.checks import mask_of, probabilities_of, spacing_of

__all__ = ["HALO", "watershed"]

SEED_WIDTH = 2.5  # standard deviation by which distances are smoothed
FARTHEST = 30.0  # distances are cut off here, since nothing farther away can change a region
HALO = 16  # voxels around a block that are flooded with it, so that its regions do not shrink from its faces


@known_arguments
def watershed(
    boundary: ArrayLike,
    *,
    spacing: Sequence[float] | None = None,
    mask: ArrayLike | None = None,
    seed_width: float = SEED_WIDTH,
) -> NDArray[np.int32]:
    """Divide a picture or volume into small regions that follow a boundary map.

    Parameters
    ----------
    boundary : array_like of float, of 2 or 3 axes
        The probability of a boundary, from 0 to 1.
    spacing : sequence of float, optional
        The size of a voxel along each axis; default: ones.
    mask : array_like of bool, optional
        Where there is something to segment; elsewhere the region is 0.
    seed_width : float
        The standard deviation, in voxels, by which distances are smoothed: larger values make fewer, larger regions.

    Returns
    -------
    ndarray of int32
        Regions 1, 2, ...; 0 outside of the mask.

    Raises
    ------
    InvalidProblem, InvalidOption
        If an argument is not as described.
    MissingDependency
        If bioimage-cpp is not installed, which computes distances and floods.

    Notes
    -----
    O(voxels); some 0.6 seconds for 10^6 voxels. Heights are flooded in 65,536 steps.

    Examples
    --------
    >>> import numpy as np
    >>> boundary = np.zeros((20, 40))
    >>> boundary[:, 20] = 1
    >>> int(watershed(boundary).max())
    2
    """
    heights = probabilities_of(boundary)
    sizes = spacing_of(spacing, heights.ndim)
    inside = None if mask is None else mask_of(mask, heights.shape)
    if not 0 <= seed_width < np.inf:
        raise InvalidOption(f"seed_width is {seed_width!r}: expected a number of voxels, at least 0")
    return flooded(heights, sizes, inside, seed_width)


def flooded(
    heights: NDArray[np.float32],
    sizes: Sequence[float],
    inside: NDArray[np.bool_] | None,
    seed_width: float = SEED_WIDTH,
) -> NDArray[np.int32]:
    """The regions of a boundary map that has been checked."""
    from scipy import ndimage

    try:
        from bioimage_cpp.distance import distance_transform
        from bioimage_cpp.segmentation import watershed as flood
    except ImportError:
        raise MissingDependency("bioimage-cpp", "images", "the watershed") from None
    least = min(sizes)
    relative = [size / least for size in sizes]
    free = heights < 0.5
    if inside is not None:
        free &= inside
    distance = np.full(heights.shape, FARTHEST, np.float32)
    if not free.all():
        np.minimum(distance_transform(free, sampling=relative), distance, out=distance)
    distance = ndimage.gaussian_filter(distance, [seed_width / x for x in relative])
    peaks = (distance == ndimage.maximum_filter(distance, size=3)) & free
    seeds, number = ndimage.label(peaks, np.ones((3,) * heights.ndim))
    if inside is not None or number == 0:  # parts of the mask without a seed get one each
        parts, count = ndimage.label(np.ones(heights.shape, bool) if inside is None else inside)
        seeded = np.zeros(count + 1, bool)
        seeded[np.unique(parts[peaks])] = True
        bare = np.flatnonzero(~seeded[1:]) + 1
        if len(bare):
            lowest = ndimage.minimum_position(heights, parts, bare)
            for k, at in enumerate(lowest, 1):
                seeds[at] = number + k
    smooth = ndimage.gaussian_filter(heights, [1.0 / x for x in relative])
    regions: NDArray[np.int32] = flood(smooth, seeds, mask=inside)
    return regions
