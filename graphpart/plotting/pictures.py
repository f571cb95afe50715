"""Labels of grids, pictures and volumes as pictures, with outlines between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.display import plural
from graphpart.errors import InvalidOption
from graphpart.plotting.figures import axes_for, colour_bar, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_clusters", "draw_labels", "plot_segments"]


def draw_clusters(grid: Any, labels: Any, ax: Axes) -> None:
    """Draw labels on a grid as a picture, with outlines between them where there is room."""
    from matplotlib.collections import LineCollection

    codes = np.full((int(grid[0].max()) + 1, int(grid[1].max()) + 1), -1, np.int64)
    codes[grid] = labels
    shown = np.where(codes >= 0, codes * 7 % 20, np.nan) if codes.max() >= 20 else np.where(codes >= 0, codes, np.nan)
    ax.imshow(shown, cmap="tab20", vmin=0, vmax=19, interpolation="nearest")
    ax.set_xlabel("column")
    ax.set_ylabel("row")
    y, x = np.nonzero(codes[:, 1:] != codes[:, :-1])
    upright = np.stack([np.stack([x + 0.5, y - 0.5], 1), np.stack([x + 0.5, y + 0.5], 1)], 1)
    y, x = np.nonzero(codes[1:] != codes[:-1])
    level = np.stack([np.stack([x - 0.5, y + 0.5], 1), np.stack([x + 0.5, y + 0.5], 1)], 1)
    if len(upright) + len(level) <= 50_000:
        ax.add_collection(LineCollection([*upright, *level], colors="black", linewidths=0.6))


def draw_labels(grid: Any, labels: Any, ax: Axes) -> None:
    """Labels with a meaning on a grid as a picture, with a bar that has a colour for each label."""
    from matplotlib.colors import ListedColormap

    codes, count = np.full((int(grid[0].max()) + 1, int(grid[1].max()) + 1), np.nan), int(labels.max()) + 1
    codes[grid] = labels
    few = count <= 20
    colours: Any = "gray"
    if few and count > 2:
        colours = ListedColormap(pyplot().get_cmap("tab10" if count <= 10 else "tab20").colors[:count])
    elif few:
        colours = ListedColormap(["black", "white"])
    image = ax.imshow(codes, cmap=colours, interpolation="nearest", vmin=-0.5, vmax=max(count, 2) - 0.5)
    colour_bar(image, ax, "label", ticks=range(count) if few else None)


def plot_segments(
    labels: Any, image: Any = None, ax: Axes | None = None, *, slice: int | None = None, axis: int = 0
) -> Axes:
    """Draw the outlines of segments over an image; of a volume, those in one slice.

    Parameters
    ----------
    labels : array_like of int, of 2 or 3 axes
        The segment of each pixel or voxel; 0 is no segment.
    image : array_like, optional
        The picture below: of the shape of the labels, or with an axis of colours in addition. Default: a colour for
        each segment.
    ax : matplotlib.axes.Axes, optional
        Where to draw; default: a new figure.
    slice : int, optional
        Of a volume; default: the middle one.
    axis : int
        The axis across which a volume is sliced.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    InvalidOption
        If shapes differ, or there is no such slice.
    """
    segments = np.asarray(labels)
    below = None if image is None else np.asarray(image)
    if segments.ndim not in (2, 3) or segments.dtype.kind not in "iu":
        raise InvalidOption(
            f"labels have shape {segments.shape} and dtype {segments.dtype}: expected 2 or 3 axes of integers"
        )
    if below is not None and below.shape[: segments.ndim] != segments.shape:
        if below.ndim < segments.ndim and segments.shape[: below.ndim] == below.shape:
            raise InvalidOption("labels are a picture with colours: expected plot_segments(labels, image)")
        raise InvalidOption(f"image has shape {below.shape}: expected {segments.shape}, with or without colours")
    title = plural(len(np.unique(segments[segments > 0])), "segment")
    if segments.ndim == 3:
        if not -3 <= axis < 3:
            raise InvalidOption(f"axis is {axis!r}: expected 0, 1 or 2")
        depth = segments.shape[axis]
        at = depth // 2 if slice is None else slice
        if not 0 <= at < depth:
            raise InvalidOption(f"slice is {slice!r}: expected 0 to {depth - 1}")
        segments = segments.take(at, axis)
        below = None if below is None else below.take(at, axis)
        title += f", slice {at} of {depth}"
    ax = axes_for(ax)
    if below is None:
        shown = np.where(segments > 0, (segments.astype(np.int64) * 7919) % 19 + 1, 0)
        ax.imshow(shown, cmap="tab20", vmin=0, vmax=19, interpolation="nearest")
    else:
        ax.imshow(below, cmap="gray", interpolation="nearest")
    border = np.zeros((*segments.shape, 4))
    for near, far in ((np.s_[:-1], np.s_[1:]), (np.s_[:, :-1], np.s_[:, 1:])):
        border[near][segments[near] != segments[far]] = 1.0, 0.85, 0.0, 1.0
    ax.imshow(border, interpolation="nearest")
    ax.set_axis_off()
    ax.set_title(title)
    return ax
