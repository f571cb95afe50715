"""From a boundary map, affinities or a photograph to segments, in one call.

1. A photograph becomes a boundary map; see `boundaries`. Of affinities, the boundary map is 1 minus the mean of those
   of neighbours.
2. The watershed divides the boundary map into small regions, unless regions are given; see `watershed`.
3. The region graph has a pair for each two regions that touch; see `region_graph`.
4. The cost of a pair is the log-odds of a boundary, weighted by its length; see `RegionGraph.costs`. In photographs,
   the difference of the mean colours of both regions counts, too; see `photographs`.
5. The set partition problem over the regions is solved, and each voxel gets the label of its region. If probabilities
   of classes are given, it is a labelled partition, whose segments have a class each; see `classes`.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.answers.applying import answered
from graphpart.common.columns import Columns
from graphpart.display import html_of, plural
from graphpart.errors import InvalidOption, InvalidProblem, NoAttribute, warn
from graphpart.images.answers import by_region
from graphpart.images.between import SHADES, picture_between, places_between
from graphpart.images.checks import affinities_of, mask_of, probabilities_of, spacing_of
from graphpart.images.classes import with_classes
from graphpart.images.files import is_picture, read_array
from graphpart.images.flooding import flooded
from graphpart.images.graph import RegionGraph, region_graph
from graphpart.images.maps_that_are_none import check_values, warn_of_lines, warn_of_one_region
from graphpart.images.photographs import (
    colour_costs,
    edges_of,
    is_grey_photograph,
    is_photograph,
    lightness_and_colour,
    map_of,
)
from graphpart.images.segment_table import measured, table_of
from graphpart.labeled import LabeledPartition, LabeledResult
from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.requirements import RequirementOptions, with_options
from graphpart.plotting.figures import picture
from graphpart.plotting.pictures import plot_segments
from graphpart.result import PartitionResult
from graphpart.solve import run

__all__ = ["Segmentation", "segment"]


class Segmentation:
    """Segments of a picture or volume, and how they were found.

    Attributes
    ----------
    labels : ndarray of int32
        The segment of each pixel or voxel, from 1 on; 0 where there is no region. A plain array: napari shows it by
        ``viewer.add_labels(s.labels)``.
    regions : ndarray of int
        The regions of which the segments consist, from 1 on, or as they were given.
    graph : RegionGraph
        Pairs of regions that touch, with their features.
    problem : SetPartition or LabeledPartition
        The problem that was solved; its elements are the regions.
    result : PartitionResult
        Its labels, cost, lower bound, and status.
    boundary : ndarray of float32 or None
        The boundary map.
    """

    def __init__(
        self,
        labels: NDArray[np.int32],
        regions: NDArray[Any],
        graph: RegionGraph,
        problem: SetPartition | LabeledPartition,
        result: PartitionResult,
        boundary: NDArray[np.float32] | None = None,
        image: Any = None,
    ) -> None:
        self.labels, self.regions, self.graph = labels, regions, graph
        self.problem, self.result, self.boundary = problem, result, boundary
        self.image = image

    @property
    def classes(self) -> NDArray[np.int32] | None:
        """The class of each pixel or voxel, that of its segment, -1 where there is no region; None without classes."""
        if not isinstance(self.result, LabeledResult):
            return None
        return np.append(self.result.classes, np.int32(-1))[self.graph.elements()]

    @property
    def table(self) -> Any:
        """The segments as a data frame, one row for each.

        `segment` is its label, `size` its number of voxels. Along axis k it reaches from `first_k` to the one before
        `end_k`. `neighbours` are the labels of the segments that it touches, as text such as "2 5". O(voxels)
        """
        return self._table.to_frame()

    @property
    def _table(self) -> Columns:
        elements = self.graph.elements() + 1
        return table_of(self.result.labels, measured(elements, [0] * elements.ndim), self.graph.pairs)

    @property
    def n_segments(self) -> int:
        """The number of segments."""
        return self.result.n_clusters

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            raise NoAttribute(type(self).__name__, name, [*dir(type(self)), *self.__dict__])

    def __repr__(self) -> str:
        counts = f"{plural(self.n_segments, 'segment')} of {plural(self.graph.n, 'region')}"
        return f"Segmentation({counts}, shape {self.labels.shape}, {self.result.status})"

    def _repr_html_(self) -> str:
        """For notebooks: sizes, and facts of the result."""
        title = f"Segmentation: {plural(self.n_segments, 'segment')} of {plural(self.graph.n, 'region')}"
        facts = {"shape": " x ".join(map(str, self.labels.shape)), "cost": self.result.cost, **self.result._facts()}
        present, sizes = np.unique(self.labels[self.labels > 0], return_counts=True)
        largest = np.argsort(-sizes, kind="stable")[:10]
        return html_of(title, facts, ("segment", "size"), [(int(present[k]), int(sizes[k])) for k in largest])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.labels, dtype=dtype, copy=copy)

    def plot(self, image: Any = None, ax: Any = None, *, slice: int | None = None, axis: int = 0) -> Any:
        """Draw the outlines of the segments over the image; of a volume, those in one slice.

        Parameters
        ----------
        image : array_like, optional
            The image below the outlines; default: the photograph that was segmented, else the boundary map.
        ax : matplotlib.axes.Axes, optional
        slice : int, optional
            The slice of a volume; default: the middle one.
        axis : int
            The axis across which a volume is sliced.

        Returns
        -------
        matplotlib.axes.Axes
        """
        below = self.image if image is None else image
        if below is None:
            below = self.boundary
        return plot_segments(self.labels, below, ax, slice=slice, axis=axis)

    @property
    def records(self) -> dict[str, list[Any]]:
        """For questions: the `place` of each region, that of its first pixel or voxel, and its `size`."""
        place = np.full(self.graph.n, -1, np.int64)
        flat = np.searchsorted(self.graph.labels, self.regions.ravel())
        flat = np.minimum(flat, self.graph.n - 1)
        known = np.flatnonzero(self.graph.labels[flat] == self.regions.ravel())
        present, first = np.unique(flat[known], return_index=True)
        place[present] = known[first]
        axes = (axis.tolist() for axis in np.unravel_index(place, self.regions.shape))
        return {"place": [str(one) for one in zip(*axes, strict=True)], "size": self.graph.sizes.tolist()}

    def places(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """For questions about pairs of regions: a place of each region beside their boundary, shape (k, 2, axes)."""
        return places_between(self.graph.elements(), pairs)

    def pictures(self, pairs: NDArray[np.int64]) -> list[bytes]:
        """For questions: the surroundings of the boundary of each pair as PNG; of volumes, in three slices."""
        below = np.asarray(self.boundary if self.image is None else self.image, np.float64)
        below = below.mean(axis=-1) if below.ndim > self.labels.ndim else below
        low, high = float(below.min()), float(below.max())
        shades = np.minimum((below - low) / max(high - low, 1e-300) * SHADES, SHADES - 1).astype(np.uint8)
        elements, middle = self.graph.elements(), self.places(pairs)[:, 0]
        return [picture_between(elements, shades, pair.tolist(), x) for pair, x in zip(pairs, middle, strict=True)]

    def by_element(self, answers: Any) -> dict[str, list[Any]]:
        """A table of answers about places as one about regions, the elements of the problem."""
        return by_region(answers, self.graph, self.regions)

    def outlines(self) -> tuple[str, bytes]:
        """The contents for a report: a caption, and the picture of :meth:`plot` as PNG."""
        figure = picture()
        self.plot(ax=figure.add_subplot())
        stream = io.BytesIO()
        figure.savefig(stream, format="png", dpi=100, bbox_inches="tight", metadata={"Software": None})
        what = (
            "Lines are borders of segments" if self.labels.ndim == 2 else "Lines are borders of segments in one slice"
        )
        return f"{what}. Elements of the problem are regions, numbered from 0.", stream.getvalue()


@with_options(RequirementOptions)
def segment(
    boundary: Any = None,
    *,
    regions: ArrayLike | None = None,
    affinities: ArrayLike | None = None,
    offsets: Any = None,
    image: ArrayLike | None = None,
    threshold: float = 0.5,
    spacing: Sequence[float] | None = None,
    mask: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    answers: Any = None,
    error: float = 0.0,
    method: str = "auto",
    time_limit: float | None = None,
    seed: int | None = None,
    callback: Callable[[float, float], object] | None = None,
    blocks: Any = None,
    client: Any = None,
    workers: int | None = None,
    memory_limit: str | float | None = None,
    output: str | os.PathLike[str] | None = None,
    work_folder: str | os.PathLike[str] | None = None,
    **requirements: Unpack[RequirementOptions],
) -> Any:
    """Segment a picture or a volume.

    Parameters
    ----------
    boundary : array_like of float, of 2 or 3 axes; or a photograph, shape (height, width, 3); or a path
        The probability of a boundary at each pixel or voxel, from 0 to 1. A photograph in colour becomes a boundary map
        by :func:`boundaries`, and differences between the colours of regions count, too. So do integers of 8 or 16
        bits whose median is in the middle, from 0.2 to 0.8 of 255 or of the largest: few pixels of a map are
        boundaries. Pass other pictures and volumes of grey values as `image`. The file of a picture (png, jpg, tif,
        ...) is read; if it is no photograph, it is a boundary map, whose largest integer is a certain boundary. A zarr
        array or a npy file is processed in blocks.
    regions : array_like of int, optional
        Regions that are not to be divided, superpixels for example; 0 is no region. Default: those of
        :func:`watershed`.
    affinities : array_like, shape (k, ...), optional
        Instead of a boundary map, see :func:`region_graph`. Those at offsets to neighbours decide. Those at larger
        offsets are features of the pairs of regions that touch; all of them are in ``.graph.far``.
    offsets : array_like of int, shape (k, 2) or (k, 3), optional
    image : array_like, optional
        With a boundary map or affinities: a picture of which differences between regions become features in
        ``.graph``; costs do not depend on it. Without them: the picture or volume to segment, or its path, in colour
        or in grey values of any type, which becomes a boundary map as a photograph does.
    threshold : float
        The boundary probability from which on regions are kept apart: two regions attract if a quarter of their common
        boundary or more has a lower probability. Larger thresholds make fewer segments. Default 1/2.
    spacing : sequence of float, optional
        The size of a voxel along each axis, for example ``(40, 4, 4)``; default: ones.
    mask : array_like of bool, optional
        True where there is something to segment; elsewhere the label is 0.
    classes : array_like of float, shape (..., L), optional
        The probability of each of L classes at each pixel or voxel. Each segment then has one class, and ``.classes``
        is an array of the shape of the input. Segments and classes are found together. Not with `answers`, `blocks`,
        and requirements other than `together`, `apart` and `groups`.
    method, time_limit, seed, callback
        As for :func:`graphpart.solve`; with `classes` a method for labelled partitions.
    answers, error
        Answers of people about pairs of regions, as :func:`graphpart.answers.answered` takes them. Elements are
        regions, numbered from 0, or places: tuples such as (row, column), or their texts, which remain valid if regions
        change. If the table has the columns `left_place` and `right_place`, as questions about segments have them,
        these are used. Not with `blocks`.
    blocks : sequence of int, optional
        The shape of blocks in which a large volume is processed; then `boundary` is any array with a shape that can be
        sliced, such as a zarr array, or the path of one. See :func:`segment_blocks`, also for what follows.
    client, workers, memory_limit, output, work_folder
        With `blocks` only.
    **requirements
        What segments must obey, as :meth:`graphpart.SetPartition.require` takes it; the elements are regions, numbered
        from 0, so that `max_size` counts regions, not pixels. Not with `blocks`.

    Returns
    -------
    Segmentation
        ``.labels`` is an array of the shape of the input. With `blocks`, a :class:`BlockSegmentation`, whose labels are
        a zarr array.

    Raises
    ------
    InvalidProblem
        If values are no probabilities, shapes differ, a region is not connected, or an offset reaches beyond the shape.
    InvalidOption
        If an argument has no meaning.
    MissingDependency
        If bioimage-cpp or scikit-image is needed and not installed: ``pip install 'graphpart[images]'``.

    Examples
    --------
    >>> import numpy as np
    >>> boundary = np.zeros((20, 40))
    >>> boundary[:, 20] = 0.9
    >>> s = segment(boundary)
    >>> s
    Segmentation(2 segments of 2 regions, shape (20, 40), optimal)
    >>> s.labels[0, ::10].tolist()
    [1, 1, 2, 2]

    With the probabilities of two classes:

    >>> road = np.where(np.arange(40) < 30, 0.9, 0.2) * np.ones((20, 1))
    >>> s = segment(boundary, classes=np.stack([road, 1 - road], axis=-1))
    >>> s.n_segments, s.classes[0, ::10].tolist()
    (2, [0, 0, 0, 0])
    """
    by_block = {"client": client, "workers": workers, "memory_limit": memory_limit}
    by_block |= {"output": output, "work_folder": work_folder}
    if isinstance(image, str | os.PathLike):
        image = read_array(image)
    is_image = image is not None and all(given is None for given in (boundary, affinities, offsets, blocks))
    if is_image:
        boundary, image = image, None
    if blocks is None and isinstance(boundary, str | os.PathLike) and is_picture(boundary):
        boundary = map_of(read_array(boundary), os.fspath(boundary))
    if blocks is not None or isinstance(boundary, str | os.PathLike):
        from graphpart.images.blockwise import segment_blocks

        beside: dict[str, Any] = {"affinities": affinities, "offsets": offsets, "regions": regions, "image": image}
        beside |= {"answers": answers, "classes": classes}
        for name, value in {**beside, **requirements}.items():
            if value is not None:
                raise InvalidOption(f"{name} is given with blocks: expected a boundary map only")
        given = {name: value for name, value in by_block.items() if value is not None}
        if blocks is not None:
            given["blocks"] = blocks
        return segment_blocks(boundary, threshold=threshold, spacing=spacing, mask=mask, time_limit=time_limit, **given)
    for name, value in by_block.items():
        if value is not None:
            raise InvalidOption(f"{name} is given without blocks: expected the shape of the blocks, too")
    photograph = None
    if affinities is not None or offsets is not None:
        if boundary is not None:
            raise InvalidOption("boundary and affinities are both given: expected one of them")
        values, steps = affinities_of(affinities, offsets)
        shape = values.shape[1:]
        near = [k for k, step in enumerate(steps) if sum(map(abs, step)) == 1]
        if not near:
            raise InvalidProblem(f"offsets has no neighbours such as {(0,) * (len(shape) - 1) + (1,)}: expected some")
        heights = 1 - values[near].mean(axis=0)
        evidence: dict[str, Any] = {"affinities": values, "offsets": steps}
    else:
        if boundary is None:
            raise InvalidOption("nothing is given: expected a boundary map, an image, or affinities with offsets")
        array = np.asarray(boundary)
        if array.ndim == 3 and array.shape[0] in (3, 4) and array.shape[-1] > 4:
            name = "image" if is_image else "boundary"
            text = f"{name} has shape {array.shape}: read as a volume of {array.shape[0]} slices"
            warn(f"{text}; if these are colours, they come last: numpy.moveaxis(photo, 0, -1)")
        if is_image or is_photograph(array) or is_grey_photograph(array):
            photograph, channels = array, lightness_and_colour(array)
            if not is_image and not is_photograph(array):
                warn_of_lines(channels[..., 0])
            array = edges_of(channels)
        heights = probabilities_of(array)
        shape = heights.shape
        evidence = {"boundary": heights}
    sizes = spacing_of(spacing, len(shape))
    inside = None if mask is None else mask_of(mask, shape)
    if inside is not None and not inside.any():
        raise InvalidProblem("mask is False everywhere: expected something to segment")
    chosen = np.asarray(regions) if regions is not None else flooded(heights, sizes, inside)
    if inside is not None and regions is not None:
        chosen = np.where(inside, chosen, 0)
    graph = region_graph(chosen, **evidence, image=image, spacing=sizes)
    costs = graph.costs(threshold)
    if photograph is not None:
        costs = costs + colour_costs(graph, channels)
    problem: SetPartition | LabeledPartition
    if classes is not None:
        if answers is not None:
            raise InvalidOption("answers and classes are both given: expected one of them")
        problem = with_classes(graph, costs, classes, requirements)
    else:
        problem = graph.problem(costs, **requirements)
        if answers is not None:
            problem = answered(problem, by_region(answers, graph, chosen), error=error)
    result = run(problem, method, time_limit=time_limit, seed=seed, callback=callback)
    assert isinstance(result, PartitionResult)
    if photograph is not None and not is_image and not is_photograph(photograph):
        said = "read as a grey photograph; if it is a boundary map, pass boundary / 255"
        result = replace(result, message="; ".join(filter(None, [result.message, said])))
    if graph.n == 1 and regions is None and heights.size > 1:
        if is_image:
            warn("the image has no edge that divides it, so all is one segment")
        else:
            warn_of_one_region(heights)
    elif photograph is None and threshold <= 0.5 and classes is None and not requirements:
        check_values(heights, graph, result.n_clusters, affinities is None, threshold)
    return Segmentation(
        graph.project(result), chosen, graph, problem, result, heights, photograph if image is None else image
    )
