"""Minimise the energy given the labels of some variables: condition on these labels, solve for the others."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.crf.problem import as_factor_graph
from graphpart.crf.problem.derive import condition
from graphpart.errors import known_arguments
from graphpart.methods import find_method
from graphpart.result import Result

__all__ = ["solve_given"]


@known_arguments
def solve_given(
    problem: Any, evidence: Mapping[Hashable, int], method: str = "auto", *, initial: Any = None, **options: Any
) -> Result:
    """Solve a factor graph in which the labels of some variables are given.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    evidence : mapping from names to labels
    method : str
        A method for factor graphs; see :func:`graphpart.solve`.
    initial : Result, labels or mapping from names to labels, optional
        A labeling of all variables, or of some; labels of variables with evidence are ignored.
    **options
        As for :func:`graphpart.solve`.

    Returns
    -------
    LabelingResult
        The labels of all variables and their energy. Lower bound and status are about all labelings that agree with
        the evidence.

    Raises
    ------
    InvalidProblem
        If a variable is unknown or a label is not in its domain.
    InfeasibleProblem
        If every labeling that agrees with the evidence is forbidden, as far as this was noticed.

    Examples
    --------
    >>> from graphpart import FactorGraph
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> f = FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2]], [differ] * 2)])
    >>> r = solve_given(f, {0: 1})
    >>> r.labels.tolist(), r.cost, str(r.status)
    ([1, 1, 1], 0.0, 'optimal')
    """
    f = as_factor_graph(problem).owner
    rest = condition(f, evidence)
    labels = np.zeros(f.n, np.int32)
    free = np.ones(f.n, bool)
    for name, label in evidence.items():
        i = f.index(name)
        labels[i], free[i] = label, False
    start = None if initial is None else f.labels(initial, partial=True)[free]
    r = find_method(method, "crf").run(rest, initial=start, **options)
    labels[free] = r.labels
    labels.flags.writeable = False
    cost = f.evaluate_labels(labels)
    # Conditioning adds in another order. An optimal labeling stays optimal, and a bound may differ by the rounding of a
    # sum.
    bound = cost if r.lower_bound == r.cost else min(r.lower_bound, cost)
    value, sense = f.objective(cost), f.sense
    return replace(r, labels=labels, cost=cost, objective=value, sense=sense, lower_bound=bound, nodes=f.variables)
