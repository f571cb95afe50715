"""One partition from several labelings of the same elements: least summed pair disagreement.

Labeling l has the weight w_l. With W the sum of weights, the cost of having a and b in one cluster is

    c[a, b] = sum_l w_l (1 - 2 [l joins a, b]) = W - 2 sum_l w_l [l joins a, b],

the difference of the disagreements with them together and apart (Mirkin 1979; the median partition of Régnier 1965).

1. Elements with equal labels in all labelings attract each other by W, and every other element equally: an optimum has
   them in one cluster. They become one element with a size, and costs are multiplied by sizes.
2. Up to `DENSE` different rows of labels, the costs of all pairs are a matrix. Of more, if few pairs share a label,
   only these are listed, and W times the product of sizes is a background. Both are solved as any problem is.
3. Else rows move between clusters. For each cluster and label, the number of its elements with this label is kept, in
   n m time and memory and that of the table; the cost of a row in a cluster is a sum of m of these numbers. Clusters of
   the best labeling are the start, and then pairs of clusters are joined by a set partition problem over clusters.

A lower bound on the disagreement of every partition comes from pairs of labelings: by the triangle inequality, the
disagreements of a partition with l and l' add up to at least that of l with l'.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.display import plural
from graphpart.errors import InvalidOption, InvalidPartition, InvalidProblem, warn
from graphpart.partition.problem import SetPartition, canonical
from graphpart.partition.problem.background import Background
from graphpart.partition.problem.requirements import RequirementOptions, with_options
from graphpart.records._moving import move_rows
from graphpart.records.results import Consensus, extended
from graphpart.result import PartitionResult, Result, Status
from graphpart.solve import run
from graphpart.stopping import Stopping

__all__ = ["consensus"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DENSE = 3000  # rows of labels of which all pairs are listed
LISTED = 20_000_000  # pairs that share a label, up to which these are listed
KEPT = 2_000_000  # the same for the problem of a result
MANY = 20  # labelings in a list, from which on they may be elements


@with_options(RequirementOptions, "group_cost", "connected", "lifted")
def consensus(
    labelings: Any,
    weights: ArrayLike | None = None,
    nodes: Iterable[Hashable] | None = None,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    **requirements: Unpack[RequirementOptions],
) -> Consensus:
    """One partition from several labelings of the same elements, and how stable its clusters are.

    Parameters
    ----------
    labelings : sequence of m labelings, data frame, or array_like of shape (m, n)
        Each labeling has a label for each element, of any type; the same number in two labelings means nothing. None,
        NaN and -1 stand for clusters of one element. In a data frame, each column is a labeling. Results, series of
        pandas and mappings from elements to labels name their elements, and are matched by name.
    weights : array_like of float, shape (m,), optional
        How much each labeling counts; default: 1 each.
    nodes : iterable of n hashables, optional
        Names of the elements; default: the index of a data frame of pandas, the names in the first labeling that has
        some, else 0, ..., n - 1.
    method, time_limit
        As for :func:`graphpart.solve`.
    **requirements
        What clusters must obey: `together`, `apart`, `groups`, `max_size` and `n_clusters`, as
        :meth:`graphpart.SetPartition.require` takes them. For as many elements as a method in memory takes.

    Returns
    -------
    Consensus
        A result with `disagreement`, a lower bound on it, the `stability` of each cluster and the `agreement` of each
        element.

    Raises
    ------
    InvalidPartition
        If the labelings have different lengths.
    InvalidProblem
        If labelings name different elements.
    InvalidOption
        If a weight is not positive, or there is not one for each labeling. If rows and columns are exchanged: there are
        more than 50 labelings, and more than five times as many as elements. If you do have so many labelings, give
        `nodes`, and they are taken as they are.

    Warns
    -----
    GraphPartWarning
        If there are more than twice as many labelings as elements: rows and columns may be exchanged.

    Examples
    --------
    >>> r = consensus([[0, 0, 0, 1, 1], [5, 5, 5, 7, 7], [0, 0, 1, 1, 1]])
    >>> r.labels.tolist(), r.disagreement, str(r.status)
    ([0, 0, 0, 1, 1], 4.0, 'optimal')
    >>> r.agreement.round(2).tolist()
    [0.83, 0.83, 0.67, 1.0, 1.0]
    """
    stopping = Stopping(time_limit)
    table, names = _table(labelings, nodes)
    m = table.shape[1]
    w = np.ones(m) if weights is None else np.asarray(weights, np.float64)
    if w.shape != (m,) or not (np.isfinite(w).all() and (w > 0).all()):
        raise InvalidOption(f"weights are {w.tolist()[:5]}: expected a positive number for each of {m} labelings")
    if requirements:
        rows, place, size = table, np.arange(len(table)), np.ones(len(table), np.int64)
    else:
        rows, place, size = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    rows, place = _renumbered(rows), place.ravel()
    inside = -float(w.sum()) * float((size * (size - 1.0) / 2).sum())  # of the pairs of equal rows
    problem = _problem(rows, size, w, names=names if requirements else None)
    if requirements:
        if problem is None:
            raise InvalidOption(
                f"{next(iter(requirements))} is for fewer elements: more than {LISTED} pairs share a label"
            )
        problem = problem.require(**requirements)
    if problem is None:
        moved, iterations = _moved(rows, size.astype(np.float64), w, stopping)
        status = stopping.reason or Status.LOCAL_OPTIMUM
        found: tuple[Any, float, Status, str, int] = (
            moved,
            -np.inf,
            status,
            "no row of labels moves to another cluster at a lower cost",
            iterations,
        )
    else:
        result = run(problem, method, time_limit=stopping.remaining)
        found = (result.labels, result.lower_bound + inside, result.status, result.message, result.iterations)
    labels = canonical(np.asarray(found[0])[place].astype(np.int64))
    joined = np.array([_pairs_within(table[:, k]) for k in range(m)])
    counts = _Counts(table, labels)
    cost = float(w.sum() * _pairs_within(labels) - 2 * (w * counts.pairs).sum())
    constant = float((w * joined).sum())  # the disagreement of the partition into single elements
    bound = max(found[1], _bound(table, w, joined) - constant)
    bound = cost if found[2] is Status.OPTIMAL else min(bound, cost)
    status = Status.OPTIMAL if bound >= cost - 1e-9 * max(1.0, abs(constant)) else found[2]
    seconds = stopping.seconds
    result = PartitionResult(
        labels=labels, cost=cost, objective=cost + constant, lower_bound=bound, status=status, message=found[3],
        iterations=found[4], seconds=seconds, method=method, nodes=names, history=((seconds, cost),),
        bounds=((seconds, bound),),
        problem=problem if requirements else _problem(table, np.ones(len(table), np.int64), w, KEPT, names),
    )  # fmt: skip
    return extended(
        Consensus, result, disagreement=cost + constant, disagreement_bound=bound + constant,
        stability=counts.stability(w), agreement=counts.agreement(w),
    )  # fmt: skip


def _table(labelings: Any, nodes: Any) -> tuple[Ints, Any]:
    """Labels 0, 1, ... of each labeling, as the columns of an array, and names of the elements."""
    _check_direction(labelings, nodes)
    if hasattr(labelings, "columns"):
        if nodes is None and hasattr(labelings, "index"):
            nodes = labelings.index.tolist()
        labelings = [_checked(labelings[name].to_numpy(), name) for name in labelings.columns]
    elif isinstance(labelings, Mapping):
        labelings = list(labelings.values())
    nodes = None if nodes is None else list(nodes)
    given, found = _matched([_named(one) for one in labelings], nodes)
    columns = [_codes(one) for one in found]
    if not columns:
        raise InvalidPartition("no labelings: expected at least one")
    for k, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise InvalidPartition(f"labeling {k} has {plural(len(column), 'label')}, labeling 0 has {len(columns[0])}")
    table = np.stack(columns, axis=1)
    nodes = given if nodes is None else nodes
    names = range(len(table)) if nodes is None else nodes
    if len(names) != len(table):
        raise InvalidPartition(
            f"{plural(len(names), 'node')} for {plural(len(table), 'element')}: expected one name for each"
        )
    return table, names


def _checked(labels: NDArray[Any], name: Any) -> NDArray[Any]:
    """A column of a data frame; refused if it names the elements, or has numbers that are no labels."""
    fractions = labels[np.isfinite(labels) & (labels != np.floor(labels))] if labels.dtype.kind == "f" else labels[:0]
    if len(fractions):
        raise InvalidPartition(
            f"column {name!r} has {fractions[0]:g}: expected labels of clusters in every column; leave it out by "
            f"frame.drop(columns={name!r})"
        )
    texts = labels.dtype.kind not in "iufb" and len(labels) > 2 and all(isinstance(x, str) for x in labels.tolist())
    if texts and len(set(labels.tolist())) == len(labels):
        raise InvalidPartition(
            f"column {name!r} has another text in every row, as names of elements have: expected labels of clusters; "
            f"give frame.set_index({name!r}), so that its texts name the elements"
        )
    return labels


def _check_direction(labelings: Any, nodes: Any) -> None:
    """Refuse, before any work, so many labelings of so few elements that these are exchanged; warn if they may be."""
    if hasattr(labelings, "columns"):
        count, elements = len(labelings.columns), len(labelings)
        advice = "columns of a frame are labelings; if its rows are, give frame.T"
    elif isinstance(labelings, np.ndarray) and labelings.ndim == 2:
        count, elements = labelings.shape
        advice = "rows of an array are labelings; if its columns are, give array.T"
    elif isinstance(labelings, Sequence) and len(labelings) > MANY and hasattr(labelings[0], "__len__"):
        count, elements = len(labelings), len(labelings[0])
        advice = "each item of a list is a labeling; if each is an element, give list(zip(*labelings))"
    else:
        return
    if nodes is not None or not count > 2 * elements > 0:
        return
    text = f"{count} labelings of {plural(elements, 'element')}: {advice}"
    if count > 50 and count > 5 * elements:
        raise InvalidOption(f"{text}; if there are so many labelings, give nodes=range({elements}), too")
    warn(text)


def _named(one: Any) -> tuple[Sequence[Hashable] | None, NDArray[Any]]:
    """The names of the elements of a labeling, or None if it has none, and its labels."""
    if isinstance(one, Mapping):
        return list(one), np.array([*one.values(), None], object)[:-1]
    if isinstance(one, Result):
        return one.nodes, one.labels
    if hasattr(one, "iloc"):
        return one.index.tolist(), one.to_numpy()
    return None, np.asarray(one)


def _matched(
    labelings: list[tuple[Sequence[Hashable] | None, NDArray[Any]]], nodes: list[Hashable] | None
) -> tuple[Sequence[Hashable] | None, list[NDArray[Any]]]:
    """Names of the elements, if labelings have any, and the labels of each labeling in the order of these names."""
    first = next((k for k, (names, _) in enumerate(labelings) if names is not None), None)
    if first is None:
        return None, [labels for _, labels in labelings]
    order: Sequence[Hashable] = labelings[first][0] or []
    if nodes is not None and len(nodes) == len(order) and set(nodes) == set(order):
        order = nodes
    place: dict[Hashable, int] | None = None
    plain = next((k for k, (names, _) in enumerate(labelings) if names is None), None)
    out = []
    for k, (names, labels) in enumerate(labelings):
        if names is not None and not (type(names) is type(order) and names == order):
            place = place or {name: i for i, name in enumerate(order)}
            at = np.array([place.get(name, -1) for name in names], np.int64)
            _check_names(k, names, at, first, order)
            if plain is not None and (at != np.arange(len(at))).any():
                raise InvalidProblem(
                    f"labeling {k} names elements in another order than labeling {first}, and labeling {plain} has no "
                    "names: expected names in each labeling, or in none"
                )
            labels = labels[np.argsort(at)]
        out.append(labels)
    return order, out


def _check_names(k: int, names: Sequence[Hashable], at: Ints, first: int, order: Sequence[Hashable]) -> None:
    """Raise InvalidProblem unless the places of names are all those of the order, once each."""
    advice = "expected the same names in each; labels alone, such as result.labels, are matched by position"
    if (at < 0).any():
        name = names[int(np.argmax(at < 0))]
        raise InvalidProblem(f"labeling {k} has the element {name!r}, labeling {first} has not: {advice}")
    count = np.bincount(at, minlength=len(order))
    if (count > 1).any():
        raise InvalidProblem(f"labeling {k} names {order[int(np.argmax(count > 1))]!r} more than once: {advice}")
    if (count < 1).any():
        name = order[int(np.argmax(count < 1))]
        raise InvalidProblem(f"labeling {k} lacks the element {name!r} of labeling {first}: {advice}")


def _codes(labels: NDArray[Any]) -> Ints:
    if labels.ndim != 1:
        raise InvalidPartition(f"a labeling has shape {labels.shape}: expected a label for each element")
    if labels.dtype.kind in "iu":
        alone = labels == -1
    elif labels.dtype.kind == "f":
        alone = np.isnan(labels) | (labels == -1)
    else:
        alone = np.array([_is_missing(x) for x in labels.tolist()], bool)
        labels = labels.astype(str)
    codes = np.unique(labels, return_inverse=True)[1].astype(np.int64).ravel()
    codes[alone] = len(labels) + np.arange(int(alone.sum()))
    return np.unique(codes, return_inverse=True)[1].astype(np.int64).ravel()


def _is_missing(label: Any) -> bool:
    try:
        return (
            label is None or bool(label != label) or (isinstance(label, int | float | np.number) and bool(label == -1))
        )
    except TypeError:  # pandas.NA refuses to be a truth value
        return True


def _renumbered(rows: Ints) -> Ints:
    return np.stack([np.unique(column, return_inverse=True)[1].ravel() for column in rows.T], axis=1)


# --------------------------------------------------------------------------------------------------------- as a problem


def _problem(
    rows: Ints, size: Ints, w: Floats, most: int | None = None, names: Sequence[Hashable] | None = None
) -> SetPartition | None:
    """The problem over rows of labels, each for some elements; None if more than `most` pairs would be listed."""
    n, m = rows.shape
    names = range(n) if names is None else names
    most = LISTED if most is None else most
    if n <= DENSE:
        matrix = np.zeros((n, n))
        for k in range(m):
            matrix += np.where(rows[:, k, None] == rows[:, k], -w[k], w[k])
        matrix *= size.astype(np.float64)[:, None] * size
        np.fill_diagonal(matrix, 0.0)
        return SetPartition._of_matrix(names, matrix)
    shared = [np.bincount(column) for column in rows.T]
    if sum(float((count * (count - 1.0)).sum()) / 2 for count in shared) > most:
        return None
    u, v, costs = [], [], []
    for k in range(m):
        order = np.argsort(rows[:, k], kind="stable")
        last = np.searchsorted(rows[order, k], rows[order, k], side="right")
        count = last - np.arange(n) - 1
        first = np.repeat(np.arange(n), count)
        second = first + 1 + np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
        u.append(order[first])
        v.append(order[second])
        costs.append(-2.0 * w[k] * size[u[-1]] * size[v[-1]])
    return SetPartition._of_pairs(
        names, np.concatenate(u), np.concatenate(v), np.concatenate(costs),
        Background([(float(w.sum()), size.astype(np.float64))]), dense=False,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ by moving


def _moved(rows: Ints, size: Floats, w: Floats, stopping: Stopping) -> tuple[Ints, int]:
    """Labels of rows: from the best labeling on, rows move while that lowers the cost, and clusters are joined."""
    n, m = rows.shape
    first = np.cumsum([0, *(int(column.max()) + 1 for column in rows.T)])
    keys = rows + first[:-1]  # one number for each label of each labeling
    order = np.argsort(keys[:, 0], kind="stable")
    best, labels = np.inf, np.zeros(n, np.int64)
    for k in range(m):
        cost = _cost(rows, size, w, rows[:, k])
        if cost < best:
            best, labels = cost, rows[:, k].copy()
    iterations = 0
    while True:
        iterations += 1
        labels = np.unique(labels, return_inverse=True)[1].ravel()
        labels = _passes(keys, size, w, labels, order, int(first[-1]), stopping)
        labels = _joined_clusters(keys, size, w, np.unique(labels, return_inverse=True)[1].ravel(), int(first[-1]))
        cost = _cost(rows, size, w, labels)
        if cost >= best - 1e-9 * max(1.0, abs(best)) or stopping.check(np.inf):
            return labels, iterations
        best = cost


def _members(keys: Ints, size: Floats, labels: Ints, clusters: int, values: int) -> tuple[Floats, Floats]:
    """The number of elements of each label in each cluster, shape (values, clusters), and in each cluster."""
    flat = (keys * clusters + labels[:, None]).ravel()
    counts = np.bincount(flat, np.repeat(size, keys.shape[1]), values * clusters).reshape(values, clusters)
    return np.asarray(counts, np.float64), np.asarray(np.bincount(labels, size, clusters), np.float64)


def _passes(keys: Ints, size: Floats, w: Floats, labels: Ints, order: Ints, values: int, stopping: Stopping) -> Ints:
    """Each row in turn moves to the cluster in which it costs least, or to a new one, until no row moves."""
    for _ in range(50):
        moved = start = 0
        while start < len(order):
            clusters = int(labels.max()) + 1 + 64  # with room for new ones
            counts, total = _members(keys, size, labels, clusters, values)
            more, seen = move_rows(keys, size, w, order[start:], labels, counts, total)
            moved, start = moved + more, start + seen
        if not moved or stopping.check(np.inf):
            break
        labels = np.unique(labels, return_inverse=True)[1].ravel()
    return labels


def _joined_clusters(keys: Ints, size: Floats, w: Floats, labels: Ints, values: int) -> Ints:
    """Clusters joined where that lowers the cost."""
    clusters = int(labels.max()) + 1
    counts, total = _members(keys, size, labels, clusters, values)
    per_key = np.zeros(values)
    per_key[keys] = w  # each label belongs to one labeling
    costs = float(w.sum()) * np.outer(total, total) - 2.0 * (counts * per_key[:, None]).T @ counts
    costs = np.triu(costs, 1) + np.triu(costs, 1).T
    found: Ints = run(SetPartition._of_matrix(range(clusters), costs), "kernighan-lin").labels.astype(np.int64)[labels]
    return found


def _cost(rows: Ints, size: Floats, w: Floats, labels: Ints) -> float:
    """The cost of labels of rows, up to a constant."""
    together = np.bincount(labels, size)
    cost = 0.5 * float(w.sum()) * float(np.square(together).sum())
    for k in range(rows.shape[1]):
        key = _both(labels, rows[:, k])
        cost -= float(w[k]) * float(np.square(np.bincount(key, size)).sum())
    return cost


def _both(one: NDArray[Any], other: NDArray[Any]) -> Ints:
    """Numbers that are equal for equal pairs of labels, and not much larger than the number of elements."""
    most = int(other.max(initial=0)) + 1
    key = one.astype(np.int64) * most + other
    if (int(one.max(initial=0)) + 1) * most > 8 * len(one) + 1_000_000:
        return np.asarray(np.unique(key, return_inverse=True)[1].ravel(), np.int64)
    return np.asarray(key, np.int64)


# ------------------------------------------------------------------------------------------------ bounds and stability


def _pairs_within(labels: NDArray[Any]) -> float:
    """The number of pairs of elements with equal labels."""
    count = np.bincount(labels).astype(np.float64)
    return float((count * (count - 1) / 2).sum())


def _bound(table: Ints, w: Floats, joined: Floats) -> float:
    """A lower bound on the disagreement, from the disagreements of all pairs of labelings."""
    m = len(w)
    if m < 2:
        return 0.0
    share = w / (w.sum() - w.min())  # so that the weights of the pairs with l add up to at most w_l
    total = 0.0
    for k in range(m):
        for other in range(k):
            apart = joined[k] + joined[other] - 2 * _pairs_within(_both(table[:, k], table[:, other]))
            total += float(share[k] * w[other]) * apart
    return total


class _Counts:
    """The number of elements of the cluster of each element that share its label, for each labeling."""

    def __init__(self, table: Ints, labels: NDArray[np.int32]) -> None:
        n, m = table.shape
        self.labels = labels
        self.size = np.bincount(labels, minlength=1)
        self.shared, self.single = np.empty((n, m)), np.empty((n, m))
        self.pairs = np.empty(m)
        for k in range(m):
            key = _both(labels, table[:, k])
            count = np.bincount(key)
            self.shared[:, k] = count[key] - 1
            self.single[:, k] = np.bincount(table[:, k])[table[:, k]] == 1
            self.pairs[k] = (count * (count - 1.0) / 2).sum()

    def agreement(self, w: Floats) -> Floats:
        others = self.size[self.labels] - 1
        mean = self.shared @ w / float(w.sum()) / np.maximum(others, 1)
        return np.where(others > 0, mean, self.alone(w))

    def alone(self, w: Floats) -> Floats:
        """The share of the labelings in which each element has a cluster of its own."""
        return np.asarray(self.single @ w / float(w.sum()))

    def stability(self, w: Floats) -> Floats:
        total = np.bincount(self.labels, self.shared @ w, len(self.size)) / float(w.sum())
        pairs = self.size * (self.size - 1.0)
        alone = np.bincount(self.labels, self.alone(w), len(self.size))  # of clusters of one element
        return np.where(pairs > 0, total / np.maximum(pairs, 1.0), alone)
