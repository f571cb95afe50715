"""From parameters to factor graphs, and from factor graphs to labels, by the solvers of this library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bounds.message_passing import message_passing
from graphpart.crf.choosing import auto
from graphpart.crf.exact_solvers.min_sum import min_sum
from graphpart.crf.graph_cuts.expansion import expansion
from graphpart.crf.graph_cuts.graph_cut import graph_cut
from graphpart.crf.local_search.icm import icm
from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.learn.random_fields.structures import Packed
from graphpart.learn.random_fields.templates import Template
from graphpart.result import LabelingResult

__all__ = ["SOLVERS", "factor_graph", "solve", "solver_for"]

Array = NDArray[np.float64]
SOLVERS: dict[str, Callable[..., LabelingResult]] = {
    "auto": auto,
    "min-sum": min_sum,
    "graph-cut": graph_cut,
    "expansion": expansion,
    "message-passing": message_passing,
    "icm": icm,
}


def factor_graph(template: Template, data: Packed, scores: Array, numbers: Array) -> FactorGraph:
    """The factor graph whose energies are negative scores: a unary factor for each variable, one for each pair."""
    L, m = template.labels, len(data.pairs)
    tables = np.broadcast_to(-template.tables(numbers), (m, L, L))
    return FactorGraph.from_arrays(
        np.full(data.n, L, np.int32), [(np.arange(data.n, dtype=np.int32)[:, None], -scores), (data.pairs, tables)]
    )


def solve(f: FactorGraph, solver: str, **options: Any) -> LabelingResult:
    """Labels of small energy; ICM starts from the labels that are best if pairs are ignored."""
    check_solver(solver)
    if solver == "icm":
        f_start = np.argmin(f.tables[: f.n * int(f.domains[0])].reshape(f.n, -1), axis=1) if f.n else None
        return icm(f, initial=f_start, **options)
    return SOLVERS[solver](f, **options)


def solver_for(solver: str, data: Packed) -> str:
    """The solver for "auto" in training, where each structure is solved many times: min-sum on forests, else search."""
    check_solver(solver)
    if solver != "auto":
        return solver
    return "min-sum" if data.forest is not None else "auto"


def check_solver(solver: str) -> None:
    """Raise InvalidOption if the solver is unknown."""
    if solver not in SOLVERS:
        raise InvalidOption(f"solver is {solver!r}: expected one of {', '.join(SOLVERS)}")
