"""A result of `match` with weights that are learned from answers: `Matches.learned`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.answers.applying import check_error, with_answers
from graphpart.answers.asking import ABOUT
from graphpart.answers.given import Answers, answers_of
from graphpart.errors import InvalidProblem
from graphpart.partition.inputs.frames import table_of
from graphpart.partition.inputs.origin import chance_otherwise
from graphpart.partition.problem.derived import with_costs
from graphpart.records.learning import candidates_of, learned_weights, similarities
from graphpart.solve import run

__all__ = ["relearned"]


def relearned(first: Any, answers: Any, error: float, method: str, time_limit: float | None) -> tuple[Any, Any]:
    """The result of a problem whose weights are learned from answers, and the scores; see :meth:`Matches.learned`."""
    check_error(error)
    p: Any = first.problem
    origin = None if p is None else p._origin
    if origin is None or origin.fields is None:
        raise InvalidProblem("a result that was pickled is without its records: expected one that match returned")
    given = answers_of(p, answers)
    scores = first.scores
    u, v, weight, parts = candidates_of(first)
    texts = zip(*(origin.fields.columns[name] for name in first.settings["columns"]), strict=True)
    whole = [" ".join(text for text in row if text is not None) for row in texts]
    known = np.column_stack([parts, similarities(whole, u, v)])
    new = learned_weights(u, v, weight, known, _about_pairs(answers, given), error) if len(u) else weight
    problem = with_costs(p, np.stack([u, v], 1), weight - new)
    for name, values in (("match_weight", new), ("match_probability", chance_otherwise(-new))):
        scores = scores.set_column(scores.column_names.index(name), name, [values])
    problem._origin = replace(origin, table=table_of(scores))
    problem, given = with_answers(problem, given, error)
    result = run(problem, method, time_limit=time_limit)
    return replace(result, message=f"{result.message}; weights learned from answers; {given}"), scores


def _about_pairs(answers: Any, given: Answers) -> Answers:
    """The answers without those to questions that were chosen by what other pairs say."""
    table = table_of(answers)
    if "about" not in table.columns:
        return given
    about = np.array([str(x) for x in table.objects("about")], object)[given.rows]
    kept = about != ABOUT[0]
    return Answers(given.pairs[kept], given.said[kept], given.rows[kept])
