"""A problem with the answers of people: as requirements, or as evidence where people err.

Without errors, "together" and "apart" are required. If a person gives a wrong answer with probability e, an answer is
log2((1 - e) / e) bits of evidence, which is added to the cost of its pair: answers of several people about one pair add
up, and two that contradict each other cancel out (independent errors; naive Bayes). See `bits` for the cost of a bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphpart.answers.bits import bit_of
from graphpart.answers.contradicting import dropped
from graphpart.answers.given import APART, NOT_KNOWN, TOGETHER, WORDS, Answers, answers_of
from graphpart.display import plural
from graphpart.errors import InfeasibleProblem, InvalidOption, known_arguments
from graphpart.partition.problem import SetPartition, as_problem
from graphpart.partition.problem.derived import with_costs, with_rules
from graphpart.partition.problem.rules import Rules

__all__ = ["answered", "check_error", "with_answers"]

NAMED = 3  # answers that a message names


@known_arguments
def answered(problem: Any, answers: Any, *, error: float = 0.0) -> SetPartition:
    """The same problem with answers of people about pairs of its elements.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    answers : DataFrame of pandas, polars or Arrow, mapping from names to lists, or path of a file, CSV or Parquet
        With the columns `left`, `right` (names of elements, in either order) and `answer`: "together" (also yes, 1 or
        True), "apart" (no, 0, False), or nothing where the person does not know. Other columns are ignored. Names are
        also compared as texts. Answers about names that are no elements are left out, with a warning.
    error : float
        The probability that an answer is wrong, at least 0 and below 1/2. With 0, answers are required. Otherwise each
        is evidence of log2((1 - error) / error) bits, so that several answers about one pair add up.

    Returns
    -------
    SetPartition
        For :func:`graphpart.solve` and :func:`graphpart.partition.extend`. Arrays are shared with the problem where
        they are the same. The costs of evidence are part of its costs.

    Raises
    ------
    InfeasibleProblem
        If answers are required that contradict each other or the problem. The message names the smallest set to drop.
    InvalidProblem, InvalidOption
        If the table or the error is not as described.

    Notes
    -----
    O(n + m + k log m) for k answers, besides contradictions (see :func:`contradictions`). One bit of evidence is a cost
    of 1 if the problem is made from probabilities; of other problems, a fifth of the median absolute cost of a pair.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 2.0], ["ann", "bob", "cid"])
    >>> said = {"left": ["bob"], "right": ["ann"], "answer": ["apart"]}
    >>> gp.solve(answered(p, said)).n_clusters
    3
    >>> answered(p, said, error=0.2).pairs()[2].tolist()
    [-1.2, 0.0, 2.0]
    """
    return with_answers(as_problem(problem), answers, error)[0]


def with_answers(p: SetPartition, answers: Any, error: Any = 0.0) -> tuple[SetPartition, Answers]:
    """:func:`answered`, and the answers as arrays."""
    check_error(error)
    given = answers_of(p, answers)
    if error > 0:
        bits = math.log2((1 - error) / error) * bit_of(p)
        known = given.said != NOT_KNOWN
        costs = np.where(given.said[known] == APART, bits, -bits)
        return with_costs(p, given.pairs[known], costs), given
    _check(p, given)
    return with_rules(p, Rules(given.of(TOGETHER), given.of(APART), p._limits)), given


def check_error(error: Any) -> None:
    """Raise InvalidOption unless it is the probability that an answer is wrong."""
    if isinstance(error, bool) or not isinstance(error, int | float | np.number) or not 0 <= error < 0.5:
        raise InvalidOption(f"error is {error!r}: expected a probability of at least 0 and below 0.5")


def _check(p: SetPartition, given: Answers) -> None:
    at = np.flatnonzero(dropped(p, given))
    if not len(at):
        return
    some = [
        f"{p.nodes[a]!r} and {p.nodes[b]!r} {WORDS[given.said[k]]} (row {given.rows[k]})"
        for k in at[:NAMED].tolist()
        for a, b in [given.pairs[k].tolist()]
    ]
    more = f" and {len(at) - NAMED} more" if len(at) > NAMED else ""
    raise InfeasibleProblem(
        f"answers contradict each other or the problem: without {plural(len(at), 'answer')}, {', '.join(some)}{more}, "
        "the others agree; expected a table without these, or error=0.05 to take answers as evidence"
    )
