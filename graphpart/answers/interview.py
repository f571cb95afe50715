"""Questions one after the other: after each answer, only what depends on it is solved and examined again.

The decisions of the result, and what answers about them are worth (`worth`), are kept. An answer changes the cost or
the requirement of one pair. Then

1. the elements of both clusters, and of the clusters that a pair links to them, make a problem of their own, which is
   solved from the present labels by local search; all other elements stay in their clusters. Clusters are whole there,
   so the cost of the whole changes by as much;
2. decisions about clusters that have changed are examined again, in the problem restricted to their elements and to
   those of clusters that a pair links to them, where the sums of costs are those of the whole.

Both take time by the size of the neighbourhood, besides some passes over all pairs. What is known of other clusters can
be out of date in one point: their best partner may be another one by now, so that a decision is taken for that of a
pair where it is one of clusters, or the reverse. Where the number of clusters is limited, clusters are connected, or
costs are a matrix, the neighbourhood is everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.applying import check_error, with_answers
from graphpart.answers.asking import Asked, choose, design_of, told_by
from graphpart.answers.bits import bit_of, errs_together
from graphpart.answers.given import COLUMNS, NOT_KNOWN, WORDS, Answers, answers_of, chance_in, placed, problem_of
from graphpart.answers.sides import record_columns
from graphpart.answers.worth import worth_of
from graphpart.common.groups import first_of
from graphpart.errors import InvalidOption, known_arguments
from graphpart.partition.inputs.frames import table_of
from graphpart.partition.local_search.kernighan_lin_pairs import kernighan_lin_pairs
from graphpart.partition.problem import SetPartition, canonical
from graphpart.partition.results.finish import finish
from graphpart.partition.results.starts import repaired_start
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["METHOD", "ROW", "Interview"]

METHOD = "kernighan-lin-pairs"
JUDGED = ("decision", "chance", "about")  # columns of questions that tables of answers may have
ROW = (*COLUMNS, *JUDGED)

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Interview:
    """Questions to a person, one after the other: each answer improves the result before the next question.

    Parameters
    ----------
    problem, result, answers, records, id
        As for :func:`graphpart.questions`, but the problem is the one without the answers.
    error : float
        The probability that an answer is wrong, as for :func:`graphpart.answers.answered`. With 0, answers are
        required.

    Attributes
    ----------
    problem : SetPartition
        With the answers so far.

    Raises
    ------
    InvalidPartition
        If the result does not fit the problem.
    InfeasibleProblem, InvalidProblem, InvalidOption
        If an argument is not as described.

    Notes
    -----
    It takes as long to make it as :func:`graphpart.questions` takes. After an answer, the next question takes time by
    the size of the clusters near it, and some passes over all pairs.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 0.5, -3.0], ["ann", "anna", "bob", "rob"])
    >>> interview = Interview(p, gp.solve(p))
    >>> question = interview.question()
    >>> question["left"], question["right"], question["decision"]
    ('anna', 'bob', 'apart')
    >>> interview.answer("together")
    >>> interview.result.n_clusters
    1
    >>> for question in interview:
    ...     interview.answer("")  # not known
    >>> interview.answers["answer"]
    ['together', '', '']
    """

    @known_arguments
    def __init__(
        self,
        problem: Any,
        result: Any,
        *,
        answers: Any = None,
        error: float = 0.0,
        records: Any = None,
        id: str | None = None,
    ) -> None:
        check_error(error)
        p = problem_of(problem)
        self._columns = record_columns(p, problem, result, records, id)
        self._first, self._error, self._scale = p, error, (bit_of(p), errs_together(p))
        self._design = design_of(p, result)
        labels = p.labels(result)
        p._check_feasible(labels)
        self._labels = labels.astype(np.int64)
        answers = {name: [] for name in COLUMNS} if answers is None else placed(problem, answers)
        self._given = answers_of(p, answers)
        self._judged = _judged(answers, self._given)
        self._past: list[tuple[int, Integers, Integers]] = []  # answers before, elements, and their labels before
        self._pending: Asked | None = None
        self.problem = with_answers(p, self._given, error)[0]
        if len(self._given.pairs):
            self._solve(np.unique(self._given.pairs))
        self._labels = canonical(self._labels).astype(np.int64)
        self._worth = worth_of(self.problem, self._labels.astype(np.int32), *self._scale)

    @property
    def result(self) -> PartitionResult:
        """The partition with the answers so far. O(m)"""
        labels = canonical(self._labels)
        return finish(self.problem, labels, Stopping(), METHOD, Status.LOCAL_OPTIMUM)

    @property
    def answers(self) -> dict[str, list[Any]]:
        """The answers so far: `left`, `right`, `answer`, and what its question had: `decision`, `chance`, `about`."""
        names = [[self._first.nodes[i] for i in side] for side in self._given.pairs.T.tolist()]
        said = [WORDS[x] for x in self._given.said.tolist()]
        judged = ([row[k] for row in self._judged] for k in range(len(JUDGED)))
        return dict(zip(ROW, (*names, said, *judged), strict=True))

    def ask(self, n: int) -> Asked:
        """The most valuable questions now, as arrays; no answer can follow from those to others. O(m log m)"""
        labels = canonical(self._labels)
        number = np.full(int(self._labels.max(initial=-1)) + 2, -1)  # of the last one: no cluster
        number[self._labels] = labels
        worth = replace(self._worth, clusters=number[self._worth.clusters])
        return choose(self.problem, labels, worth, self._given, told_by(self.answers), n, self._design)

    def question(self) -> dict[str, Any] | None:
        """The most valuable question, a row of :func:`graphpart.questions`; None if there is none left."""
        asked = self.ask(1)
        self._pending = asked if len(asked.pairs) else None
        if self._pending is None:
            return None
        row = asked.columns(self._first, self._columns)
        return {name: values.tolist()[0] for name, values in row.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The questions, one after the other, until there is none left or one is not answered."""
        while (question := self.question()) is not None:
            asked = self._pending
            yield question
            if self._pending is asked:
                return

    def answer(self, answer: str) -> None:
        """Take the answer to the last question: "together", "apart", or "" where the person does not know.

        Raises
        ------
        InvalidProblem, InfeasibleProblem
            If it is no answer, or cannot hold together with what the problem requires: nothing is changed.
        InvalidOption
            If there is no question that has not been answered.
        """
        asked = self._pending
        if asked is None:
            raise InvalidOption("there is no question to answer: expected question() before answer()")
        self.add({**asked.columns(self._first, {}), "answer": [answer]})

    def add(self, answers: Any) -> None:
        """Take the answers of a table, about any pairs; see :func:`graphpart.solve`.

        Raises
        ------
        InvalidProblem, InfeasibleProblem
            As for :meth:`answer`: nothing is changed.
        """
        new, old = answers_of(self._first, answers), self._given
        pairs, said = np.concatenate([old.pairs, new.pairs]), np.concatenate([old.said, new.said])
        given = Answers(pairs, said, np.arange(len(said)))
        self.problem = with_answers(self._first, given, self._error)[0]
        self._given, self._pending = given, None
        self._judged = self._judged + _judged(answers, new)
        ends = new.pairs[new.said != NOT_KNOWN].ravel()
        members, before, changed = self._solve(ends)
        self._past.append((len(old.said), members, before))
        self._examine(changed)

    def undo(self) -> bool:
        """Take back the last answer, or the last table of answers; whether there was one."""
        if not self._past:
            return False
        kept, members, before = self._past.pop()
        self._given = Answers(self._given.pairs[:kept], self._given.said[:kept], np.arange(kept))
        self._judged, self._pending = self._judged[:kept], None
        self.problem = with_answers(self._first, self._given, self._error)[0]
        now = self._labels[members]
        self._labels[members] = before
        self._examine(np.unique(np.concatenate([now, before])))
        return True

    # ------------------------------------------------------------------------------------------- what an answer changes

    def _solve(self, ends: NDArray[np.integer[Any]]) -> tuple[Integers, Integers, Integers]:
        """Solve near some elements; those elements that were free, their labels before, and clusters that changed."""
        p, labels = self.problem, self._labels
        touched = np.unique(labels[ends])
        if not len(touched):
            return touched, touched, touched
        own = np.isin(labels, touched)
        members = np.flatnonzero(_linked(p, labels, own))
        before, count = labels[members], np.bincount(labels)
        mine = members if len(members) == p.n else np.flatnonzero(own)  # which may not obey the answer
        labels[mine] = labels.max() + 1 + repaired_start(_part(p, mine), canonical(labels[mine]))[0]
        found = kernighan_lin_pairs(_part(p, members), initial=canonical(labels[members])).labels
        first = first_of(found)
        was, now = before[first], np.bincount(found)
        same = np.bincount(found, before == was[found], len(now)) == now
        same &= count[was] == now  # a cluster that is as it was keeps its number
        number = np.where(same, was, len(count) - 1 + np.cumsum(~same))
        labels[members] = number[found]
        return members, before, np.unique(np.concatenate([touched, number[~same], np.setdiff1d(before, number)]))

    def _examine(self, changed: Integers) -> None:
        """Examine the decisions that depend on clusters that have changed."""
        p, labels = self.problem, self._labels
        if not len(changed):
            return
        flags = np.zeros(int(max(labels.max(), changed.max())) + 2, bool)  # the last one: of no cluster
        flags[changed] = True
        elements = np.flatnonzero(_linked(p, labels, flags[labels]))
        mine = canonical(labels[elements])
        found = worth_of(_part(p, elements), mine, *self._scale)
        number = np.append(labels[elements][first_of(mine)], -1)
        found = replace(found, pairs=elements[found.pairs], clusters=number[found.clusters])
        old, new = (np.flatnonzero(flags[worth.clusters].any(axis=1)) for worth in (self._worth, found))
        kept = np.delete(np.arange(len(self._worth.pairs)), old)
        self._worth = self._worth.at(kept).beside(found.at(new))


def _part(p: SetPartition, elements: Integers) -> SetPartition:
    return p if len(elements) == p.n else p._restrict(elements)


def _linked(p: SetPartition, labels: Integers, some: Flags) -> Flags:
    """Some elements, which are whole clusters, and those of all clusters that a pair links to them."""
    if p.matrix is not None or p.lifted is not None or (p._limits is not None and p._limits.number):
        return np.ones(p.n, bool)
    u, v, _ = p.pairs()
    near = np.zeros(int(labels.max(initial=-1)) + 1, bool)
    near[labels[some]] = True
    for a, b in ((u, v), (v, u)):
        near[labels[b[some[a]]]] = True
    return near[labels]


def _judged(table: Any, given: Answers) -> list[tuple[str, float, str]]:
    """The columns JUDGED for each answer; "" and NaN where a table does not have them."""
    frame = table_of(table)
    a, b, c = (frame.objects(name) if name in frame.columns else [""] * frame.rows for name in JUDGED)
    return [(str(a[k]), chance_in(b[k]), str(c[k])) for k in given.rows.tolist()]
