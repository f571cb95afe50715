"""Detections of moving objects in frames: births, deaths, missed detections, false ones, and paths that cross."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.generate.instance import check_integer, check_number, random_generator, standard_normal

__all__ = ["Tracks", "tracks"]


class Tracks(NamedTuple):
    """Detections, sorted by frame: frame, place in the unit square, and object, -1 for a false detection."""

    frame: NDArray[np.int32]
    place: NDArray[np.float64]
    truth: NDArray[np.int32]


def tracks(
    objects: int = 12,
    frames: int = 60,
    missed: float = 0.1,
    false_detections: float = 1.0,
    speed: float = 0.015,
    sigma: float = 0.003,
    seed: int | None = 0,
) -> Tracks:
    """Detections of objects that move on straight lines in the unit square and turn back at its sides.

    An object appears in one of the first frames and disappears in one of the last, at most a quarter of the frames from
    the first and the last one. Objects do not avoid each other, so their paths cross. A detection is the place of an
    object plus Gaussian noise. Some are missing, and in each frame there are some at random places.

    Parameters
    ----------
    objects : int
        Number of objects.
    frames : int
        Number of frames.
    missed : float
        Probability that an object is not detected in a frame.
    false_detections : float
        Mean number of false detections in a frame.
    speed : float
        Largest distance in each direction from one frame to the next.
    sigma : float
        Standard deviation of the noise of places.
    seed : int
        Of the random numbers.

    Returns
    -------
    Tracks

    Raises
    ------
    InvalidOption
        If a parameter is out of range.

    Notes
    -----
    Draws, in this order: places and velocities, first and last frames, noise, missed detections, numbers and places of
    false detections.

    Examples
    --------
    >>> frame, place, truth = tracks(objects=3, frames=8, seed=1)
    >>> place.shape == (len(frame), 2), int(truth.max()), bool((np.diff(frame) >= 0).all())
    (True, 2, True)
    """
    count, length = check_integer("objects", objects, 1), check_integer("frames", frames, 1)
    lost, false = check_number("missed", missed, 0, 1), check_number("false_detections", false_detections, 0)
    fastest, noise = check_number("speed", speed, 0, 0.5), check_number("sigma", sigma, 0)
    rng = random_generator(seed)
    start, velocity = rng.random((count, 2)), fastest * (2.0 * rng.random((count, 2)) - 1.0)
    born, gone = rng.integers(0, 1 + length // 4, count), length - rng.integers(0, 1 + length // 4, count)
    at = np.arange(length)
    way = np.mod(start[:, None] + velocity[:, None] * at[None, :, None], 2.0)  # there and back again
    place = np.minimum(way, 2.0 - way) + noise * standard_normal(rng, (count, length, 2))
    seen = (rng.random((count, length)) >= lost) & (at >= born[:, None]) & (at < gone[:, None])
    most = int(np.ceil(4 * false))  # false detections in a frame
    others = np.repeat(at, (rng.random((length, most)) * most < false).sum(axis=1))
    k, t = np.nonzero(seen)
    frame = np.concatenate([t, others])
    everywhere = np.concatenate([place[k, t], rng.random((len(others), 2))])
    truth = np.concatenate([k, np.full(len(others), -1)])
    order = np.argsort(frame, kind="stable")
    return Tracks(frame[order].astype(np.int32), everywhere[order], truth[order].astype(np.int32))
