"""How similar two partitions are: Rand index, variation of information, precision and recall of joins and cuts.

Two measures match clusters with each other first: `identity_scores` of tracks, and `panoptic_quality` of segments with
classes.

All of them are functions of the contingency table, whose entry (i, j) counts the elements in cluster i of one partition
and in cluster j of the other; pairs of elements are never listed. Elements whose true label is missing are left out.

The argument order is that of scikit-learn: the truth first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from graphpart.common.contingency import Codes, Contingency, added, aligned, contingency, label_codes, numbered
from graphpart.display import html_of, plural
from graphpart.errors import InvalidPartition, deprecated, known_arguments

__all__ = [
    "Comparison",
    "adapted_rand_error",
    "adjusted_rand_index",
    "compare",
    "identity_scores",
    "information_of_counts",
    "label_codes",
    "pair_scores",
    "panoptic_quality",
    "rand_index",
    "variation_of_information",
]


def __dir__() -> list[str]:
    return sorted(__all__)


BEST = dict.fromkeys(("variation", "false"), "0 bits: equal")


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
    table = contingency(a, b)
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
    return _rand(contingency(*aligned(truth, partition, missing)))[0]


def adjusted_rand_index(truth: Any, partition: Any, *, missing: Any = -1) -> float:
    """The Rand index adjusted for chance; arguments as for :func:`compare`.

    Examples
    --------
    >>> adjusted_rand_index([{"a", "b"}, {"c"}], [{"c"}, {"a", "b"}])
    1.0
    """
    return _rand(contingency(*aligned(truth, partition, missing)))[1]


def variation_of_information(truth: Any, partition: Any, *, missing: Any = -1) -> tuple[float, float]:
    """H(partition | truth) and H(truth | partition) in bits: false cuts and false joins; their sum is the metric.

    Arguments as for :func:`compare`.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [0, 1, 2, 2])
    (0.5, 0.0)
    """
    return _information(contingency(*aligned(truth, partition, missing)))


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
    return _information(contingency(label_codes(a), label_codes(b), number))


def pair_scores(truth: Any, partition: Any, *, missing: Any = -1) -> dict[str, float]:
    """Precision, recall and F1 of the decisions on pairs; arguments as for :func:`compare`.

    Returns
    -------
    dict
        ``joins_precision``, ``joins_recall``, ``joins_f1``, ``cuts_precision``, ``cuts_recall``, ``cuts_f1``.
    """
    return _pair_scores(contingency(*aligned(truth, partition, missing)))


def identity_scores(truth: Any, tracks: Any, *, frames: Any = None, missing: Any = -1) -> dict[str, float]:
    """IDF1, HOTA and, with frames, MOTA: how well tracks tell which detections are the same object.

    IDF1, and precision and recall of identities: each object is matched with at most one track and the other way round,
    so that as many detections as possible are in matched pairs (Ristani et al. 2016). HOTA (Luiten et al. 2020) is the
    geometric mean of two shares: of right detections among all of objects or in tracks; and, in the mean over right
    detections, of those that are of the same object and in the same track among those that are of one or the other.
    MOTA (Bernardin & Stiefelhagen 2008) is 1 minus, per detection of an object, the detections that are false or in no
    track, and the switches: where an object goes on in another track than it was in before.

    Parameters
    ----------
    truth, tracks : array_like, shape (n,)
        The object of each detection, `missing` for a false detection; and its track, `missing` for one that is in none.
    frames : array_like of numbers, shape (n,), optional
        The time of each detection, for MOTA.
    missing : any

    Returns
    -------
    dict
        ``idf1``, ``precision`` (of the detections in tracks), ``recall`` (of the detections of objects), ``hota``, and
        its factors ``detection`` and ``association``; 1 where there are none. With frames, also ``mota`` and
        ``switches``.

    Notes
    -----
    O(n log n), and a matching over objects and tracks. Detections that a detector has missed do not count, and places
    are taken for right: HOTA is the same for all thresholds of their overlap.

    Examples
    --------
    >>> scores = identity_scores([0, 0, 0, 1, 1, -1], [5, 5, 6, 6, 6, -1], frames=[0, 1, 2, 0, 1, 2])
    >>> scores["idf1"], scores["mota"], scores["switches"], round(scores["hota"], 3)
    (0.8, 0.8, 1, 0.757)
    """
    from scipy.optimize import linear_sum_assignment

    a, b = (np.array(label_codes(x, missing)) for x in (truth, tracks))
    if a.shape != b.shape:
        raise InvalidPartition(f"there are {len(a)} true labels and {len(b)} tracks: expected equal numbers")
    known = (a >= 0) & (b >= 0)
    common = np.zeros((int(a.max(initial=-1)) + 1, int(b.max(initial=-1)) + 1), np.int64)
    np.add.at(common, (a[known], b[known]), 1)
    right = int(common[linear_sum_assignment(common, maximize=True)].sum())
    objects, found, both = int((a >= 0).sum()), int((b >= 0).sum()), int(known.sum())
    one, other = (
        np.bincount(codes[codes >= 0], minlength=size) for codes, size in zip((a, b), common.shape, strict=True)
    )
    x, y = np.nonzero(common)
    shared = common[x, y]
    association = _ratio(float((shared**2 / (one[x] + other[y] - shared)).sum()), both)
    detection = _ratio(both, objects + found - both)
    scores = {
        "idf1": _ratio(2 * right, objects + found),
        "precision": _ratio(right, found),
        "recall": _ratio(right, objects),
        "hota": float(np.sqrt(detection * association)),
        "detection": detection,
        "association": association,
    }
    if frames is not None:
        times = np.asarray(frames)
        if times.shape != a.shape or times.dtype.kind not in "iuf":
            raise InvalidPartition(f"frames has shape {times.shape}: expected a number for each of {len(a)} detections")
        order = np.lexsort((times[known], a[known]))
        x, y = a[known][order], b[known][order]
        switches = int(((x[1:] == x[:-1]) & (y[1:] != y[:-1])).sum())
        wrong = objects + found - 2 * both + switches
        scores |= {"mota": 1.0 - wrong / objects if objects else 1.0, "switches": switches}
    return scores


def panoptic_quality(truth: Any, found: Any, *, missing: Any = -1) -> dict[str, Any]:
    """Panoptic quality of segments with classes (Kirillov et al. 2019), its two factors, and that of each class.

    A found segment matches a true one of its class if their intersection is more than half of their union. The quality
    of a class is the sum of these shares over matched pairs, divided by their number plus half of that of other
    segments.

    Parameters
    ----------
    truth, found : tuple ``(segments, classes)`` of array_like of one shape
        The number of the segment and the class of each pixel or voxel. Elements of the truth whose segment or class is
        `missing` are left out, and so are elements of `found` there; missing ones elsewhere are in no segment.
    missing : any

    Returns
    -------
    dict
        ``quality``, ``segmentation`` (mean share of matched pairs) and ``recognition`` (F1 of segments): means over the
        classes that occur; and ``classes``, from each class to its quality.

    Examples
    --------
    >>> truth = [1, 1, 1, 2, 2, 2], ["sky", "sky", "sky", "tree", "tree", "tree"]
    >>> found = [1, 1, 1, 1, 2, 2], ["sky", "sky", "sky", "sky", "tree", "tree"]
    >>> panoptic_quality(truth, found)["classes"]
    {'sky': 0.75, 'tree': 0.6666666666666666}
    """
    arrays = [np.asarray(x).ravel() for x in (*truth, *found)]
    if len({len(x) for x in arrays}) > 1:
        raise InvalidPartition(f"arrays have {[len(x) for x in arrays]} elements: expected equal numbers")
    n = len(arrays[0])
    names, kinds = np.unique(np.concatenate([arrays[1], arrays[3]]), return_inverse=True)
    codes = [label_codes(arrays[0], missing), kinds[:n], label_codes(arrays[2], missing), kinds[n:]]
    absent = np.array([bool(name == missing) for name in names.tolist()], bool)
    none = [(codes[k] < 0) | absent[codes[k + 1]] for k in (0, 2)]
    pairs = [codes[k] * np.int64(len(names)) + codes[k + 1] for k in (0, 2)]
    inside = ~none[0]
    a, b = pairs[0][inside], np.where(none[1], -1, pairs[1])[inside]
    table = contingency(a, b)
    of_truth, of_found = np.unique(a) % len(names), np.unique(b)  # the class of each segment
    real = of_found >= 0
    of_found = np.where(real, of_found % len(names), -1)
    shares = table.counts / (table.truth[table.i] + table.partition[table.j] - table.counts)
    hit = (shares > 0.5) & (of_truth[table.i] == of_found[table.j])
    k = len(names)
    sums = np.bincount(of_truth[table.i[hit]], shares[hit], k)
    hits = np.bincount(of_truth[table.i[hit]], minlength=k)
    others = np.bincount(of_truth, minlength=k) + np.bincount(of_found[real], minlength=k)  # twice in a matched pair
    seen = others > 0
    quality = 2 * sums[seen] / others[seen]
    matched = np.divide(sums, hits, out=np.zeros(k), where=hits > 0)[seen]
    means = [float(x.mean()) if len(x) else 1.0 for x in (quality, matched, 2 * hits[seen] / others[seen])]
    by_class = dict(zip(names[seen].tolist(), quality.tolist(), strict=True))
    return {"quality": means[0], "segmentation": means[1], "recognition": means[2], "classes": by_class}


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
    i, j = numbered(a), numbered(b)
    cell = numbered(i * np.int64(j.max(initial=0) + 1) + j)
    others = [np.bincount(x)[x] - 1 for x in (cell, i, j, np.zeros_like(i))]  # of each element
    joined, truth, partition, every = (added(part, x, int(part.max(initial=-1)) + 1).tolist() for x in others)
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


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else 1.0


def _information(table: Contingency) -> tuple[float, float]:
    """H(partition | truth) and H(truth | partition) in bits."""
    if not table.n:
        return 0.0, 0.0
    share = table.counts / table.n
    split = 0.0 - float(share @ np.log2(table.counts / table.truth[table.i]))
    mixed = 0.0 - float(share @ np.log2(table.counts / table.partition[table.j]))
    return max(split, 0.0), max(mixed, 0.0)
