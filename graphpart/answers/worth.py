"""What the answer about a decision is worth: the chance that the decision is wrong, and what would change.

1. `likely_decisions` finds the changes of a result that cost least: joins, splits and moves, each with the pair whose
   cost speaks most for it. The pair is a question: together or apart?
2. The chance that a decision is wrong is that of `doubts`: 1 / (1 + 2**b), where b is the rise of the cost in bits.
   Records that `gp.match` compares are an exception, since the evidence of pairs that share records is not independent:
   that of k pairs between two clusters counts like that of sqrt(k), and b is the mean of this and of the evidence of
   the pair alone (a logarithmic opinion pool of equal weights; Genest & Zidek 1986). Clusters that share a group cannot
   be joined: what then has to leave is in the rise of the cost, which is the evidence alone.
3. The gain of a question is the chance, times (1 + wrong decisions) / (1 + the sum of their chances) over the answers
   so far, for joins and cuts separately: a matcher that joins too much is mostly asked about joins. The chance is not
   multiplied by the number of pairs that the change decides otherwise, since then improbable joins of large clusters
   come first, and of 100 answers half as many correct a wrong decision.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from graphpart.common.columns import Columns
from graphpart.partition.confidence.examining import likely_decisions
from graphpart.partition.inputs.origin import chance_otherwise
from graphpart.partition.problem import Labels, SetPartition

__all__ = ["Floats", "Worth", "unsure_pairs", "worth_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Worth:
    """Decisions of a result, one in each row, and what answers about them are worth.

    Attributes
    ----------
    pairs : ndarray of int64, shape (k, 2)
        Indices of elements.
    together : ndarray of bool, shape (k,)
        What the result says.
    clusters : ndarray of int64, shape (k, 2)
        Those that the change concerns; -1 for none.
    chance : ndarray of float64, shape (k,)
        That the decision is wrong.
    """

    pairs: NDArray[np.int64]
    together: Flags
    clusters: NDArray[np.int64]
    chance: Floats

    def at(self, rows: NDArray[np.integer[Any]] | list[int]) -> Self:
        """Some rows."""
        return type(self)(*(getattr(self, one.name)[rows] for one in fields(self)))

    def beside(self, other: Self) -> Self:
        """The rows of both."""
        parts = ((getattr(self, one.name), getattr(other, one.name)) for one in fields(self))
        return type(self)(*(np.concatenate(part) for part in parts))

    def gains(self, told: list[tuple[bool, float, bool]]) -> Floats:
        """The expected number of corrected decisions; of each answer `told` says: was together, chance, was wrong."""
        factor = []
        for kind in (True, False):
            mine = [(chance, wrong) for together, chance, wrong in told if together == kind and 0 <= chance <= 1]
            factor.append((1 + sum(wrong for _, wrong in mine)) / (1 + sum(chance for chance, _ in mine)))
        return np.asarray(self.chance * np.where(self.together, *factor), np.float64)


def worth_of(p: SetPartition, labels: Labels, bit: float, together_err: bool = False) -> Worth:
    """All decisions about a partition with canonical labels. O(m log^2 m)

    `bit` is the cost of one bit of evidence; `together_err`: whether that of pairs that share elements is dependent.
    """
    decisions, leaving = likely_decisions(p, labels)
    together = decisions["decision"] == "together"
    cluster, other = decisions["cluster"], decisions["other"]
    bits = decisions["doubt"] / bit
    if together_err:
        own = np.where(together, -decisions["cost"], decisions["cost"]) / bit
        full = ~together & _share_a_group(p, labels, cluster, other)
        pairs = _changed(decisions, together, np.bincount(labels), leaving)
        bits = np.where(full, bits, (bits / np.sqrt(pairs) + own) / 2)
    return Worth(
        np.stack([decisions["left"], decisions["right"]], 1).astype(np.int64),
        together,
        np.stack([cluster, other], 1).astype(np.int64),
        chance_otherwise(bits),
    )


def _share_a_group(p: SetPartition, labels: Labels, a: NDArray[np.integer[Any]], b: NDArray[np.integer[Any]]) -> Flags:
    """Whether two clusters have elements of one group, at most one of which may be in a cluster; b may be -1."""
    groups = p.groups
    if groups is None or not groups.is_hard:
        return np.zeros(len(a), bool)
    used = groups.hard[groups.group]
    at = (labels[groups.element[used]], groups.group[used])
    members = coo_array((np.ones(len(at[0])), at), shape=(int(labels.max(initial=0)) + 1, len(groups.hard))).tocsr()
    found = np.asarray(members[a].multiply(members[np.maximum(b, 0)]).sum(axis=1)).ravel() > 0
    return np.asarray(found & (b >= 0))


def unsure_pairs(labels: Labels, u: NDArray[np.int64], v: NDArray[np.int64], bits: Floats, worth: Worth) -> Worth:
    """Pairs with so many `bits` of evidence that they are together, as decisions about themselves.

    The chance is that of the pair alone, or of the least sure decision in `worth` about the same clusters, if that is
    smaller.
    """
    together = labels[u] == labels[v]
    clusters = np.stack([labels[u], np.where(together, -1, labels[v])], 1).astype(np.int64)
    chance = chance_otherwise(np.where(together, bits, -bits))
    keys, place = np.unique(
        np.concatenate([_about(worth.together, worth.clusters), _about(together, clusters)]), return_inverse=True
    )
    largest = np.zeros(len(keys))
    np.maximum.at(largest, place[: len(worth.pairs)], worth.chance)
    others = largest[place[len(worth.pairs) :]]
    chance = np.where(others > 0, np.minimum(chance, others), chance)
    return Worth(np.stack([u, v], 1), together, clusters, chance)


def _about(together: Flags, clusters: NDArray[np.int64]) -> NDArray[np.int64]:
    """A number for the cluster of each decision, or for the two clusters that are apart."""
    return np.where(together, clusters[:, 0], ((clusters.min(axis=1) + 2) << 32) + clusters.max(axis=1))


def _changed(decisions: Columns, together: Flags, sizes: NDArray[np.int64], leaving: Labels) -> Floats:
    """How many pairs of elements each change decides otherwise, at least 1."""
    cluster, other = decisions["cluster"], decisions["other"]
    a, b = sizes[cluster], np.where(other >= 0, sizes[other], 0)
    least = np.where(together, a - 1, a + b - 1)  # one element moves
    leave = np.maximum(leaving[cluster].astype(np.int64), 1)
    whole = np.where(together, leave * (a - leave), a * b)
    changed = np.where(decisions["scope"] == "clusters", whole, least)
    return np.asarray(np.maximum(changed, 1), np.float64)
