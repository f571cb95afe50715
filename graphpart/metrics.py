"""How similar two partitions are: Rand index, variation of information, precision and recall of joins and cuts.

All of them are functions of the contingency table, whose entry (i, j) counts the elements in cluster i of one partition
and in cluster j of the other; pairs of elements are never listed. Elements whose true label is missing are left out.

The argument order is that of scikit-learn: the truth first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.display import html_of, plural
from graphpart.errors import InvalidPartition, deprecated, known_arguments, warn
from graphpart.result import Result

__all__ = [
    "Comparison",
    "adapted_rand_error",
    "adjusted_rand_index",
    "compare",
    "information_of_counts",
    "label_codes",
    "pair_scores",
    "rand_index",
    "variation_of_information",
]


def __dir__() -> list[str]:
    return sorted(__all__)


Codes = NDArray[np.int64]
BEST = dict.fromkeys(("variation", "false"), "0 bits: equal")


class Contingency(NamedTuple):
    """A contingency table: ``counts[k]`` elements are in cluster ``i[k]`` of the truth, ``j[k]`` of the partition."""

    n: int
    i: Codes
    j: Codes
    counts: Codes
    truth: Codes  # sizes of its clusters
    partition: Codes


@dataclass(frozen=True, repr=False)
class Comparison:
    """All measures of a partition in comparison with the truth.

    Attributes
    ----------
    elements : int
        Number of elements compared, those with a true label.
    n_true_clusters, n_clusters : int
    rand_index : float
        The share of pairs on which both agree (Rand 1971); 1 if there are no pairs.
    adjusted_rand_index : float
        The Rand index adjusted for chance: 0 in expectation for random labels, 1 for equal partitions (Hubert & Arabie
        1985).
    variation_of_information : float
        ``false_cuts_information + false_joins_information``, in bits (Meila 2007).
    false_cuts_information : float
        H(partition | truth) in bits: larger the more true clusters are split.
    false_joins_information : float
        H(truth | partition) in bits: larger the more clusters mix elements of different true clusters.
    joins_precision, joins_recall, joins_f1 : float
        Scores of the decisions to join pairs. A ratio 0 / 0 counts as 1, because nothing was decided wrongly.
    cuts_precision, cuts_recall, cuts_f1 : float
        Scores of the decisions to cut pairs.
    """

    elements: int
    n_true_clusters: int
    n_clusters: int
    rand_index: float
    adjusted_rand_index: float
    variation_of_information: float
    false_cuts_information: float
    false_joins_information: float
    joins_precision: float
    joins_recall: float
    joins_f1: float
    cuts_precision: float
    cuts_recall: float
    cuts_f1: float

    @property
    def true_subsets(self) -> int:
        """The former name of `n_true_clusters`."""
        deprecated("true_subsets", "n_true_clusters")
        return self.n_true_clusters

    @property
    def subsets(self) -> int:
        """The former name of `n_clusters`."""
        deprecated("subsets", "n_clusters")
        return self.n_clusters

    def __repr__(self) -> str:
        main = f"adjusted Rand index {self.adjusted_rand_index:.4g}, "
        main += f"variation of information {self.variation_of_information:.4g} bits, "
        main += f"joins: precision {self.joins_precision:.4g}, recall {self.joins_recall:.4g}"
        return f"<Comparison: {self._title()}\n {main}>"

    def _title(self) -> str:
        counts = f"{plural(self.n_true_clusters, 'true cluster')}, {plural(self.n_clusters, 'cluster')}"
        return f"{plural(self.elements, 'element')}, {counts}"

    def _repr_html_(self) -> str:
        """For notebooks."""
        counts = ("elements", "n_true_clusters", "n_clusters")
        measures = [(f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self) if f.name not in counts]
        rows = [(name, f"{value:.4g}", BEST.get(name.split()[0], "1: equal")) for name, value in measures]
        return html_of(f"Comparison: {self._title()}", {}, ("measure", "value", "best"), rows)


@known_arguments
def compare(truth: Any, partition: Any, *, missing: Any = -1) -> Comparison:
    """Compare a partition with the truth by all measures at once.

    Parameters
    ----------
    truth, partition
        Labels of n elements in the same order, a Result, a mapping from nodes to labels, or a list of sets of nodes.
        Also two arrays of the same shape: labels of the pixels of a picture, or the voxels of a volume. If both name
        nodes, they are matched by name; the partition may have more nodes than the truth. The index of a series of
        pandas names nodes; two series need the same names. With an array, a series is matched by position.
    missing : any
        The label of elements whose true label is not known; None and NaN always mean this. If the truth is a list of
        sets or a mapping, elements that are not in it have no known label either.

    Raises
    ------
    InvalidPartition
        If the lengths differ, a node of the truth has no label in the partition, or two series name different nodes.

    Notes
    -----
    O(n log n) time and O(n) memory, for any number of clusters.

    Examples
    --------
    >>> c = compare([0, 0, 0, 1, 1, -1], [0, 0, 1, 2, 2, 2])
    >>> c.elements, c.joins_precision, c.joins_recall, round(c.adjusted_rand_index, 3)
    (5, 1.0, 0.5, 0.545)
    """
    a, b = aligned(truth, partition, missing)
    table = _contingency(a, b)
    agreement, adjusted = _rand(table)
    false_cuts, false_joins = _information(table)
    return Comparison(
        elements=len(a),
        n_true_clusters=len(table.truth),
        n_clusters=len(table.partition),
        rand_index=agreement,
        adjusted_rand_index=adjusted,
        variation_of_information=false_cuts + false_joins,
        false_cuts_information=false_cuts,
        false_joins_information=false_joins,
        **_pair_scores(table),
    )


def rand_index(truth: Any, partition: Any, *, missing: Any = -1) -> float:
    """The share of pairs on which two partitions agree; arguments as for :func:`compare`."""
    return _rand(_contingency(*aligned(truth, partition, missing)))[0]


def adjusted_rand_index(truth: Any, partition: Any, *, missing: Any = -1) -> float:
    """The Rand index adjusted for chance; arguments as for :func:`compare`.

    Examples
    --------
    >>> adjusted_rand_index([{"a", "b"}, {"c"}], [{"c"}, {"a", "b"}])
    1.0
    """
    return _rand(_contingency(*aligned(truth, partition, missing)))[1]


def variation_of_information(truth: Any, partition: Any, *, missing: Any = -1) -> tuple[float, float]:
    """H(partition | truth) and H(truth | partition) in bits: false cuts and false joins; their sum is the metric.

    Arguments as for :func:`compare`.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [0, 1, 2, 2])
    (0.5, 0.0)
    """
    return _information(_contingency(*aligned(truth, partition, missing)))


def adapted_rand_error(truth: Any, partition: Any, *, missing: Any = -1) -> tuple[float, float, float]:
    """One minus the F1 score of joins, their precision and their recall (Arganda-Carreras et al. 2015).

    Arguments as for :func:`compare`. For segmented volumes whose unlabelled voxels are 0, say ``missing=0``.

    Examples
    --------
    >>> adapted_rand_error([0, 0, 1, 1], [0, 1, 2, 2])
    (0.33333333333333337, 1.0, 0.5)
    """
    scores = pair_scores(truth, partition, missing=missing)
    return 1 - scores["joins_f1"], scores["joins_precision"], scores["joins_recall"]


def information_of_counts(truth: Any, partition: Any, counts: Any) -> tuple[float, float]:
    """The variation of information, as false cuts and false joins in bits, of pairs of labels with their numbers.

    Parameters
    ----------
    truth, partition : array_like of int, shape (k,)
        Pairs of labels; a pair may occur again.
    counts : array_like of int, shape (k,)
        Numbers of elements with these labels: the voxels of a region, for example.

    Examples
    --------
    >>> information_of_counts([0, 0, 1], [0, 1, 2], [1, 1, 2])
    (0.5, 0.0)
    """
    a, b, number = (np.asarray(x) for x in (truth, partition, counts))
    if a.ndim != 1 or a.shape != b.shape or a.shape != number.shape:
        raise InvalidPartition(
            f"labels have shapes {a.shape} and {b.shape}, counts {number.shape}: expected equal ones"
        )
    return _information(_contingency(label_codes(a), label_codes(b), number))


def pair_scores(truth: Any, partition: Any, *, missing: Any = -1) -> dict[str, float]:
    """Precision, recall and F1 of the decisions on pairs; arguments as for :func:`compare`.

    Returns
    -------
    dict
        ``joins_precision``, ``joins_recall``, ``joins_f1``, ``cuts_precision``, ``cuts_recall``, ``cuts_f1``.
    """
    return _pair_scores(_contingency(*aligned(truth, partition, missing)))


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
    codes[known] = _numbered(array[known])
    return codes


def _numbered(values: NDArray[Any]) -> Codes:
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
    by_position = _by_position(truth, partition)  # then the lengths have to agree
    named_truth, named = (None, None) if by_position else (_by_node(truth), _by_node(partition))
    if named_truth is not None and named is not None:
        try:
            partition = [named[node] for node in named_truth]
        except KeyError as error:
            raise InvalidPartition(f"{error.args[0]!r} has a true label but is not in the partition") from None
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


def _contingency(a: Codes, b: Codes, number: NDArray[Any] | None = None) -> Contingency:
    """The contingency table, of which only the entries that are not 0 are stored. O(n log n)

    Each element counts once, or as often as `number` says.
    """
    i, j = _numbered(a), _numbered(b)
    width = int(j.max(initial=0)) + 1
    meeting, place = np.unique(i * np.int64(width) + j, return_inverse=True)
    ones = np.ones(len(a), np.int64) if number is None else np.asarray(number, np.int64)
    counts = _added(place, ones, len(meeting))
    i, j = meeting // width, meeting % width
    truth, partition = (_added(x, counts, int(x.max(initial=-1)) + 1) for x in (i, j))
    return Contingency(int(ones.sum()), i, j, counts, truth, partition)


def _added(place: Codes, values: Codes, size: int) -> Codes:
    """The sums of whole numbers by place; exact up to 2**53."""
    return np.bincount(place, values, size).astype(np.int64)


def _decisions(table: Contingency) -> tuple[int, int, int, int]:
    """The numbers of pairs joined in both partitions, in the truth only, in the partition only, and in neither."""

    def pairs(sizes: Codes) -> int:
        return int((sizes * (sizes - 1) // 2).sum())

    joined, in_truth, in_partition = pairs(table.counts), pairs(table.truth), pairs(table.partition)
    cut = table.n * (table.n - 1) // 2 - in_truth - in_partition + joined
    return joined, in_truth - joined, in_partition - joined, cut


def scores_by_part(a: Codes, b: Codes, part: Codes, score: str) -> list[float]:
    """The adjusted Rand index or F1 of joins of the pairs with an end in each part of the elements.

    A pair with both ends in a part counts twice there, so each pair counts twice in all.

    Parameters
    ----------
    a, b : ndarray of int64, shape (n,)
        Codes of the truth and of the partition.
    part : ndarray of int64, shape (n,)
        The part of each element, from 0 on.
    score : {"adjusted-rand", "joins-f1"}
    """
    i, j = _numbered(a), _numbered(b)
    cell = _numbered(i * np.int64(j.max(initial=0) + 1) + j)
    others = [np.bincount(x)[x] - 1 for x in (cell, i, j, np.zeros_like(i))]  # of each element
    joined, truth, partition, every = (_added(part, x, int(part.max(initial=-1)) + 1).tolist() for x in others)
    decisions = [
        (both, one - both, other - both, pairs - one - other + both)
        for both, one, other, pairs in zip(joined, truth, partition, every, strict=True)
    ]
    if score == "joins-f1":
        return [_pair_scores_of(*four)["joins_f1"] for four in decisions]
    return [_rand_of(*four)[1] for four in decisions]


def _rand(table: Contingency) -> tuple[float, float]:
    """The Rand index, and adjusted for chance; of integers that Python divides with one rounding."""
    return _rand_of(*_decisions(table))


def _rand_of(joined: int, falsely_cut: int, falsely_joined: int, cut: int) -> tuple[float, float]:
    wrong = falsely_cut + falsely_joined
    if not wrong:
        return 1.0, 1.0
    # (index - expected) / (largest - expected), times the number of pairs above and below
    above = 2 * (joined * cut - falsely_cut * falsely_joined)
    below = (joined + falsely_cut) * (falsely_cut + cut) + (joined + falsely_joined) * (falsely_joined + cut)
    return (joined + cut) / (joined + cut + wrong), above / below


def _pair_scores(table: Contingency) -> dict[str, float]:
    return _pair_scores_of(*_decisions(table))


def _pair_scores_of(joined: int, falsely_cut: int, falsely_joined: int, cut: int) -> dict[str, float]:
    scores = {}
    for kind, right, wrong, missed in (
        ("joins", joined, falsely_joined, falsely_cut),
        ("cuts", cut, falsely_cut, falsely_joined),
    ):
        scores[f"{kind}_precision"] = _ratio(right, right + wrong)
        scores[f"{kind}_recall"] = _ratio(right, right + missed)
        scores[f"{kind}_f1"] = _ratio(2 * right, 2 * right + wrong + missed)
    return scores


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _information(table: Contingency) -> tuple[float, float]:
    """H(partition | truth) and H(truth | partition) in bits."""
    if not table.n:
        return 0.0, 0.0
    share = table.counts / table.n
    split = 0.0 - float(share @ np.log2(table.counts / table.truth[table.i]))
    mixed = 0.0 - float(share @ np.log2(table.counts / table.partition[table.j]))
    return max(split, 0.0), max(mixed, 0.0)
