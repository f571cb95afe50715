"""The pairs about which to ask people: those whose answers are worth most.

1. `likely_decisions` finds the changes of a result that cost least: joins, splits and moves, each with the pair whose
   cost speaks most for it. The pair is a question: together or apart?
2. The chance that a decision is wrong comes from two judgements, in bits. That of the clusters is the rise of the cost
   by the change. The pairs between two clusters share their records, so their evidence is not independent: of k pairs
   it counts like that of sqrt(k). That of the pair is its own cost, negative where it speaks against the decision. The
   mean of both is the evidence b for the decision (a logarithmic opinion pool of equal weights; Genest & Zidek 1986),
   and the chance is 1 / (1 + 2**b). It ranks questions; it is not calibrated.
3. The gain of a question is the chance times the number of pairs of elements that the change decides otherwise: the
   expected number of corrected pairs. If earlier answers come with the decisions and chances of their questions, the
   gain is also multiplied by (1 + wrong decisions) / (1 + the sum of their chances), for joins and cuts separately: a
   matcher that joins too much is mostly asked about its joins.
4. Questions are chosen by gain, one after the other. Each earlier question about one of the two clusters halves the
   gain, since its answer may settle both. No question can follow from the answers to others: the pairs are a forest
   over the must-join classes, also together with one pair that is known to be apart.

On four tables of 2,000 generated people, the 100 changes of highest gain were right for 624 pairs of elements, in the
mean; the 100 of least rise of the cost, for 184. docs/benchmarks/questions.csv has what answers are worth.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.bits import bit_of
from graphpart.answers.given import APART, NOT_KNOWN, TOGETHER, Answers, answers_of, problem_of
from graphpart.answers.sides import records_of, sides_of
from graphpart.common.columns import Columns
from graphpart.errors import InvalidOption, known_arguments
from graphpart.partition.confidence.examining import likely_decisions
from graphpart.partition.inputs.frames import table_of
from graphpart.partition.inputs.origin import chance_otherwise
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.derived import connected

__all__ = ["Asked", "ask", "questions"]

LOOKED_AT = 50  # decisions for each question, of the highest gain, among which questions are chosen
SPREAD = 0.5  # factor of the gain for each earlier question about the same cluster

Floats = NDArray[np.float64]


@known_arguments
def questions(
    problem: Any,
    result: Any,
    n: int = 20,
    *,
    answers: Any = None,
    records: Any = None,
    id: str | None = None,
    library: str | None = None,
) -> Any:
    """The pairs of elements about which to ask people: those whose answers are worth most for the clusters.

    Parameters
    ----------
    problem : SetPartition, networkx.Graph, or graphpart.images.Segmentation
        The problem that was solved; with earlier answers, the one that has them (``result.problem``).
    result : Result, labels, mapping or list of sets
        A partition of all its elements.
    n : int
        The number of questions; fewer if there are not as many.
    answers : DataFrame or mapping, optional
        Earlier answers, as :func:`graphpart.solve` takes them. What follows from them, and pairs that the person does
        not know, are not asked again. If they have the columns `decision` and `chance` of their questions, the gain
        takes into account which decisions turned out to be wrong.
    records : DataFrame, optional
        A table with a row for each element, whose columns are added. Default: the records of a result of
        :func:`graphpart.match`, or the place and the size of each region of a segmentation.
    id : str, optional
        The column of `records` with the names of elements; default: rows are in the order of the elements.
    library : {"pandas", "polars", "dict"}, optional
        As in :meth:`Columns.to_frame`.

    Returns
    -------
    DataFrame
        A row for each question, the most valuable first: `left`, `right` (names), for each column of the records the
        values of both (`name_left`, `name_right`), `decision` (what the result says: "together" or "apart"), `chance`
        (that this is wrong) and `gain` (the expected number of pairs of elements that the answer corrects). Pixels
        and voxels have places, `left_place` and `right_place`. With a column `answer` added, it is a table of answers.

    Raises
    ------
    InvalidPartition
        If the result does not fit the problem.
    InvalidOption, InvalidProblem
        If an argument is not as described.

    Notes
    -----
    O(m log^2 m) for m pairs: 1.4 to 2.0 s of a processor for 100,000 elements and 350,000 pairs, for one question or
    for 100, so ask for several at once. The scale of costs is that of probabilities, where the problem is made from
    them, or by :func:`graphpart.match`. Otherwise the median absolute cost of a pair is taken for odds of 32 to 1. Only
    pairs that the problem lists are asked.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 0.5, -3.0], ["ann", "anna", "bob", "rob"])
    >>> asked = gp.questions(p, gp.solve(p), 1, library="dict")
    >>> {name: values.tolist() for name, values in asked.items() if name in ("left", "right", "decision")}
    {'left': ['anna'], 'right': ['bob'], 'decision': ['apart']}
    """
    p = problem_of(problem)
    found = ask(p, result, n, answers)
    shown = sides_of(p, found.pairs, records_of(problem, result) if records is None else records, id)
    decision = np.where(found.together, "together", "apart")
    return Columns({**shown, "decision": decision, "chance": found.chance, "gain": found.gain}).to_frame(library)


@dataclass(frozen=True, eq=False)
class Asked:
    """Questions as arrays.

    Attributes
    ----------
    pairs : ndarray of int64, shape (k, 2)
        Indices of elements.
    together : ndarray of bool, shape (k,)
        What the result says.
    chance, gain : ndarray of float64, shape (k,)
    clusters : ndarray of int64, shape (k, 2)
        Those that the change concerns; -1 for none.
    labels : ndarray of int32, shape (n,)
        The clusters 0, 1, ... of the result.
    """

    pairs: NDArray[np.int64]
    together: NDArray[np.bool_]
    chance: Floats
    gain: Floats
    clusters: NDArray[np.int64]
    labels: Labels


def ask(p: SetPartition, result: Any, n: int = 20, answers: Any = None) -> Asked:
    """The questions about a result, as arrays; see :func:`questions`."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidOption(f"n is {n!r}: expected a number of questions of at least 1")
    labels = p.labels(result)
    p._check_feasible(labels)
    given = answers_of(p, answers if answers is not None else {"left": [], "right": [], "answer": []})
    decisions, leaving = likely_decisions(p, labels)
    together = decisions["decision"] == "together"
    clusters = np.stack([decisions["cluster"], decisions["other"]], 1)
    changed = _changed(decisions, together, np.bincount(labels), leaving)
    own = np.where(together, -decisions["cost"], decisions["cost"]) / bit_of(p)
    bits = (decisions["doubt"] / bit_of(p) / np.sqrt(changed) + own) / 2
    chance = chance_otherwise(bits)
    gain = chance * changed * np.where(together, *_turned_out(answers))
    pairs = np.stack([decisions["left"], decisions["right"]], 1)
    classes = connected(p.n, *np.concatenate([p.must_join, given.of(TOGETHER)]).T)
    cuts = np.concatenate([p._must_cut if p._has_must_cut else p.must_join[:0], given.of(APART)])
    likely = np.argsort(-gain, kind="stable")[: LOOKED_AT * n]
    skipped = {(a, b) for a, b in given.of(NOT_KNOWN).tolist()}
    forest = _Forest(classes, cuts, pairs[likely])
    chosen = _chosen(likely, gain, pairs, clusters, forest, skipped, int(n))
    return Asked(pairs[chosen], together[chosen], chance[chosen], gain[chosen], clusters[chosen], labels)


def _turned_out(answers: Any) -> tuple[float, float]:
    """How much more often decisions turned out to be wrong than their chances say: of joins, and of cuts."""
    if answers is None or isinstance(answers, Answers):
        return 1.0, 1.0
    table = table_of(answers)
    if not {"answer", "decision", "chance"} <= set(table.columns):
        return 1.0, 1.0
    factors = []
    rows = list(zip(*(table.objects(name) for name in ("decision", "answer", "chance")), strict=True))
    for kind, other in (("together", "apart"), ("apart", "together")):
        chances = [(float(chance), said) for was, said, chance in rows if was == kind and said in (kind, other)]
        known = [(chance, said) for chance, said in chances if 0 <= chance <= 1]
        wrong = sum(said == other for _, said in known)
        factors.append((1 + wrong) / (1 + sum(chance for chance, _ in known)))
    return factors[0], factors[1]


def _changed(
    decisions: Columns, together: NDArray[np.bool_], sizes: NDArray[np.int64], leaving: Labels
) -> NDArray[np.float64]:
    """How many pairs of elements each change decides otherwise, at least 1."""
    cluster, other = decisions["cluster"], decisions["other"]
    a, b = sizes[cluster], np.where(other >= 0, sizes[other], 0)
    least = np.where(together, a - 1, a + b - 1)  # one element moves
    leave = np.maximum(leaving[cluster].astype(np.int64), 1)
    whole = np.where(together, leave * (a - leave), a * b)
    changed = np.where(decisions["scope"] == "clusters", whole, least)
    return np.asarray(np.maximum(changed, 1), np.float64)


class _Forest:
    """The pairs that are asked, as a forest over must-join classes, and which classes are known to be apart."""

    def __init__(self, classes: Labels, cuts: NDArray[np.int32], pairs: NDArray[np.int64]) -> None:
        self._classes, self._parent = classes, dict[int, int]()
        near = np.zeros(int(classes.max(initial=-1)) + 1, bool)
        near[classes[pairs].ravel()] = True
        ends = classes[cuts]
        self._apart: dict[int, set[int]] = {}
        for a, b in ends[near[ends].all(axis=1)].tolist():
            self._apart.setdefault(a, set()).add(b)
            self._apart.setdefault(b, set()).add(a)

    def add(self, i: int, j: int) -> bool:
        """Add a pair, unless its answer may follow from those of earlier pairs; whether it was added."""
        a, b = self._root(int(self._classes[i])), self._root(int(self._classes[j]))
        if a == b or any(self._root(c) == b for c in self._apart.get(a, ())):
            return False
        if len(self._apart.get(a, ())) > len(self._apart.get(b, ())):
            a, b = b, a
        self._parent[a] = b
        if a in self._apart:
            self._apart.setdefault(b, set()).update(self._apart.pop(a))
        return True

    def _root(self, x: int) -> int:
        while x in self._parent:
            x = self._parent[x]
        return x


def _chosen(
    likely: NDArray[np.int64],
    gain: Floats,
    pairs: NDArray[np.int64],
    clusters: NDArray[np.int64],
    forest: _Forest,
    skipped: set[tuple[int, int]],
    n: int,
) -> list[int]:
    """The questions, by gain after all earlier questions about the same clusters."""
    heap = [(-float(gain[k]), order, k, 0) for order, k in enumerate(likely.tolist())]
    heapq.heapify(heap)
    asked: dict[int, int] = {}
    chosen: list[int] = []
    while heap and len(chosen) < n:
        _, order, k, counted = heapq.heappop(heap)
        mine = [c for c in clusters[k].tolist() if c >= 0]
        before = max(asked.get(c, 0) for c in mine)
        if before > counted:
            heapq.heappush(heap, (-float(gain[k]) * SPREAD**before, order, k, before))
            continue
        i, j = pairs[k].tolist()
        if (min(i, j), max(i, j)) in skipped or not forest.add(i, j):
            continue
        chosen.append(k)
        for c in mine:
            asked[c] = asked.get(c, 0) + 1
    return chosen
