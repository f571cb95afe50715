"""The graph of regions that touch, with features of their boundaries and of both sides.

1. Regions are numbers from 1; 0 is no region. Each region has to be connected, also along edges and corners.
2. Two regions touch if a voxel of one is a neighbour of a voxel of the other along an axis: a contact. In one pass over
   all voxels, the contacts of each pair of regions are counted and their values are summed up; see `statistics`.
3. The value of a contact is the larger boundary probability of its two voxels, or 1 minus their affinity.
4. Affinities of voxels that are not neighbours are summed up for each pair of regions beside the contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.common.columns import Columns
from graphpart.display import html_of, plural
from graphpart.errors import InvalidOption, InvalidPartition, InvalidProblem, known_arguments
from graphpart.images._contacts import Contacts, count_pieces
from graphpart.images.checks import (
    affinities_of,
    check_shape,
    check_threshold,
    probabilities_of,
    regions_of,
    spacing_of,
    three,
)
from graphpart.images.filters import edge_strengths, grey
from graphpart.images.statistics import FIXED, QUANTILES, Statistics, with_far
from graphpart.partition.problem import SetPartition, costs_from_probabilities
from graphpart.partition.problem.requirements import RequirementOptions, with_options
from graphpart.result import PartitionResult

__all__ = ["RegionGraph", "boundary_costs", "region_graph"]

CLIP = 0.001  # boundary probabilities from here to 1 minus this: a unit of length costs at most 10 bits
DECIDES = "q25"  # feature from which costs are computed

Floats = NDArray[np.float64]


class RegionGraph:
    """Regions, pairs of regions that touch, and features of these pairs; made by :func:`region_graph`.

    Attributes
    ----------
    n : int
        Number of regions.
    labels : ndarray, shape (n,)
        The label of each region in the input, ascending. Element i of a problem is the region with label ``labels[i]``.
    pairs : ndarray of int32, shape (m, 2)
        Pairs of elements that touch, ascending.
    sizes : ndarray of int64, shape (n,)
        Number of pixels or voxels of each region.
    columns : Columns
        The features by name, each an array of shape (m,).
    far : Columns or None
        Pairs of elements, ``element`` and ``other``, with the number and the mean of the values (1 minus the affinity)
        at offsets beyond the neighbours, also of regions that do not touch. These pairs have no cost by default;
        ``problem.require(lifted=(pairs, costs))`` adds costs that do not connect, as :class:`SetPartition` has them.
    """

    def __init__(
        self,
        regions: NDArray[np.int32],
        names: NDArray[Any],
        statistics: Statistics,
        spacing: tuple[float, ...],
        valued: bool,
        image: Any = None,
        far: Statistics | None = None,
    ) -> None:
        self.shape, self.spacing, self.valued = regions.shape, spacing, valued
        self._regions = regions
        sizes = checked_sizes(three(regions), names)
        elements = np.flatnonzero(sizes)
        elements = elements[elements > 0]
        self._element = np.full(len(sizes), -1, np.int32)
        self._element[elements] = np.arange(len(elements), dtype=np.int32)
        self.labels, self.sizes, self.n = names[elements], sizes[elements], len(elements)
        self.statistics = statistics
        self.pairs = self._element[statistics.pairs].reshape(-1, 2)
        self.far = None if far is None else self._far(far)
        sides = None if image is None else channel_means(regions, image, sizes)
        if sides is not None:
            sides = sides[0][elements], sides[1][elements]
        self.columns = Columns(self._features(sides, far))
        self._pictures: dict[str, Any] = {}  # by name, of which `edges` are features

    def _far(self, far: Statistics) -> Columns:
        pairs = self._element[far.pairs].reshape(-1, 2)
        return Columns({"element": pairs[:, 0], "other": pairs[:, 1], "number": far.length, "mean": far.mean()})

    def _features(self, sides: tuple[Floats, Floats] | None, far: Statistics | None) -> dict[str, NDArray[Any]]:
        table = self.statistics
        u, v = self.pairs.T
        found: dict[str, NDArray[Any]] = {"length": table.length, "area": table.area(self.spacing)}
        if self.valued:
            found |= table.features()
        small, large = np.sort(self.sizes[self.pairs], axis=1).T
        found |= {"smaller": small, "larger": large}
        if sides is not None:
            means, squares = sides
            gap = np.abs(means[u] - means[v])
            found["difference"] = np.sqrt((gap**2).sum(axis=1))
            if gap.shape[1] > 1:
                found |= {f"difference_{k}": gap[:, k].copy() for k in range(gap.shape[1])}
            spread = np.sqrt(np.maximum(squares - means**2, 0).sum(axis=1))
            found |= {"spread": (spread[u] + spread[v]) / 2, "spread_difference": np.abs(spread[u] - spread[v])}
        if far is not None:
            both = with_far(table, far, len(self._element))
            number, total = both.length - table.length, both.sums[:, 0] - table.sums[:, 0]
            mean = np.where(number > 0, total / FIXED / np.maximum(number, 1), found["mean"])  # the best guess
            found |= {"far_number": number, "far_mean": mean}
        return found

    def __repr__(self) -> str:
        return f"RegionGraph({plural(self.n, 'region')}, {plural(self.m, 'pair')} that touch, shape {self.shape})"

    def _repr_html_(self) -> str:
        """For notebooks: the regions that touch most, with the boundary value that decides."""
        title = f"RegionGraph: {plural(self.n, 'region')}, {plural(self.m, 'pair')} that touch"
        facts = {"shape": " x ".join(map(str, self.shape)), "to make a problem": "problem()"}
        most = np.argsort(-self.weights, kind="stable")[:10]
        rows = [(*self.pairs[k].tolist(), float(self.weights[k]), float(self.columns[DECIDES][k])) for k in most]
        return html_of(title, facts, ("region", "region", "length", DECIDES), rows)

    @property
    def m(self) -> int:
        """The number of pairs that touch."""
        return len(self.pairs)

    @property
    def features(self) -> Any:
        """The features as a data frame, one row for each pair: of pandas, or of polars; a dict if neither is installed.

        `length` is the number of contacts, `area` the area of their faces in units of `spacing`. Of the boundary values
        of the contacts there are `mean`, `std`, `min`, `q10`, `q25`, `median`, `q75`, `q90` and `max`. `smaller` and
        `larger` are the sizes of both regions. With an image, `difference` is the distance between the mean colours of
        both, ``difference_0``, ... is that of each channel, `spread` the mean of the standard deviations of both, and
        `spread_difference` their difference. With affinities at offsets beyond the neighbours there are `far_number`
        and `far_mean`.
        """
        return self.columns.to_frame()

    @cached_property
    def edges(self) -> dict[str, Floats]:
        """Strengths of edges in the boundary map and in the image, as features of pairs; see `filters`.

        O(voxels), when they are first asked for.
        """
        return {
            f"{name}_edges_{key}": column
            for name, picture in self._pictures.items()
            for key, column in edge_strengths(self._regions, grey(picture, self.shape)).items()
        }

    def costs(self, threshold: float = 0.5) -> Floats:
        """Costs from boundary probabilities, weighted by length.

        The cost of a pair is the log-odds of a boundary, in bits, minus those of the threshold, times the area of the
        boundary relative to that of a mean face of a voxel. The probability of a boundary is the lower quartile of its
        values: two cells are one if there is a hole in the wall between them, and a quarter of a boundary is a hole
        that noise rarely makes. The mean, which is usual, separates two pieces of one cell if most of the boundary
        between them only resembles a wall. Affinities at offsets beyond the neighbours do not count: they tell about
        pairs of voxels that may lie behind a third region, and are features.

        Parameters
        ----------
        threshold : float
            The boundary probability that costs 0. Pairs with a lower one attract, so larger thresholds join more.

        Returns
        -------
        ndarray of float64, shape (m,)

        Raises
        ------
        InvalidOption
            If the graph has no boundary values, or the threshold is not between 0 and 1.
        """
        if not self.valued:
            raise InvalidOption("the region graph has no boundary values: pass boundary or affinities to region_graph")
        return _log_odds(self.columns[DECIDES], threshold) * self.weights

    @property
    def weights(self) -> Floats:
        """The area of each boundary, in mean faces of a voxel."""
        return relative_area(self.columns["area"], self.spacing)

    @with_options(RequirementOptions)
    def problem(self, costs: ArrayLike | None = None, **requirements: Unpack[RequirementOptions]) -> SetPartition:
        """The set partition problem over the regions, which are its elements.

        Parameters
        ----------
        costs : array_like, shape (m,), optional
            A cost for each of `pairs`; default: :meth:`costs`. Negative costs join.
        **requirements
            What segments must obey, as :meth:`graphpart.SetPartition.from_pairs` takes it. With ``connected=True``, or
            with `lifted`, costs of pairs of regions that need not touch, every segment hangs together by regions that
            touch.

        Raises
        ------
        InvalidProblem
            If there is not one cost for each pair, or one is NaN.
        """
        given = self.costs() if costs is None else np.asarray(costs)
        if given.shape != (self.m,):
            raise InvalidProblem(f"costs has shape {given.shape}: expected ({self.m},), one for each pair that touches")
        u, v = np.ascontiguousarray(self.pairs.T)
        return SetPartition.from_pairs(self.n, (u, v), given, dense=False, **requirements)

    def elements(self) -> NDArray[np.int32]:
        """The element of each voxel, as an array of the shape of the input; -1 where there is no region."""
        elements: NDArray[np.int32] = self._element[self._regions]
        return elements

    def project(self, labels: Any) -> NDArray[np.int32]:
        """Labels of the regions as an array of the shape of the input.

        Parameters
        ----------
        labels : Result or array_like of n integers
            One for each region, at least 0.

        Returns
        -------
        ndarray of int32
            The label of the region of each voxel plus 1, and 0 where there is no region.
        """
        of_regions = np.asarray(labels.labels if isinstance(labels, PartitionResult) else labels)
        if of_regions.shape != (self.n,) or of_regions.dtype.kind not in "iu":
            raise InvalidPartition(
                f"labels has shape {of_regions.shape} and dtype {of_regions.dtype}: expected ({self.n},) integers, one "
                "for each region"
            )
        if of_regions.size and int(of_regions.min()) < 0:
            raise InvalidPartition(f"a label is {of_regions.min()}: expected numbers of at least 0")
        table = np.zeros(len(self._element), np.int32)
        table[self._element >= 0] = of_regions + 1
        return table[self._regions]


def boundary_costs(statistics: Statistics, spacing: Sequence[float], threshold: float) -> Floats:
    """The costs of :meth:`RegionGraph.costs`, from statistics alone."""
    apart = statistics.quantiles([QUANTILES[DECIDES]])[0]
    return _log_odds(apart, threshold) * relative_area(statistics.area(spacing), spacing)


def _log_odds(apart: Floats, threshold: float) -> Floats:
    check_threshold(threshold)
    return costs_from_probabilities(1 - apart, threshold=1 - threshold, clip=CLIP)


def relative_area(area: Floats, spacing: Sequence[float]) -> Floats:
    """Areas in mean faces of a voxel."""
    sizes = np.array(spacing)
    relative: Floats = area / float(np.mean(sizes.prod() / sizes))
    return relative


@known_arguments
def region_graph(
    regions: ArrayLike,
    boundary: ArrayLike | None = None,
    *,
    affinities: ArrayLike | None = None,
    offsets: Any = None,
    image: ArrayLike | None = None,
    spacing: Sequence[float] | None = None,
) -> RegionGraph:
    """Find pairs of regions that touch, and features of their boundaries.

    Parameters
    ----------
    regions : array_like of int, of 2 or 3 axes
        The region of each pixel or voxel: superpixels, watershed regions. 0 is no region.
    boundary : array_like of the same shape, optional
        The probability of a boundary, from 0 to 1.
    affinities : array_like, shape (k, ...), optional
        Instead of a boundary: ``affinities[i][x]`` is the probability that x and ``x + offsets[i]`` belong together.
    offsets : array_like of int, shape (k, 2) or (k, 3)
        Those of affinities, such as ``[(1, 0), (0, 1), (9, 0)]``.
    image : array_like of the same shape, or with an axis of channels in addition, optional
        A picture or volume of which differences between regions are features.
    spacing : sequence of float, optional
        The size of a voxel along each axis, for example ``(40, 4, 4)``; default: ones.

    Returns
    -------
    RegionGraph
        ``.features`` is a frame with a row for each pair, ``.problem(costs)`` a SetPartition, and ``.project(labels)``
        an array of the shape of `regions`.

    Raises
    ------
    InvalidProblem
        If shapes differ, values are no probabilities, an offset reaches beyond the shape, or a region is not connected.
    InvalidOption
        If boundary and affinities are both given, or one of affinities and offsets is missing.

    Notes
    -----
    One pass over the voxels, and a hash table with about 350 bytes for each pair. 10^8 voxels take 2 seconds.

    Examples
    --------
    >>> import numpy as np
    >>> regions = np.array([[1, 1, 2], [3, 3, 2]])
    >>> boundary = np.array([[0.0, 0.9, 0.9], [0.1, 0.2, 0.8]])
    >>> g = region_graph(regions, boundary)
    >>> g.labels.tolist(), g.pairs.tolist()
    ([1, 2, 3], [[0, 1], [0, 2], [1, 2]])
    >>> g.columns["length"].tolist(), g.columns["max"].round(1).tolist()
    ([1, 2, 1], [0.9, 0.9, 0.8])
    >>> g.project([0, 1, 0])
    array([[1, 1, 2],
           [1, 1, 2]], dtype=int32)
    """
    array, names = regions_of(regions)
    shape = array.shape
    volume, core = three(array), three(array).shape
    table, far = Contacts(), None
    sized = spacing_of(spacing, array.ndim)
    if boundary is not None and (affinities is not None or offsets is not None):
        raise InvalidOption("boundary and affinities are both given: expected one of them")
    if affinities is not None or offsets is not None:
        values, steps = affinities_of(affinities, offsets, shape)
        near = [k for k, step in enumerate(steps) if sum(map(abs, step)) == 1]
        if not near:
            raise InvalidProblem(f"offsets has no neighbours such as {(0,) * (array.ndim - 1) + (1,)}: expected some")
        far = Contacts() if len(near) < len(steps) else None
        for k, step in enumerate(steps):
            place = table if k in near else far
            assert place is not None
            place.add_offset(volume, three(1 - values[k]), (0,) * (3 - len(step)) + step, core)
    else:
        values_of_boundary = None if boundary is None else three(probabilities_of(boundary, "boundary", shape))
        table.add(volume, values_of_boundary, core)
    valued = boundary is not None or affinities is not None
    beyond = None if far is None else Statistics.of(far)
    graph = RegionGraph(array, names, Statistics.of(table), sized, valued, image, beyond)
    graph._pictures = {
        name: picture for name, picture in (("boundary", boundary), ("image", image)) if picture is not None
    }
    return graph


def checked_sizes(volume: NDArray[np.int32], names: NDArray[Any]) -> NDArray[np.int64]:
    """The number of voxels of each region.

    Raises
    ------
    InvalidProblem
        If a region has several pieces, unless all of them reach the border, as cropping leaves them.
    """
    sizes, pieces, inner = count_pieces(volume, len(names), False)
    if ((pieces > 1) & (inner > 0)).any():  # corners take longer and are rarely needed
        _, pieces, inner = count_pieces(volume, len(names), True)
    apart = np.flatnonzero((pieces > 1) & (inner > 0))
    if apart.size:
        more = f" ({len(apart)} regions are like that)" if apart.size > 1 else ""
        raise InvalidProblem(
            f"region {names[apart[0]]} has {pieces[apart[0]]} pieces that do not touch{more}: expected connected "
            "regions; skimage.measure.label(regions) makes each piece a region"
        )
    return sizes


def channel_means(regions: NDArray[np.int32], image: Any, sizes: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The means, by region and channel, of an image and of its squares."""
    sums, squares = channel_sums(regions, image, len(sizes))
    number = np.maximum(sizes, 1)[:, None]
    return sums / number, squares / number


def channel_sums(regions: NDArray[np.int32], image: Any, regions_number: int) -> tuple[Floats, Floats]:
    """The sums, by region and channel, of an image and of its squares."""
    array = np.asarray(image)
    if array.dtype.kind not in "fiub":
        raise InvalidProblem(f"image has dtype {array.dtype}: expected numbers")
    if array.ndim == regions.ndim:
        array = array[..., None]
    check_shape(array[..., 0], "image", regions.shape)
    if not np.isfinite(array).all():
        raise InvalidProblem("image has a value that is NaN or infinite: expected numbers")
    flat = regions.ravel()
    channels = [array[..., k].ravel().astype(np.float64) for k in range(array.shape[-1])]
    sums = [np.bincount(flat, channel, regions_number) for channel in channels]
    squares = [np.bincount(flat, channel**2, regions_number) for channel in channels]
    return np.stack(sums, axis=1), np.stack(squares, axis=1)
