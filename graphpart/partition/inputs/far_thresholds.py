"""Warnings of given thresholds that are far from the one that separates near pairs from far pairs.

The path of average linkage (`thresholds.path_threshold`) says for each threshold how well its partition separates near
pairs from far pairs. A given threshold is warned of if its partition does so less than half as well as the best one,
and the best one does so at all. On generated clusters of noisy points in 2 to 64 dimensions, the adjusted Rand index of
such partitions was 0.54 at most, and mostly below 0.2.

A small threshold may be meant for near copies, of which there are few. So one within a gap is not warned of: there are
no pairs of clusters that are a little nearer or a little farther apart. If only some elements are drawn, these hardly
contain both copies. Then a small threshold is warned of only if few elements have another one within it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import warn
from graphpart.partition.inputs.thresholds import drawn, path_of

__all__ = ["told_threshold"]

FEWEST = 30  # elements: among fewer, any partition may be meant
WORSE = 0.5  # of the share of the variance of the best threshold
#: Share of the variance from which on the best threshold says something. Points without clusters have 0.3 at most in 16
#: dimensions and more, 0.4 in 5, and up to 0.6 in 2.
CLEAR = 0.4
GAP = 2.0  # ratio of the next larger distance to the next smaller one
FEW = 0.1  # share of the elements


def told_threshold(given: float, values: NDArray[np.float64], top: float | None = None) -> str:
    """What a problem tells of a given threshold; issues a warning if it is far from what separates the data.

    Parameters
    ----------
    given : float
    values : ndarray of float64, shape (m, n)
        Distances of the elements that `drawn` draws to all; inf from an element to itself.
    top : float, optional
        The threshold is a similarity, and distances are what is missing to this one.

    Notes
    -----
    O(n) for n > 500, else O(n^2).
    """
    told = f"{given:.4g}"
    n = values.shape[1]
    rows = drawn(n)
    if n < FEWEST:
        return told
    square = values[:, rows]
    if not np.isfinite(square[~np.eye(len(rows), dtype=bool)]).all():
        return told
    path = path_of(square)
    distance = given if top is None else top - given
    if path.share < CLEAR or path.share_at(distance) >= WORSE * path.share:
        return told
    if distance < path.threshold:
        nearest = values.min(axis=1)
        if len(rows) < n and (nearest <= distance).mean() > FEW:
            return told
        if _in_gap(path.heights if len(rows) == n else nearest, distance):
            return told
        effect = (
            "hardly any two elements attract each other" if (nearest <= distance).mean() <= FEW else "clusters split"
        )
    else:
        effect = "clusters chain together"
    what, best = ("distances", path.threshold) if top is None else ("similarities", top - path.threshold)
    warn(
        f"threshold is {given:g}, and {effect}: the {what} suggest {best:.3g}, which separates near pairs "
        "from far pairs at least twice as well; without a threshold, it is chosen so"
    )
    return f"{told}, far from {best:.3g} that the data suggest"  # "far from": see `misreadings`


def _in_gap(distances: NDArray[np.float64], limit: float) -> bool:
    """Whether the next distance above the limit is at least twice the next one below it."""
    below, above = distances[distances <= limit], distances[distances > limit]
    return bool(len(below) and len(above) and above.min() >= GAP * below.max())
