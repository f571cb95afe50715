"""Warnings of boundary maps that are probably none, or whose values are no probabilities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import MissingDependency, warn
from graphpart.images.graph import DECIDES, RegionGraph
from graphpart.images.photographs import SAMPLE, filters_of_scikit_image

__all__ = ["check_values", "warn_of_lines", "warn_of_one_region"]

WIDE = 11  # pixels: lines between segments are narrower
SIDE = {2: 512, 3: 64}  # of the middle of a picture or volume, which is looked at


def faint(heights: NDArray[np.float32]) -> tuple[float, str]:
    """(Otsu's threshold of a boundary map, what to do if its values are no probabilities).

    The threshold is 1 if the map has one value only, or values near 1 as those of evident boundaries are, or without
    scikit-image.
    """
    sample = heights.ravel()[:: max(1, heights.size // SAMPLE)]
    if np.quantile(sample, 0.99) >= 0.8 or sample.min() == sample.max():
        return 1.0, ""
    try:
        best = float(filters_of_scikit_image().threshold_otsu(sample))
    except MissingDependency:
        return 1.0, ""
    scaled = f"numpy.minimum(1, boundary / {2 * best:.2g})"
    return best, f"; if high values are boundaries all the same, pass {scaled}, which is 1/2 where they begin"


def fills_areas(heights: NDArray[np.float32]) -> bool:
    """Whether high values fill areas, as in photographs, rather than lines, as in boundary maps.

    A tenth of the picture has to keep more than three eighths of its range where lines narrower than `WIDE` pixels are
    taken away. Of 15 photographs in grey, 12 keep 0.4 to 0.94, the others 0.04 to 0.31. Of boundary maps and Sobel
    filters of them whose median is above 0.2, with noise and without, all keep at most 0.28.
    """
    from scipy import ndimage

    middle = tuple(slice(max(0, (k - SIDE[heights.ndim]) // 2), (k + SIDE[heights.ndim]) // 2) for k in heights.shape)
    part = heights[middle]
    low, high = np.quantile(part, (0.01, 0.99))
    return bool(np.quantile(ndimage.grey_opening(part, size=WIDE), 0.9) - low > 0.375 * (high - low))


def warn_of_one_region(heights: NDArray[np.float32]) -> None:
    low, high = (f"{float(x):.4g}" for x in (heights.min(), heights.max()))
    found = f"has the value {low} everywhere" if low == high else f"has values from {low} to {high}, but no ridge"
    warn(
        f"the boundary map {found}, so all is one region: expected the probability of a boundary at each pixel, "
        f"high on lines that divide it; pass grey values as image={faint(heights)[1]}"
    )


def warn_of_lines(grey: NDArray[np.float32]) -> None:
    """Warn if integers that are read as a grey photograph look like a boundary map on a grey ground."""
    if not fills_areas(grey):
        warn(
            "the integers are read as a grey photograph, but high values are lines, as in a boundary map: pass "
            "boundary / 255 (or / 65535) if it is one, or image= if it is none"
        )


def check_values(
    heights: NDArray[np.float32], graph: RegionGraph, segments: int, is_map: bool, threshold: float
) -> None:
    """Warn if all regions are joined, or if a boundary map is probably none, or its values are no probabilities.

    Of most boundary maps the median is at most 0.2, of maps turned round at least 0.8. A photograph may be between, but
    its high values fill areas. Values are no probabilities if hardly any is near 1, and if for a tenth of all contacts
    or more the value that decides is below the threshold, so that the regions attract, although it is high beside the
    values of the whole map.
    """
    middle = float(np.median(heights.ravel()[:: max(1, heights.size // SAMPLE)])) if is_map and graph.n > 1 else 0.0
    if middle > 0.55 or (middle > 0.2 and fills_areas(heights)):
        warn(
            f"half of the values of the boundary map are above {middle:.2g}: expected low values within segments, and "
            "high ones on the lines between them; turn an inverted map by 1 - boundary; pass a photograph as image="
        )
        return
    best, hint = faint(heights) if is_map else (1.0, "")
    values = graph.columns[DECIDES]
    joined = float(graph.weights[(values > best) & (values < threshold)].sum())
    if (segments > 1 or graph.n < 5) and (not joined or joined < 0.1 * float(graph.weights.sum())):
        return
    given = f"values of the boundary map, at most {float(heights.max()):.4g}," if is_map else "affinities"
    warn(
        f"{plural(graph.n, 'region')} became {plural(segments, 'segment')}: the {given} are taken as probabilities; a "
        f"lower threshold divides more, and a photograph needs no map{hint}"
    )
