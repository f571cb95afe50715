"""Inequalities of cycles for integer programs, as rows: those that are violated, by the kernels of `bounds`.

If all pairs are variables, the triangle inequalities imply those of all cycles (Grötschel & Wakabayashi 1989); if only
some pairs are, those of the chordless cycles imply all others (Chopra & Rao 1993).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from graphpart.common.groups import group
from graphpart.kernels._pairs import CompressedRows
from graphpart.partition.bounds import _cuts, _kernels
from graphpart.partition.bounds.relaxation import PARAMETERS
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.stopping import Stopping

__all__ = ["Rows", "all_triangles", "rows_of", "violated"]

Rows = tuple[csr_array, NDArray[np.float64]]
Floats = NDArray[np.float64]
Elements = NDArray[np.int32]


def all_triangles(n: int) -> Inequalities:
    """The 3 C(n, 3) triangle inequalities of n elements."""
    b, c = np.triu_indices(n, 1)
    middle = np.arange(n)[:, None]
    a, pair = np.nonzero((middle != b) & (middle != c))
    return _triangles(np.stack([b[pair], a, c[pair]], 1).astype(np.int32))


def violated(y: Floats, u: Elements, v: Elements, n: int) -> Inequalities:
    """For each pair, the most violated inequality that says that it is joined, if there is one.

    Parameters
    ----------
    y : ndarray of float64, shape (m,)
        The values of the pairs {u, v} that are variables, which are sorted. If these are all pairs, only triangles are
        looked for.
    """
    y, tolerance = np.clip(y, 0.0, 1.0), PARAMETERS.finest
    if len(y) == n * (n - 1) // 2:
        Y = np.zeros((n, n))
        Y[u, v] = Y[v, u] = y
        return _triangles(_cuts.triangles(Y, tolerance, Stopping())[0])
    paths, closing, length = np.flatnonzero(y > tolerance), np.flatnonzero(y < 1.0 - tolerance), 1.0 - y
    ends, others = np.concatenate([u[paths], v[paths]]), np.concatenate([v[paths], u[paths]])
    order, starts = group(ends, n)
    ways = CompressedRows(starts, others[order], np.tile(length[paths], 2)[order])
    closed = CompressedRows(np.searchsorted(u[closing], np.arange(n + 1)), v[closing], length[closing])
    return Inequalities.cycles(*_kernels.cycles(ways, closed, tolerance, n, Stopping())[:2])


def rows_of(found: Inequalities, u: Elements, v: Elements, n: int, columns: int) -> Rows:
    """Inequalities as rows over the pairs {u, v}, which are sorted, and further columns of zeros."""
    starts, keys, signs, rhs = found.terms(n)
    indices = np.searchsorted(u * np.int64(n) + v, keys)
    return csr_array((signs.astype(np.float64), indices, starts), shape=(len(found), columns)), rhs


def _triangles(elements: Elements) -> Inequalities:
    """The first and last element of each row are joined if both are joined to the middle one."""
    return Inequalities.cycles(np.arange(len(elements) + 1, dtype=np.int64) * 3, elements.ravel())
