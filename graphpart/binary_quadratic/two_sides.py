"""A binary quadratic form as two sides of a signed graph, and back.

With ``[x_i != x_j] = x_i + x_j - 2 x_i x_j``, a form ``constant + sum h_i x_i + sum J_ij x_i x_j`` is paid on edges of
weight ``-J_ij / 2`` between variables and ``h_i + sum_j J_ij / 2`` between variable i and one more node. The label of a
variable is 1 if it is on another side than that node.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph

__all__ = ["labels_of_sides", "sides_of_labels", "signed_graph"]


def signed_graph(q: QuadraticForm) -> SignedGraph:
    """The signed graph of a form; the last node stands for label 0. O(n + m)

    Examples
    --------
    >>> q = QuadraticForm.from_pairs(np.array([1.0, -4.0]), np.array([0]), np.array([1]), np.array([2.0]), 5.0)
    >>> g = signed_graph(q)
    >>> [g.cost(sides_of_labels(np.array(labels))) for labels in ([0, 0], [0, 1], [1, 0], [1, 1])]
    [5.0, 1.0, 6.0, 4.0]
    """
    u, v, couplings = q.pairs()
    fields = q.linear + np.bincount(q.rows, q.couplings, q.n) / 2
    own = np.flatnonzero(fields).astype(np.int32)
    return SignedGraph.from_pairs(
        q.n + 1,
        np.concatenate([u, own]).astype(np.int32),
        np.concatenate([v, np.full(len(own), q.n)]).astype(np.int32),
        np.concatenate([-couplings / 2, fields[own]]),
        q.constant,
    )


def sides_of_labels(labels: NDArray[Any]) -> Sides:
    """Sides of all variables and of the node that stands for label 0."""
    return np.append(labels != 0, False).astype(np.uint8)


def labels_of_sides(sides: Sides) -> NDArray[np.int32]:
    """Labels 0 and 1 of all variables."""
    labels: NDArray[np.int32] = (sides[:-1] ^ sides[-1]).astype(np.int32)
    return labels
