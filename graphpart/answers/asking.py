"""The pairs about which to ask people: those whose answers are worth most.

The decisions of a result are examined (`worth`), and questions are chosen of those that are worth most (`choosing`).
`Interview` asks one after the other, and updates what depends on each answer.

docs/benchmarks/questions.csv has what answers are worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.answers.bits import bit_of, errs_together
from graphpart.answers.choosing import Forest, chosen
from graphpart.answers.given import (
    APART,
    COLUMNS,
    NOT_KNOWN,
    TOGETHER,
    WORDS,
    Answers,
    answers_of,
    chance_in,
    meaning_of,
    placed,
    problem_of,
)
from graphpart.answers.sides import record_columns, sides_of
from graphpart.answers.worth import Floats, Worth, unsure_pairs, worth_of
from graphpart.common.columns import Columns
from graphpart.errors import InvalidOption, known_arguments
from graphpart.partition.inputs.frames import table_of
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.derived import connected

__all__ = ["ABOUT", "Asked", "ask", "can_learn", "choose", "questions", "told_by"]

EVERY = 4  # of so many questions, one is about clusters, whatever is learned
WORTH_IT = 0.125  # the least gain of questions about clusters, where costs are learned from others
LOOKED_AT = 50  # decisions for each question, of the highest gain, among which questions are chosen

ABOUT = ("clusters", "pair")

Told = list[tuple[bool, float, bool]]


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
        A partition of all its elements. Of one that can learn from answers, as those of :func:`graphpart.match`, three
        of four questions (more, if others are wrong with a chance below an eighth) are about the unsure pairs from
        which most is learned about all of them. The column `about` says so ("pair" or "clusters"): costs are learned
        from these answers only, since the others are about whole clusters, and say little about a pair with such
        scores.
    n : int
        The number of questions; fewer if there are not as many.
    answers : DataFrame, mapping or path, optional
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
        A row for each question, in descending order of gain: `left`, `right` (names), for each column of the
        records the values of both (`name_left`, `name_right`), `decision` (what the result says: "together" or
        "apart"), `chance` (that this is wrong) and `gain` (the chance, more or less by the earlier `answers`). The
        chance is that of :func:`graphpart.partition.doubts`. Only in a result of :func:`graphpart.match`, it is nearer
        to that of the pair alone, since scores of pairs that share records err together. Pixels and voxels have places,
        `left_place` and `right_place`; those of regions are beside their boundary. With a column `answer` added, it is
        a table of answers.

    Raises
    ------
    InvalidPartition
        If the result does not fit the problem.
    InvalidOption, InvalidProblem
        If an argument is not as described.

    Notes
    -----
    O(m log^2 m) for m pairs: 1.4 to 2.0 s of a processor for 100,000 elements and 350,000 pairs, for one question or
    for 100; of a result of :func:`graphpart.match`, 1 s more. To ask one question after the other, use
    :class:`graphpart.answers.Interview`. No question follows from the answers to others, and none is about elements
    that requirements or groups keep apart: whatever the answers are, all of them together are possible, unless sizes or
    the number of clusters are limited. The scale of costs is that of probabilities, where the problem is made from
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
    found = ask(p, result, n, placed(problem, answers))
    table = found.columns(p, record_columns(p, problem, result, records, id))
    if hasattr(problem, "places"):
        places = zip(("left_place", "right_place"), problem.places(found.pairs).swapaxes(0, 1).tolist(), strict=True)
        table = Columns({**table, **{name: np.fromiter(map(tuple, x), object, len(x)) for name, x in places}})
    order = np.argsort(-found.gain, kind="stable")
    return Columns({name: values[order] for name, values in table.items()}).to_frame(library)


@dataclass(frozen=True, eq=False)
class Asked(Worth):
    """Questions as arrays.

    Attributes
    ----------
    gain : ndarray of float64, shape (k,)
        After the answers so far.
    labels : ndarray of int32, shape (n,)
        The clusters 0, 1, ... of the result.
    about : ndarray of str, or None
        "clusters", or "pair" for an unsure pair, from whose answer costs are learned.
    """

    gain: Floats
    labels: Labels
    about: NDArray[np.str_] | None

    def columns(self, p: SetPartition, columns: dict[str, list[Any]]) -> Columns:
        """The table of :func:`questions`, with the columns of the records of all elements."""
        shown = sides_of(p, self.pairs, columns)
        decision = np.array(WORDS)[self.together.astype(np.int8)]
        more = {} if self.about is None else {"about": self.about}
        return Columns({**shown, "decision": decision, "chance": self.chance, "gain": self.gain} | more)


def ask(p: SetPartition, result: Any, n: int = 20, answers: Any = None) -> Asked:
    """The questions about a result, as arrays; see :func:`questions`."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InvalidOption(f"n is {n!r}: expected a number of questions of at least 1")
    labels = p.labels(result)
    p._check_feasible(labels)
    given = answers_of(p, answers if answers is not None else {name: [] for name in COLUMNS})
    worth = worth_of(p, labels, bit_of(p), errs_together(p))
    return choose(p, labels, worth, given, told_by(answers), int(n), design_of(p, result))


def can_learn(result: Any) -> bool:
    """Whether costs can be learned from answers about a result."""
    return hasattr(result, "learned")


def design_of(p: SetPartition, result: Any) -> Any:
    """What says from which answers most is learned; None if costs cannot be learned from those about p."""
    return result._design() if can_learn(result) and list(p.nodes) == list(result.nodes) else None


def choose(
    p: SetPartition, labels: Labels, worth: Worth, given: Answers, told: Told, n: int, design: Any = None
) -> Asked:
    """Questions about decisions, by what they are worth after the answers so far.

    With a `design`, costs are learned from answers about unsure pairs, and then change decisions everywhere. So three
    of four questions are about such pairs, and more if there are not enough others with a gain of an eighth or more.
    """
    classes = connected(p.n, *np.concatenate([p.must_join, given.of(TOGETHER)]).T)
    cuts = np.concatenate([p._must_cut if p._has_must_cut else p.must_join[:0], given.of(APART)])
    gain, count = worth.gains(told), len(worth.pairs)
    likely = np.argsort(-gain, kind="stable")[: LOOKED_AT * n]
    most, near = n, likely[:0]
    if design is not None:
        rows = design.near(classes, given)
        unsure = unsure_pairs(labels, design.u[rows], design.v[rows], design.bits[rows], worth)
        unsure = unsure.at(design.worth_asking(rows, unsure.chance, given, n))
        worth, gain = worth.beside(unsure), np.concatenate([gain, unsure.chance])
        likely = likely[gain[likely] >= WORTH_IT]
        before = len(given.said)
        most, near = (before + n) // EVERY - before // EVERY, np.arange(count, len(gain))
    forest = Forest(classes, cuts, p.groups, given.of(NOT_KNOWN), worth.pairs[np.concatenate([likely, near])])
    rows = chosen(likely, gain, worth, forest, most, 0.5 if errs_together(p) else 1.0)
    others = list(islice((k for k in near.tolist() if forest.add(*worth.pairs[k].tolist())), n - len(rows)))
    more = [others[k :: EVERY - 1] for k in range(EVERY - 1)]
    rows = [row for some in zip_longest(*more, rows) for row in some if row is not None]
    about = None if design is None else np.where(np.array(rows, np.int64) < count, *ABOUT)
    return Asked(**vars(worth.at(rows)), gain=gain[rows], labels=labels, about=about)


def told_by(answers: Any) -> Told:
    """What a table of answers says of the decisions and chances of its questions, if it has them."""
    if answers is None or isinstance(answers, Answers):
        return []
    table = table_of(answers)
    if not {"answer", "decision", "chance"} <= set(table.columns):
        return []
    rows = zip(*(table.objects(name) for name in ("decision", "answer", "chance")), strict=True)
    known = ((meaning_of(was), meaning_of(said), chance_in(chance)) for was, said, chance in rows)
    return [(was == TOGETHER, c, was != said) for was, said, c in known if {was, said} <= {TOGETHER, APART}]
