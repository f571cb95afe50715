"""Labels of two partitions as codes of the same elements, and the contingency table of both."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import labels_in
from graphpart.display import plural
from graphpart.errors import InvalidPartition, warn
from graphpart.result import Result

__all__ = ["Codes", "Contingency", "added", "aligned", "contingency", "label_codes", "numbered"]

Codes = NDArray[np.int64]


class Contingency(NamedTuple):
    """A contingency table: ``counts[k]`` elements are in cluster ``i[k]`` of the truth, ``j[k]`` of the partition."""

    n: int
    i: Codes
    j: Codes
    counts: Codes
    truth: Codes  # sizes of its clusters
    partition: Codes


def label_codes(labels: Any, missing: Any = -1) -> Codes:
    """Labels of any type as integers from 0 on, and -1 for missing ones.

    Parameters
    ----------
    labels : array_like, shape (n,)
        Numbers, strings, or any hashables. Arrays of more axes, such as labelled pictures, become flat.
    missing : any
        The label that counts as missing; None and NaN always do.

    Examples
    --------
    >>> label_codes(["b", None, "a", "b"]).tolist()
    [1, -1, 0, 1]
    """
    array = np.asarray(labels if hasattr(labels, "__array__") else _listed(labels))
    if array.ndim == 0 or (array.ndim > 1 and not isinstance(labels, np.ndarray)):
        raise InvalidPartition(f"labels have shape {array.shape}: expected (n,)")
    array = array.ravel()
    if array.dtype.kind == "O":
        return _codes_of_objects(array.tolist(), missing)
    known = array == array  # false for NaN only
    if missing is not None and not (isinstance(missing, str) ^ (array.dtype.kind in "US")):
        known &= array != missing
    codes = np.full(len(array), -1, np.int64)
    codes[known] = numbered(array[known])
    return codes


def numbered(values: NDArray[Any]) -> Codes:
    """The place of each value among the distinct ones; whole numbers in a small range are not sorted."""
    if values.dtype.kind in "iu" and values.size:
        low, high = int(values.min()), int(values.max())
        if high - low <= 4 * values.size and high < 2**62:
            moved = values.astype(np.int64) - low
            codes: Codes = (np.cumsum(np.bincount(moved) > 0) - 1)[moved]
            return codes
    places: Codes = np.unique(values, return_inverse=True)[1]
    return places


def _listed(labels: Any) -> Any:
    """A sequence as an array of one dimension; of objects, where NumPy would turn numbers into strings."""
    values = list(labels)
    kinds = {type(value) for value in values}
    if len(kinds) <= 1 and not kinds & {tuple, list, set, frozenset, type(None)}:
        return values
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _codes_of_objects(values: list[Any], missing: Any) -> Codes:
    known = [not (value is None or _differs_from_itself(value) or _equal(value, missing)) for value in values]
    try:
        distinct = dict.fromkeys(value for value, k in zip(values, known, strict=True) if k)
    except TypeError as error:
        raise InvalidPartition(f"labels: {error}") from None
    ordered: Iterable[Any] = distinct
    with contextlib.suppress(TypeError):  # labels of several types stay in order of first appearance
        ordered = sorted(distinct)
    codes = {value: code for code, value in enumerate(ordered)}
    return np.array([codes[value] if k else -1 for value, k in zip(values, known, strict=True)], np.int64)


def _equal(value: Any, missing: Any) -> bool:
    return type(value) is type(missing) and bool(value == missing)


def _differs_from_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except TypeError:  # pandas.NA refuses to be a truth value
        return True


def aligned(truth: Any, partition: Any, missing: Any) -> tuple[Codes, Codes]:
    """Codes of both partitions for the elements whose true label is known."""
    truth, partition = labels_in(truth), labels_in(partition)
    by_position = _by_position(truth, partition)  # then the lengths have to agree
    named_truth, named = (None, None) if by_position else (_by_node(truth), _by_node(partition))
    if named_truth is not None and named is not None:
        try:
            partition = [named[node] for node in named_truth]
        except KeyError as error:
            name = error.args[0]
            name = name.item() if isinstance(name, np.generic) else name
            raise InvalidPartition(f"{name!r} has a true label but is not in the partition") from None
        truth = list(named_truth.values())
    else:
        truth, partition = (x.labels if isinstance(x, Result) else x for x in (truth, partition))
        if named_truth is not None and not isinstance(truth, np.ndarray):
            raise InvalidPartition(
                "the truth names nodes but the partition does not: expected both or neither; a result names them, and "
                "r.to_series()"
            )
        if named is not None and not isinstance(partition, np.ndarray):
            raise InvalidPartition("the partition names nodes but the truth does not: expected both or neither")
    shapes = [
        np.shape(x) if isinstance(x, np.ndarray) else (len(x),) for x in (truth, partition) if hasattr(x, "__len__")
    ]
    if len(shapes) == 2 and shapes[0] != shapes[1] and max(map(len, shapes)) > 1:
        raise InvalidPartition(f"true labels have shape {shapes[0]}, labels {shapes[1]}: expected equal ones")
    a, b = label_codes(truth, missing), label_codes(partition, missing=None)
    if len(a) != len(b):
        raise InvalidPartition(
            f"the truth has {plural(len(a), 'label')}, the partition {len(b)}: expected one for each element in both; "
            "mappings from names to labels are matched by name"
        )
    known = a >= 0
    if (unlabelled := np.flatnonzero(known & (b < 0))).size:
        raise InvalidPartition(f"element {unlabelled[0]} has a true label but none in the partition")
    return a[known], b[known]


def _is_series(labels: Any) -> bool:
    """Whether labels are a series of pandas, whose index names elements."""
    return hasattr(labels, "index") and hasattr(labels, "iloc") and np.ndim(labels) == 1


def _by_position(truth: Any, partition: Any) -> bool:
    """Whether two partitions are matched by position: one has no names, or both have the same in the same order."""
    series = [_is_series(x) for x in (truth, partition)]
    if not any(series):
        return all(isinstance(x, Result) and isinstance(x.nodes, range) for x in (truth, partition))
    if all(series):
        if truth.index.equals(partition.index):
            return True
        _check_indices(truth.index, partition.index)
        return False
    one, other = (truth, partition) if series[0] else (partition, truth)
    if isinstance(other, Result):
        if isinstance(other.nodes, range):
            return True
        if one.index.tolist() == list(range(len(one))) and set(other.nodes).isdisjoint(range(len(one))):
            return True  # an index by default, of elements that have other names
    elif _by_node(other) is None:
        if one.index.dtype.kind not in "iu":
            warn(
                "only one of truth and partition has names, its index, so labels are matched by position: to match by "
                "name, give the result itself, or r.to_series()"
            )
        return True
    if not one.index.is_unique:
        raise InvalidPartition(f"the index has {_repeated(one.index)!r} more than once: expected one label for each")
    return False


def _check_indices(truth: Any, partition: Any) -> None:
    """Raise InvalidPartition unless the indices of two series have the same names, once each."""
    advice = "expected the same names in both; series.to_numpy() is matched by position"
    both = (("truth", truth, partition), ("partition", partition, truth))
    for what, index, _ in both:
        if not index.is_unique:
            raise InvalidPartition(f"the index of the {what} has {_repeated(index)!r} more than once: {advice}")
    for what, index, other in both:
        if only := index[~index.isin(other)].tolist():
            raise InvalidPartition(f"{only[0]!r} is only in the index of the {what}: {advice}")


def _repeated(index: Any) -> Any:
    return index[index.duplicated()].tolist()[0]


def _by_node(partition: Any) -> Mapping[Hashable, Any] | None:
    """Labels by node, if the partition names its nodes."""
    if isinstance(partition, Result):
        return dict(zip(partition.nodes, partition.labels.tolist(), strict=True))
    if isinstance(partition, Mapping):
        return partition
    if _is_series(partition):
        return dict(zip(partition.index.tolist(), partition.tolist(), strict=True))
    if isinstance(partition, list | tuple) and partition and all(isinstance(x, set | frozenset) for x in partition):
        labels: dict[Hashable, int] = {}
        for label, subset in enumerate(partition):
            for node in subset:
                if labels.setdefault(node, label) != label:
                    raise InvalidPartition(f"{node!r} is in two clusters")
        return labels
    return None


def contingency(a: Codes, b: Codes, number: NDArray[Any] | None = None) -> Contingency:
    """The contingency table, of which only the entries that are not 0 are stored. O(n log n)

    Each element counts once, or as often as `number` says.
    """
    i, j = numbered(a), numbered(b)
    width = int(j.max(initial=0)) + 1
    meeting, place = np.unique(i * np.int64(width) + j, return_inverse=True)
    ones = np.ones(len(a), np.int64) if number is None else np.asarray(number, np.int64)
    counts = added(place, ones, len(meeting))
    i, j = meeting // width, meeting % width
    truth, partition = (added(x, counts, int(x.max(initial=-1)) + 1) for x in (i, j))
    return Contingency(int(ones.sum()), i, j, counts, truth, partition)


def added(place: Codes, values: Codes, size: int) -> Codes:
    """The sums of whole numbers by place; exact up to 2**53."""
    return np.bincount(place, values, size).astype(np.int64)
