"""Max-margin training: the labels of the data score more than all others by the number of labels that differ.

The structured support vector machine with margin rescaling (Taskar, Guestrin & Koller 2003; Tsochantaridis et al.
2005), trained by `frank_wolfe` over structures. The oracle is inference: labels of small energy where each wrong label
is rewarded by 1, which changes unary costs only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.learn.frank_wolfe import Oracle
from graphpart.learn.random_fields.inference import factor_graph, solve, solver_for
from graphpart.learn.random_fields.structures import Packed
from graphpart.learn.random_fields.templates import Template

__all__ = ["oracle"]

Array = NDArray[np.float64]


def oracle(template: Template, structures: list[Packed], labels: list[NDArray[np.int32]], solver: str) -> Oracle:
    """Loss-augmented inference in structure i at parameters w."""
    true = [template.selected(data, y) for data, y in zip(structures, labels, strict=True)]
    chosen = [solver_for(solver, data) for data in structures]

    def answer(i: int, w: Array) -> tuple[Array, float]:
        data, (ones, counts) = structures[i], true[i]
        scores, numbers = template.scores(data, w)
        scores += 1.0
        scores -= ones
        y = solve(factor_graph(template, data, scores, numbers), chosen[i]).labels
        guessed, guessed_counts = template.selected(data, y)
        psi = template.gradient(data, ones - guessed, counts - guessed_counts)
        return psi, float(np.count_nonzero(y != labels[i]))

    return answer
