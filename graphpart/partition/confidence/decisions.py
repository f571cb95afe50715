"""The decisions of doubtful pairs: one change often decides several pairs otherwise.

A pair that is apart and has the doubt of joining its two clusters stands for this join. One that has the doubt of
moving one of its elements to the cluster of the other stands for this move. A pair that is together stands for the move
of one of its elements, or for the best split of its cluster. Other pairs of the same clusters with the same doubt stand
for one unspecified change. If all pairs of one doubt are linked by clusters that they share, and stand for at most one
join, split or move, they stand for one change; otherwise equal doubts are a coincidence. They are, too, if at most half
of the costs are different numbers, as of small whole numbers. Each decision keeps the pair whose cost is the strongest
argument for the change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns, named, placed
from graphpart.common.steps import ROUNDING
from graphpart.display import shortened
from graphpart.kernels._pairs import connected_components
from graphpart.partition.confidence.changes import Changes
from graphpart.partition.inputs.given_rows import GivenRows
from graphpart.partition.inputs.origin import chance_of
from graphpart.partition.problem import Labels

__all__ = ["DECIDED", "Examined", "as_given", "by_place", "decisions_of", "in_words"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
DECIDED = np.array(["together", "apart"])
KINDS = np.array(["join", "split", "move"])
SCOPES = np.array(["clusters", "clusters", "element", "pair"])  # scope of each kind of change, for the kinds below
JOIN, SPLIT, MOVE, OTHER = range(4)


@dataclass(frozen=True)
class Examined:
    """A partition and its cheapest known changes.

    Attributes
    ----------
    labels, classes : ndarray of int32, shape (n,)
        The cluster of each element, and its must-join class.
    found : Changes
        Of must-join classes and clusters.
    slack : float
        Doubts that differ by less are equal.
    names, shown : sequence
        The names of elements, and the labels that the result gives to clusters.
    origin : Origin or None
        Of the costs.
    """

    labels: Labels
    classes: Labels
    found: Changes
    slack: float
    names: Sequence[Hashable]
    shown: Integers
    origin: Any


def decisions_of(
    u: Labels, v: Labels, cost: Floats, own: Floats, doubt: Floats, exactly: NDArray[np.bool_], examined: Examined
) -> Columns:
    """The table of decisions, the least doubt first; O(m log m).

    Parameters
    ----------
    u, v : ndarray of int, shape (m,)
        Pairs in ascending order of doubt.
    cost, own, doubt, exactly : ndarray of shape (m,)
        `own` is the cost without groups, from which scores are computed; NaN for pairs that are not listed.
    examined : Examined
    """
    labels, classes, found, slack = examined.labels, examined.classes, examined.found, examined.slack
    names, shown, origin = examined.names, examined.shown, examined.origin
    finite = np.isfinite(doubt) & (classes[u] != classes[v])
    u, v, cost, own, doubt, exactly = (array[finite] for array in (u, v, cost, own, doubt, exactly))
    a, b = labels[u].astype(np.int64), labels[v].astype(np.int64)
    ca, cb = classes[u].astype(np.int64), classes[v].astype(np.int64)
    apart = a != b
    alone = np.bincount(labels[np.unique(classes, return_index=True)[1]], minlength=len(shown)) == 1

    def equal(rise: Floats) -> NDArray[np.bool_]:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(rise - doubt) <= slack + ROUNDING * np.abs(doubt))

    joins = (found.with_[a] == b) & equal(found.joins[a]) | (found.with_[b] == a) & equal(found.joins[b])
    pair = ~apart & (np.bincount(labels, minlength=len(shown)) == 2)[a]  # either element may leave: it is one split
    first = equal(found.elements[ca]) & np.where(apart, found.to[ca] == b, ~pair | (found.to[ca] >= 0))
    second = equal(found.elements[cb]) & np.where(apart, found.to[cb] == a, ~pair | (found.to[cb] >= 0))
    kind = np.full(len(u), OTHER)
    kind[~apart & equal(found.splits[a])] = SPLIT
    kind[first | second] = MOVE
    kind[apart & joins] = JOIN
    swap = (kind == MOVE) & second & ~first  # the element that moves is the left one
    u, v, a, b, ca, cb = (np.where(swap, x, y) for x, y in ((v, u), (u, v), (b, a), (a, b), (cb, ca), (ca, cb)))
    to = found.to[ca].astype(np.int64)
    step = np.diff(doubt, prepend=doubt[:1]) > slack + ROUNDING * np.abs(doubt)
    same = np.asarray(np.cumsum(step), np.int64)  # equal numbers for equal doubts
    low, high = np.minimum(a, b), np.maximum(a, b)
    way = np.where(kind == OTHER, OTHER + apart, kind)
    ends = np.where(kind == MOVE, ca, low), np.where(kind == MOVE, to, high) + 1
    most = int(max((x.max(initial=0) for x in ends), default=0)) + 1
    number = _numbered((way * most + ends[0]) * most + ends[1], np.where(kind == OTHER, same, 0))
    listed = np.abs(own[~np.isnan(own)])
    if 2 * len(np.unique(listed)) > len(listed):
        number = _numbered(np.where(_one_change(same, low, high, number, kind != OTHER), -1 - same, number))
    speaks = np.where(apart, cost, -cost)  # the less, the more the pair speaks for the change
    order = np.lexsort((speaks, 2 * number + (kind == OTHER)))
    best = order[np.flatnonzero(np.diff(number[order], prepend=-1))]
    count = np.bincount(number, minlength=len(best))
    least = np.full(len(best), np.inf)
    np.minimum.at(least, number, doubt)
    exact = np.zeros(len(best), bool)
    exact[number[exactly]] = True
    rows = np.argsort(least, kind="stable")
    best, count, least, exact = best[rows], count[rows], least[rows], exact[rows]
    moving = kind[best] == MOVE
    other = np.where(moving, to[best], np.where(apart[best], b[best], -1))
    change = np.where(apart[best], JOIN, SPLIT)
    change = np.where(moving, np.where(other < 0, SPLIT, np.where(alone[a[best]], JOIN, MOVE)), change)
    columns: dict[str, NDArray[Any]] = {
        "left": named(names, u[best]),
        "right": named(names, v[best]),
        "decision": DECIDED[apart[best].astype(np.intp)],
    }
    if origin is not None and (scores := origin.scores(own[best])) is not None:
        columns["score"] = scores
    columns |= {"cost": cost[best], "kind": KINDS[change], "scope": SCOPES[kind[best]]}
    columns |= {"cluster": shown[a[best]], "other": np.append(shown, -1)[other], "pairs": count, "doubt": least}
    if (chance := chance_of(origin, least)) is not None:
        columns["chance"] = chance
    return Columns(columns | {"bound": np.where(exact, "exact", "at most")})


def _cut(name: Any) -> str:
    return shortened(str(name), 40)


def in_words(decisions: Columns, name: Callable[[Any], str] = _cut) -> NDArray[Any]:
    """The change in words; `name` makes the text for an element."""
    out = np.empty(decisions.rows, object)
    rows = zip(*(decisions[k].tolist() for k in ("kind", "scope", "left", "right", "cluster", "other")), strict=True)
    for k, (change, scope, left, right, own, other) in enumerate(rows):
        a, b = name(left), name(right)
        if scope == "pair":
            out[k] = f"{a} and {b} {'together' if change == 'join' else 'apart'}"
        elif scope == "element":
            ways = {"split": f"{a} leaves cluster {own}", "join": f"{a} joins cluster {other}"}
            out[k] = ways.get(change, f"{a} moves from cluster {own} to {other}")
        elif change == "join":
            out[k] = f"clusters {own} and {other} joined"
        else:
            out[k] = f"cluster {own} split, {a} from {b}"
    return out


def as_given(columns: Columns, origin: Any) -> Columns:
    """Columns with ``left`` and ``right`` as the frame has them that the problem was made from, and its other columns.

    The same columns if it was not made from one.
    """
    if origin is None or origin.table is None:
        return columns
    pairs = list(zip(columns["left"].tolist(), columns["right"].tolist(), strict=True))
    rows = GivenRows(origin.table, origin.left, origin.right, pairs)
    low, high = (np.where(rows.turned, columns[x], columns[y]) for x, y in (("right", "left"), ("left", "right")))
    given: dict[Any, NDArray[Any]] = {origin.left: low, origin.right: high}
    first = list(given)
    if origin.fields is not None:
        given |= origin.fields.of_pairs(list(zip(low.tolist(), high.tolist(), strict=True)))
    given |= {name: rows.values(name) for name in origin.table.columns if name not in given}
    if origin.kind == "cost":
        given[origin.column] = columns["cost"]
    dropped = {"left", "right", "score", "cost" if origin.kind == "cost" else None}
    own = {f"{k}_of_doubts" if k in given else k: a for k, a in columns.items() if k not in dropped}
    first += [k for k in ("decision", "change") if k in own and k not in given]  # where a printed frame shows them
    every = {**given, **own}
    return Columns({**{k: every[k] for k in first}, **every})


def by_place(columns: Columns, origin: Any) -> Columns:
    """Columns with the places of pixels, such as (row, column), in place of their numbers, if the problem is a grid."""
    return columns if origin is None else placed(columns, origin.shape)


def _one_change(
    same: Integers, low: Integers, high: Integers, number: Integers, named: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether all pairs of the same doubt as each pair stand for one change, see above."""
    count = int(same.max(initial=-1)) + 1
    width = int(high.max(initial=0)) + 1
    clusters, ends = np.unique(np.concatenate([same * width + low, same * width + high]), return_inverse=True)
    u, v = np.split(ends.astype(np.int32), 2)
    component = connected_components(len(clusters), u, v)
    parts = np.bincount(same[np.unique(component[u], return_index=True)[1]], minlength=count)
    changes = np.bincount(same[named][np.unique(number[named], return_index=True)[1]], minlength=count)
    return np.asarray((parts[same] == 1) & (changes[same] <= 1))


def _numbered(*keys: Integers) -> Integers:
    """0, 1, ... for different keys, in the order of their first appearance."""
    order = np.lexsort(keys)
    new = np.ones(len(order), bool)
    new[1:] = np.any([np.diff(key[order]) != 0 for key in keys], axis=0)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(new) - 1
    first = np.full(int(new.sum()), len(order))
    np.minimum.at(first, group, np.arange(len(order)))
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.asarray(rank[group])
