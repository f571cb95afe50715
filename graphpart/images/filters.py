"""Filters of a picture or volume along the boundaries of its regions, slab by slab.

1. The picture is smoothed by a Gaussian of 1 voxel. The structure tensor at a voxel is the mean, by a Gaussian of 2
   voxels, of the products of its derivatives along two axes (Förstner, Gülch 1987). The root of its largest eigenvalue
   is the strength of edges and ridges there; those of the others are near 0 on a flat wall, and large at noise or
   texture.
2. Of each root, the mean over the contacts of two regions is a feature of the pair; see `statistics`.
3. Slabs across the first axis are filtered with as many slices around them as filters reach, so memory is that of a
   slab, and the features are those of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.images._contacts import Contacts
from graphpart.images.checks import three
from graphpart.images.statistics import Statistics

__all__ = ["edge_strengths", "grey"]

HALO = 16  # voxels around a slab that count for it
SLAB = 2**22  # voxels that are filtered at once

Singles = NDArray[np.float32]


def grey(picture: Any, shape: tuple[int, ...]) -> Singles:
    """A picture of a shape, perhaps with channels at the end, as values from 0 to 1: a hundredth is at either end."""
    array = np.asarray(picture, np.float32)
    array = array if array.shape == shape else array.mean(axis=-1)
    low, high = np.quantile(array.ravel()[:: 1 + array.size // 2**20], [0.01, 0.99])
    scaled: Singles = np.clip((array - low) / max(high - low, np.float32(1e-6)), 0, 1).astype(np.float32)
    return scaled


def edge_strengths(regions: NDArray[np.int32], picture: Singles) -> dict[str, NDArray[np.float64]]:
    """For each eigenvalue, the means over the boundaries of pairs of regions, ascending by pair.

    O(voxels); values of the picture are from 0 to 1.
    """
    axes = picture.ndim
    tables = [Contacts() for _ in range(axes)]
    thick = max(1, SLAB * len(picture) // picture.size)
    for start in range(0, len(picture), thick):
        low, stop = max(0, start - HALO), min(len(picture), start + thick)
        core = (stop - start, *regions.shape[1:])
        for table, values in zip(tables, _roots(picture[low : stop + HALO]), strict=True):
            inside = np.ascontiguousarray(values[start - low : stop + 1 - low])
            table.add(three(regions[start : stop + 1]), three(inside), core if axes == 3 else (1, *core))
    return {str(k): Statistics.of(table).mean() for k, table in enumerate(tables)}


def _roots(picture: Singles) -> Iterator[Singles]:
    """The roots of the eigenvalues of the structure tensor, the largest ones first."""
    from scipy.ndimage import gaussian_filter

    smooth = gaussian_filter(picture, 1.0)
    slopes = [np.gradient(smooth, axis=k) if n > 1 else np.zeros_like(smooth) for k, n in enumerate(smooth.shape)]
    tensor = {
        (a, b): gaussian_filter(slopes[a] * slopes[b], 2.0)
        for a, b in combinations_with_replacement(range(picture.ndim), 2)
    }
    middle = sum(tensor[k, k] for k in range(picture.ndim)) / np.float32(picture.ndim)
    for k in range(picture.ndim):
        tensor[k, k] = tensor[k, k] - middle
    squares = sum((1 + (a < b)) * value**2 for (a, b), value in tensor.items())
    if picture.ndim == 2:
        half = np.sqrt(squares / 2)
        values = [middle + half, middle - half]
    else:  # the cubic of a symmetric matrix by its angle (Smith 1961)
        radius = np.sqrt(squares / 6)
        xx, xy, xz, yy, yz, zz = (tensor[key] for key in sorted(tensor))
        product = xx * (yy * zz - yz**2) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
        angle = np.arccos(np.clip(product / np.maximum(2 * radius**3, 1e-30), -1, 1)) / 3
        largest = middle + 2 * radius * np.cos(angle)
        least = middle + 2 * radius * np.cos(angle + np.float32(2 * np.pi / 3))
        values = [largest, 3 * middle - largest - least, least]
    for value in values:
        yield np.sqrt(np.clip(value, 0, 1))
