"""The watershed against a naive flood: every voxel is in a region that reaches it at the lowest height."""

import heapq

import numpy as np
import pytest
from scipy import ndimage
from trials import trials

import graphpart as gp

pytest.importorskip("bioimage_cpp")


def lowest_passes(heights, sources, regions=None):
    """For each voxel, the least height over which a source leads to it, within its region if regions are given."""
    passes = np.full(heights.shape, np.inf)
    waiting = [(heights[at], at) for at in map(tuple, np.argwhere(sources))]
    while waiting:
        height, at = heapq.heappop(waiting)
        if passes[at] <= height:
            continue
        passes[at] = height
        for axis in range(heights.ndim):
            for step in (-1, 1):
                to = (*at[:axis], at[axis] + step, *at[axis + 1 :])
                if 0 <= to[axis] < heights.shape[axis] and (regions is None or regions[to] == regions[at]):
                    heapq.heappush(waiting, (max(height, heights[to]), to))
    return passes


@pytest.mark.parametrize("spacing", [(1.0, 1.0), (3.0, 1.0, 1.0)])
def test_voxels_are_reached_at_the_lowest_height(spacing):
    for seed in range(trials(10)):
        shape = (24, 30) if len(spacing) == 2 else (7, 14, 15)
        boundary = gp.images.cells(shape, size=8, noise=0.3, seed=seed)[0]
        if seed % 2:
            boundary = (boundary > 0.4).astype(np.float32)  # all inner voxels are at one height
        regions = gp.images.watershed(boundary, spacing=spacing, seed_width=1.0)
        widths = [min(spacing) / x for x in spacing]
        free = boundary < 0.5
        distance = np.minimum(ndimage.distance_transform_edt(free, spacing), 30).astype(np.float32)
        distance = ndimage.gaussian_filter(distance, widths)
        seeds, number = ndimage.label(
            (distance == ndimage.maximum_filter(distance, 3)) & free, np.ones((3,) * free.ndim)
        )
        assert set(np.unique(regions)) == set(range(1, number + 1)) and (regions == seeds)[seeds > 0].all()
        heights = ndimage.gaussian_filter(boundary, widths)
        step = np.ptp(heights) / 65535  # by which heights are rounded
        within, least = (lowest_passes(heights, seeds > 0, pieces) for pieces in (regions, None))
        assert (within <= least + 1.01 * step).all()
