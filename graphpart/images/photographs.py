"""A boundary map of a photograph, and costs of its regions, from differences of colour.

1. Colours become CIELAB, in which distances are as they appear to the eye; grey values become lightness.
2. Each channel is smoothed by a Gaussian, and g is the length of the gradient of all channels together (Sobel).
3. The probability of a boundary is g**2 / (g**2 + t**2), which is 1/2 at t. Otsu's threshold divides gradients into
   strong and weak ones, and once more the weak ones. The first is that of the strongest edges, beside which faint
   borders would not count; texture and noise exceed the second. t is their geometric mean, but at most the gradient of
   an edge between two colours whose distance is 8, unless three times the median of all gradients exceeds it, and at
   least this median.
4. A soft border between two things may still have no boundary, but their colours differ. So d, the distance between
   the mean colours of two regions, is evidence, too: the probability of a boundary by d is d**2 / (d**2 + 8**2), and
   the log-odds of both are added. A distance of 8 in CIELAB is one that the eye sees between areas that are not side
   by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency, known_arguments
from graphpart.images.graph import CLIP, RegionGraph, channel_means
from graphpart.partition.problem import costs_from_probabilities

__all__ = [
    "boundaries",
    "colour_costs",
    "edges_of",
    "is_grey_photograph",
    "is_photograph",
    "lightness_and_colour",
    "map_of",
]

SAMPLE = 1_000_000  # pixels that tell about a whole map
WIDTH = 1.5  # pixels by which colours are smoothed
DISTANCE = 8.0  # of colours in CIELAB, at which a boundary is as probable as none


@known_arguments
def boundaries(image: ArrayLike, *, width: float = WIDTH) -> NDArray[np.float32]:
    """The probability that there is a boundary at each pixel of a photograph, or voxel of a volume of grey values.

    Parameters
    ----------
    image : array_like, shape (height, width, 3) or (height, width, 4), (height, width) or (depth, height, width)
        Colours red, green and blue, perhaps with opacity, which is ignored; or grey values. Integers of 8 or 16 bits,
        or floats; floats of colours are from 0 to 1.
    width : float
        The standard deviation, in pixels, by which colours are smoothed. Details that are much smaller than this are
        no boundaries.

    Returns
    -------
    ndarray of float32, shape (height, width) or (depth, height, width)
        From 0 to 1, as :func:`segment` takes it.

    Raises
    ------
    InvalidProblem
        If it is no image.
    MissingDependency
        If scikit-image is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> photograph = np.zeros((20, 20, 3), np.uint8)
    >>> photograph[:, 10:] = 200, 30, 30
    >>> b = boundaries(photograph)
    >>> bool(b[:, 9:11].min() > 0.5), bool(b[:, :4].max() < 0.1)
    (True, True)
    """
    if not isinstance(width, int | float) or not 0 <= width < np.inf:
        raise InvalidOption(f"width is {width!r}: expected a number of pixels, at least 0")
    return edges_of(lightness_and_colour(image), width)


def edges_of(channels: NDArray[np.float32], width: float = WIDTH) -> NDArray[np.float32]:
    """The probability of a boundary, from `lightness_and_colour`."""
    from scipy import ndimage

    squares = np.zeros(channels.shape[:-1], np.float32)
    for k in range(channels.shape[-1]):
        smooth = ndimage.gaussian_filter(channels[..., k], width)
        for axis in range(smooth.ndim):
            squares += ndimage.sobel(smooth, axis) ** 2
    if not squares.max(initial=0) > 0:
        return squares
    lengths = np.sqrt(squares)
    middle = _between_weak_and_strong(lengths)
    visible = DISTANCE * 4.0 ** (squares.ndim - 1) * min(1.0, 2 / (np.sqrt(2 * np.pi) * max(width, 1e-9)))
    ordinary = float(np.median(lengths.ravel()[:: max(1, lengths.size // SAMPLE)]))
    return squares / (squares + np.float32(max(ordinary, min(middle, max(visible, 3 * ordinary))) ** 2))


def _between_weak_and_strong(lengths: NDArray[np.float32]) -> float:
    """The geometric mean of Otsu's threshold, and of the one of the lengths below it."""
    otsu = filters_of_scikit_image().threshold_otsu
    strong = float(otsu(lengths))
    weak = lengths[lengths < strong]
    faint = float(otsu(weak)) if weak.max(initial=0) > 0 else 0.0
    return (strong * faint) ** 0.5 if faint > 0 else strong


def colour_costs(graph: RegionGraph, channels: NDArray[np.float32]) -> NDArray[np.float64]:
    """What the colours of regions add to :meth:`RegionGraph.costs`: log-odds, times length."""
    means = channel_means(graph.elements() + 1, channels, np.append(0, graph.sizes))[0][1:]
    squares = ((means[graph.pairs[:, 0]] - means[graph.pairs[:, 1]]) ** 2).sum(axis=1)
    return costs_from_probabilities(DISTANCE**2 / (squares + DISTANCE**2), clip=CLIP) * graph.weights


def is_photograph(array: NDArray[Any]) -> bool:
    """Whether an array is a picture in colour: its last of three axes has the 3 or 4 channels."""
    return array.ndim == 3 and array.shape[-1] in (3, 4) and min(array.shape[:2]) > 4


def is_grey_photograph(array: NDArray[Any]) -> bool:
    """Whether a picture or volume of integers of 8 or 16 bits is a photograph, rather than a boundary map.

    Most values of boundary maps are near 0, or if they are turned round, near the largest: the median of the maps of
    photographs is at most a fifth. A photograph that is as dark or bright is not recognised.
    """
    if array.ndim not in (2, 3) or array.dtype.kind != "u" or array.dtype.itemsize > 2 or not array.size:
        return False
    sample = array.ravel()[:: max(1, array.size // SAMPLE)]
    high = int(sample.max())
    return high > 1 and 0.2 < float(np.median(sample)) / (255 if array.dtype.itemsize == 1 else high) < 0.8


def map_of(array: NDArray[Any], name: str) -> NDArray[Any]:
    """The picture in a file: a photograph, or a boundary map, whose integers are divided by the largest one."""
    if is_photograph(array) or array.dtype.kind in "fb" or is_grey_photograph(array):
        return array
    if array.dtype.kind != "u" or array.dtype.itemsize > 2:
        raise InvalidProblem(f"{name} has dtype {array.dtype}: expected probabilities from 0 to 1")
    return np.asarray(array / np.float32(np.iinfo(array.dtype).max))


def lightness_and_colour(image: ArrayLike) -> NDArray[np.float32]:
    """CIELAB of a picture in colour, or grey values scaled to 100, with an axis of channels at the end."""
    array = np.asarray(image)
    if array.ndim not in (2, 3) or not array.size or array.dtype.kind not in "fiub":
        raise InvalidProblem(
            f"image has shape {array.shape} and dtype {array.dtype}: expected a picture, with an axis of 3 colours "
            "at the end or without, or a volume"
        )
    if not np.isfinite(array).all():
        raise InvalidProblem("image has a value that is NaN or infinite: expected numbers")
    if is_photograph(array):
        if array.dtype.kind == "f" and not (array.min() >= 0 and array.max() <= 1):
            hint = "; divide by 255" if 1 < array.max() <= 255 else ""
            raise InvalidProblem(f"image has colours from {array.min():g} to {array.max():g}: expected 0 to 1{hint}")
        if array.dtype.kind == "i" or array.dtype.itemsize > 2:
            array = _in_eight_or_sixteen_bits(array)
        colours: NDArray[np.float32] = _colours().rgb2lab(array[..., :3]).astype(np.float32)
        return colours
    low, high = array.min(), array.max()
    scale = max(abs(float(low)), abs(float(high))) or 1.0
    # Within [-1, 1] no difference is infinite. Numbers of 64 bits may be too large or too small for those of 32 bits.
    wide = array.dtype.itemsize > 4
    grey = (array / scale).astype(np.float32) if wide else np.divide(array, np.float32(scale), dtype=np.float32)
    spread = float(high / scale - low / scale) or 1.0
    return ((grey - np.float32(low / scale)) * np.float32(100 / spread))[..., None]


def _in_eight_or_sixteen_bits(colours: NDArray[Any]) -> NDArray[Any]:
    """Colours in integers of another type as unsigned ones of 8 or 16 bits; floats as they are."""
    if colours.dtype.kind == "f":
        return colours
    low, high = int(colours.min()), int(colours.max())
    if low < 0 or high > 65535:
        raise InvalidProblem(f"image has colours from {low} to {high}: expected 0 to 255, or 0 to 65535")
    return colours.astype(np.uint8 if high <= 255 else np.uint16)


def _colours() -> Any:
    try:
        from skimage import color
    except ImportError:
        raise MissingDependency("scikit-image", "images", "reading colours") from None
    return color


def filters_of_scikit_image() -> Any:
    try:
        from skimage import filters
    except ImportError:
        raise MissingDependency("scikit-image", "images", "the boundary map of a picture") from None
    return filters
