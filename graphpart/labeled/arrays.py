"""From the arrays of users to those of a labelled partition: checked, sorted by pairs, one table for each pair.

A table has a row for each class of the element with the smaller index and a column for each class of the other one.
Where a user names the larger index first, the table is transposed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.kernels import LARGEST_INDEX
from graphpart.partition.inputs.arrays import check_pairs, float_array, keys_of_pairs, rows_of_pairs

__all__ = ["Arrays", "PairTables", "checked_arrays", "with_pairs"]

Floats = NDArray[np.float64]
Elements = NDArray[np.int32]
LARGEST_TOTAL = 1e300  # of the sum of absolute finite costs: differences of sums stay finite


class Arrays(NamedTuple):
    """The arrays of a labelled partition, in the order of its pairs; see :class:`LabeledPartition`."""

    label_costs: Floats
    u: Elements
    v: Elements
    joined: Floats
    parted: Floats


class PairTables:
    """What has tables `joined` and `parted` for pairs `u`, `v`: their entries by clusters and classes."""

    __slots__ = ()

    u: Elements
    v: Elements
    joined: Floats
    parted: Floats

    def _entries(self, classes: Elements) -> tuple[Floats, Floats]:
        """The cost of each pair together, and apart, with these classes."""
        at, k, m = np.arange(len(self.u)), classes[self.u], classes[self.v]
        return self.joined[at, k, m], self.parted[at, k, m]

    def _pair_costs(self, labels: Elements, classes: Elements) -> Floats:
        """The cost of each pair with these clusters and classes."""
        return np.where(labels[self.u] == labels[self.v], *self._entries(classes))


def checked_arrays(label_costs: Any, pairs: Any, joined: Any, parted: Any) -> Arrays:
    """The arrays of a problem, each a new one.

    Raises
    ------
    InvalidProblem
        If shapes do not fit each other, a cost is NaN or ``-inf``, a pair is out of range, a self-loop or there twice.
    InfeasibleProblem
        If no class of an element is allowed, or nothing is allowed for a pair.

    Notes
    -----
    O(n L + m log m + m L^2) for L classes.
    """
    own = float_array("label_costs", label_costs, copy=True)
    if own.ndim != 2 or (len(own) and not own.shape[1]):
        raise InvalidProblem(f"label_costs has shape {own.shape}: expected (n, L), a row of L classes for each element")
    n, classes = own.shape
    if n > LARGEST_INDEX:
        raise InvalidProblem(f"label_costs has {n} rows: expected at most {LARGEST_INDEX}")
    _check_costs("label_costs", own)
    ends = _ends(pairs, n)
    tables = [_tables(name, given, len(ends), classes) for name, given in (("joined", joined), ("parted", parted))]
    swapped = ends[:, 0] > ends[:, 1]
    for table in tables:
        table[swapped] = table[swapped].transpose(0, 2, 1)
    ends = np.sort(ends, axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    ends = ends[order]
    if len(same := np.flatnonzero((np.diff(ends, axis=0) == 0).all(axis=1))):
        first, second = sorted(order[same[0] : same[0] + 2].tolist())
        a, b = ends[same[0]].tolist()
        raise InvalidProblem(f"pairs {first} and {second} are both ({a}, {b}): expected each pair once")
    u, v = (np.ascontiguousarray(ends[:, k], np.int32) for k in (0, 1))
    arrays = Arrays(own, u, v, *(np.ascontiguousarray(table[order]) for table in tables))
    with np.errstate(over="ignore"):
        total = sum(float(np.abs(x).sum(where=np.isfinite(x))) for x in (own, arrays.joined, arrays.parted))
    if not total <= LARGEST_TOTAL:
        raise InvalidProblem(f"the absolute costs add up to {total:g}: expected at most {LARGEST_TOTAL:g}")
    return arrays


def check_allowed(arrays: Arrays, nodes: Sequence[Any]) -> None:
    """Raise InfeasibleProblem if no class of an element is allowed, or nothing for a pair; the message names it."""
    if arrays.label_costs.size and len(bad := np.flatnonzero(np.isinf(arrays.label_costs).all(axis=1))):
        raise InfeasibleProblem(f"every class of {nodes[int(bad[0])]!r} costs inf: expected a finite cost")
    forbidden = np.isinf(arrays.joined) & np.isinf(arrays.parted)
    if len(bad := np.flatnonzero(forbidden.all(axis=(1, 2)))):
        a, b = nodes[int(arrays.u[bad[0]])], nodes[int(arrays.v[bad[0]])]
        raise InfeasibleProblem(
            f"pair ({a!r}, {b!r}) costs inf together and apart, for all classes: expected a finite cost of either"
        )


def _ends(pairs: Any, n: int) -> NDArray[np.int64]:
    array = rows_of_pairs(pairs)
    if array.dtype.kind not in "iu":
        raise InvalidProblem(f"pairs has dtype {array.dtype}: expected integers, indices from 0")
    array = array.astype(np.int64)
    u, v = np.ascontiguousarray(array.T)
    check_pairs(n, u, v, np.zeros(len(array)))
    return array


def _tables(name: str, given: Any, m: int, classes: int) -> Floats:
    """One table for each pair, from a number for all pairs, a number for each, or a table for each."""
    array = float_array(name, given, copy=False)
    if np.ndim(given) == 0:
        array = np.broadcast_to(array, (m,))
    if array.size == 0 and m == 0:
        array = np.zeros((0, classes, classes))
    if array.shape == (m,):
        array = np.broadcast_to(array[:, None, None], (m, classes, classes))
    if array.shape != (m, classes, classes):
        raise InvalidProblem(
            f"{name} has shape {array.shape}: expected ({m},), a number for each pair, or ({m}, {classes}, {classes}), "
            "a table for each pair"
        )
    _check_costs(name, array)
    return np.array(array, np.float64, order="C", copy=True)


def _check_costs(name: str, array: Floats) -> None:
    for bad, found in ((np.isnan(array), "nan"), (np.isneginf(array), "-inf")):
        if bad.any():
            place = ", ".join(map(str, np.argwhere(bad)[0].tolist()))
            hint = "; a pair is required together by parted=inf" if found == "-inf" and name != "label_costs" else ""
            raise InvalidProblem(f"{name}[{place}] is {found}: expected a number, or inf for what is forbidden{hint}")


def with_pairs(arrays: Arrays, n: int, pairs: Elements, joined: Floats, parted: Floats) -> Arrays:
    """The arrays with amounts added to the costs of pairs, which may be listed already or not, and may repeat.

    Parameters
    ----------
    arrays : Arrays
    n : int
        Number of elements.
    pairs : ndarray of int32, shape (k, 2)
    joined, parted : ndarray of float64, shape (k,)
        Added for all classes; ``inf`` forbids being together or apart.
    """
    if not len(pairs):
        return arrays
    keys, asked = keys_of_pairs(arrays.u, arrays.v, n), keys_of_pairs(pairs[:, 0], pairs[:, 1], n)
    every = np.union1d(keys, asked)
    classes = arrays.label_costs.shape[1]
    old, new = np.searchsorted(every, keys), np.searchsorted(every, asked)
    tables = []
    for table, more in ((arrays.joined, joined), (arrays.parted, parted)):
        wider = np.zeros((len(every), classes, classes))
        wider[old] = table
        np.add.at(wider, new, more[:, None, None])
        tables.append(wider)
    u, v = ((every // n).astype(np.int32), (every % n).astype(np.int32)) if n else (arrays.u, arrays.v)
    return Arrays(arrays.label_costs, u, v, *tables)
