"""Answers as arrays: two elements by their indices, and what was said of them.

Answers go by the names of elements, so they remain valid for a problem with other elements or pairs. A name is found
as it is, or by its text, since identifiers in files are texts.
"""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import InvalidProblem, no_column, warn
from graphpart.files.text import ANSWERS, answer_in
from graphpart.partition.inputs.frames import is_frame, table_of
from graphpart.partition.problem import SetPartition, as_problem

__all__ = [
    "APART",
    "COLUMNS",
    "NOT_KNOWN",
    "TOGETHER",
    "WORDS",
    "Answers",
    "answers_of",
    "chance_in",
    "listed",
    "meaning_of",
    "placed",
    "problem_of",
]

COLUMNS = ("left", "right", "answer")
APART, TOGETHER, NOT_KNOWN = 0, 1, -1
WORDS = ("apart", "together", "")  # by what was said


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers about pairs of elements of a problem, in the order of the table.

    Attributes
    ----------
    pairs : ndarray of int32, shape (k, 2)
        The smaller index first.
    said : ndarray of int8, shape (k,)
        `TOGETHER`, `APART` or `NOT_KNOWN`.
    rows : ndarray of int64, shape (k,)
        The row of the table, from 0.
    """

    pairs: NDArray[np.int32]
    said: NDArray[np.int8]
    rows: NDArray[np.int64]

    def of(self, said: int) -> NDArray[np.int32]:
        """The pairs of which this was said."""
        found: NDArray[np.int32] = self.pairs[self.said == said]
        return found

    def __str__(self) -> str:
        words = {said: WORDS[said] or "not known" for said in (TOGETHER, APART, NOT_KNOWN)}
        counts = (f"{np.count_nonzero(self.said == said)} {word}" for said, word in words.items())
        return f"{plural(len(self.said), 'answer')}: {', '.join(counts)}"


def problem_of(problem: Any) -> SetPartition:
    """The problem, also of a segmentation."""
    return as_problem(problem.problem if hasattr(problem, "outlines") else problem)


def listed(answers: Any) -> Any:
    """The answers in a file, if its path is given; others as they are."""
    if not isinstance(answers, str | os.PathLike):
        return answers
    from graphpart.io.elements import read_answers

    return read_answers(answers)


def placed(problem: Any, answers: Any) -> Any:
    """Answers about places in a segmentation as answers about its regions; others as they are."""
    answers = listed(answers)
    return problem.by_element(answers) if answers is not None and hasattr(problem, "by_element") else answers


def answers_of(p: SetPartition, table: Any) -> Answers:
    """The answers in a table, for the elements of a problem. O(k), and O(n) if names have to be compared as texts.

    Raises
    ------
    InvalidProblem
        If it is no table with the columns left, right and answer, nor the path of a file with one, an answer is none of
        the known words, a pair is one element twice, or none of the names is an element.

    Warns
    -----
    GraphPartWarning
        If some names are no elements: the answers about them are left out.
    """
    if isinstance(table, Answers):
        return table
    table = listed(table)
    if not is_frame(table) and not isinstance(table, dict):
        raise InvalidProblem(
            f"answers is of type {type(table).__name__}: expected a table with the columns {', '.join(COLUMNS)}, or "
            "the path of a file that has one"
        )
    frame = table_of(table)
    for name in COLUMNS:
        if name not in frame.columns:
            raise InvalidProblem(f"answers has {no_column(name, frame.columns)}")
    left, right, answer = (frame.objects(name) for name in COLUMNS)
    place = _Finder(p)
    pairs, said, rows = [], [], []
    unknown: list[Hashable] = []
    for row, (a, b, word) in enumerate(zip(left, right, answer, strict=True)):
        meaning = meaning_of(word)
        if meaning is None:
            raise InvalidProblem(f"answers has {word!r} in row {row}: expected {ANSWERS}")
        i, j = place(a), place(b)
        if i is None or j is None:
            unknown.append(a if i is None else b)
        elif i == j:
            raise InvalidProblem(f"answers has {a!r} with itself in row {row}: expected two different elements")
        else:
            pairs.append((min(i, j), max(i, j)))
            said.append(meaning)
            rows.append(row)
    if unknown:
        first, gone = unknown[0], len(unknown)
        if not rows:
            some = f", whose first one is {p.nodes[0]!r}" if p.n else ""
            raise InvalidProblem(
                f"{plural(gone, 'answer')}, none of them about elements of the problem{some}: {first!r} is no element; "
                "expected answers for this table"
            )
        warn(f"{plural(gone, 'answer')} of {len(left)} left out: {first!r} is no element of the problem")
    return Answers(np.array(pairs, np.int32).reshape(-1, 2), np.array(said, np.int8), np.array(rows, np.int64))


def meaning_of(word: Any) -> int | None:
    """`TOGETHER`, `APART` or `NOT_KNOWN`; None if it is no answer."""
    known = answer_in(word)
    return None if known is None else (APART, TOGETHER, NOT_KNOWN)[WORDS.index(known)]


class _Finder:
    """The index of an element by its name, or by the text of its name; None if there is none."""

    def __init__(self, p: SetPartition) -> None:
        self._p = p
        self._by_text: dict[str, int] | None = None

    def __call__(self, name: Any) -> int | None:
        if self._p._places.has(name):
            return self._p.index(name)
        if self._by_text is None:
            self._by_text = {str(node): i for i, node in enumerate(self._p.nodes)}
        if isinstance(name, float) and name.is_integer():  # of a column of numbers with gaps
            name = int(name)
        return self._by_text.get(str(name).strip())


def chance_in(value: Any) -> float:
    """The chance of a question in a table of answers, NaN where there is none."""
    return np.nan if value in ("", None) else float(value)
