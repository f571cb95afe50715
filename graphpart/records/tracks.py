"""Detections of objects in the frames of a recording, linked to tracks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, warn
from graphpart.partition.default import auto
from graphpart.partition.problem import SetPartition
from graphpart.result import PartitionResult

__all__ = ["link_detections"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
NEAR, FAR = 3, 10  # most frames between two detections of a pair: by distance, and by direction
FASTEST = 4 / 3  # steps for each frame that a pair may be apart
ERROR = 5 / 3  # steps from where the velocity of a detection leads, up to which a pair attracts
MOST = 2**53  # numbers of frames are smaller
ROUNDS = 2  # of solutions by direction


def link_detections(
    frame: ArrayLike, place: ArrayLike, step: float, *, time_limit: float | None = None
) -> PartitionResult:
    """Tracks: clusters of the detections of one object, at most one of a frame.

    Parameters
    ----------
    frame : array_like of int, shape (n,)
        The frame of each detection, in any order.
    place : array_like of float, shape (n, d)
    step : float
        How far objects move from a frame to the next, at most but for a third more, in units of `place`.
    time_limit : float, optional
        Seconds, a third for each of the three solutions. Default: as for :func:`graphpart.solve`.

    Returns
    -------
    PartitionResult
        Its clusters are the tracks. Of one or two detections, they are mostly false detections.

    Raises
    ------
    InvalidProblem
        If the arrays do not fit, or a place is not finite.
    InvalidOption
        If `step` is not a positive number.

    Warns
    -----
    GraphPartWarning
        If no two detections are near enough.

    Notes
    -----
    The first solution is by distance: pairs up to 3 frames apart attract if they are nearer than `step` for each frame.
    Its tracks tell the velocity at each detection, by least squares over its nearest five of the track. For two further
    solutions, pairs up to 10 frames apart attract if each, moved by its velocity, comes within 5/3 steps of the other.
    Of detections in tracks of less than four no velocity is known; pairs of two of these are as in the first solution.

    Examples
    --------
    >>> import graphpart as gp
    >>> frame, place, truth = gp.generate.tracks(objects=3, frames=20, seed=0)
    >>> r = link_detections(frame, place, 0.03)
    >>> len({(k, f) for k, f in zip(r.labels.tolist(), frame.tolist())}) == len(frame)
    True
    """
    if hasattr(frame, "columns") or np.asarray(place).dtype.kind in "OUS":
        raise InvalidProblem(
            "expected the frames of detections and their places, no names of columns: for a data frame t, "
            'link_detections(t["frame"], t[["x", "y"]], step)'
        )
    at = np.asarray(frame)
    where = np.asarray(place, np.float64)
    if at.ndim != 1 or where.ndim != 2 or len(at) != len(where):
        raise InvalidProblem(
            f"frame has shape {at.shape}, place {where.shape}: expected a frame and the coordinates of each detection"
        )
    if at.dtype.kind not in "iuf" or not ((at == np.round(at)) & (at > -MOST) & (at < MOST)).all():
        raise InvalidProblem("frame is not of whole numbers: expected the number of the frame of each detection")
    if not np.isfinite(where).all():
        raise InvalidProblem(f"place {int(np.argmin(np.isfinite(where).all(axis=1)))} is not finite")
    if not (isinstance(step, int | float | np.number) and 0 < step < np.inf):
        raise InvalidOption(f"step is {step!r}: expected a positive number, how far objects move in a frame")
    at = at.astype(np.int64)
    groups = np.unique(at, return_inverse=True)[1]
    seconds = None if time_limit is None else time_limit / (1 + ROUNDS)
    a, b = _pairs(at, where, step)
    gap, apart = at[b] - at[a], np.linalg.norm(where[b] - where[a], axis=1)
    near, by_distance = gap <= NEAR, apart / (step * gap) - 1.0
    if len(at) > 1 and not (by_distance < 0).any():
        warn(f"step is {step:g}: no two detections are that near for each frame between them, so nothing is linked")
    r = auto(SetPartition.from_pairs(len(at), (a[near], b[near]), by_distance[near], groups=groups), time_limit=seconds)
    for _ in range(ROUNDS):
        v = _velocities(at, where, r.labels)
        ahead = np.linalg.norm(where[a] + v[a] * gap[:, None] - where[b], axis=1)
        back = np.linalg.norm(where[b] - v[b] * gap[:, None] - where[a], axis=1)
        costs = np.fmax(ahead, back) / (ERROR * step) - 1.0  # NaN if neither has a velocity
        costs = np.where(np.isnan(costs) & near, by_distance, costs)
        kept = costs < 0
        r = auto(SetPartition.from_pairs(len(at), (a[kept], b[kept]), costs[kept], groups=groups), time_limit=seconds)
    return r


def _pairs(at: Indices, where: Array, step: float) -> tuple[Indices, Indices]:
    """Pairs up to `FAR` frames apart, the earlier one first, that an object would be slow enough for."""
    order = np.argsort(at, kind="stable")
    frames, starts = np.unique(at[order], return_index=True)
    members = np.split(order, starts[1:])
    found: list[tuple[Indices, Indices]] = []
    for k, one in enumerate(frames.tolist()):
        for j in range(k + 1, int(np.searchsorted(frames, one + FAR, side="right"))):
            apart = np.linalg.norm(where[members[k]][:, None] - where[members[j]], axis=2)
            u, v = np.nonzero(apart < FASTEST * step * (frames[j] - one))
            found.append((members[k][u], members[j][v]))
    if not found:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    a, b = zip(*found, strict=True)
    return np.concatenate(a), np.concatenate(b)


def _velocities(at: Indices, where: Array, labels: NDArray[np.integer[Any]]) -> Array:
    """The velocity at each detection, by least squares over the nearest five of its track; NaN of short tracks."""
    found = np.full(where.shape, np.nan)
    order = np.argsort(labels, kind="stable")
    for track in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        for i in track if len(track) >= 4 else ():
            near = track[np.argsort(np.abs(at[track] - at[i]), kind="stable")[:5]]
            time = at[near] - at[near].mean()
            found[i] = time @ (where[near] - where[near].mean(axis=0)) / (time @ time)
    return found
