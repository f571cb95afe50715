"""The binary quadratic form of a factor graph whose variables have two labels and whose factors at most two variables.

Every table over one variable with labels 0 and 1 is a linear function, and every table over two such variables is ``c +
a x + b y + w x y``. So the energy of labels is a quadratic function. Forbidden entries cannot be written in this form.
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.crf.problem.factor_graph import FactorGraph

__all__ = ["quadratic_form"]


def quadratic_form(f: FactorGraph) -> QuadraticForm | None:
    """The quadratic form of a factor graph; None if a domain, a larger factor or a forbidden entry rules it out.

    Factors over the same variables add up. None, too, if a sum overflows. O(n + m)

    Examples
    --------
    >>> f = FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1.0, 2.0], [4.0, -8.0]]])])
    >>> q = quadratic_form(f)
    >>> q.constant, q.linear.tolist(), q.couplings.tolist()
    (1.0, [3.0, 1.0], [-13.0, -13.0])
    """
    arity = np.diff(f.scope_start)
    if f.has_forbidden or (f.domains != 2).any() or arity.max(initial=0) > 2:
        return None
    one, two = (f.scope_start[np.flatnonzero(arity == k)] for k in (1, 2))
    first, second = (f.table_start[np.flatnonzero(arity == k)] for k in (1, 2))
    with np.errstate(over="ignore", invalid="ignore"):
        single = f.tables[first[:, None] + np.arange(2)]
        linear = np.bincount(f.scope[one], single[:, 1] - single[:, 0], f.n).astype(np.float64)
        table = f.tables[second[:, None] + np.arange(4)]
        u, v = f.scope[two], f.scope[two + 1]
        linear += np.bincount(u, table[:, 2] - table[:, 0], f.n)
        linear += np.bincount(v, table[:, 1] - table[:, 0], f.n)
        constant = f.constant + float(single[:, 0].sum()) + float(table[:, 0].sum())
        couplings = (table[:, 3] - table[:, 2]) - (table[:, 1] - table[:, 0])
        q = QuadraticForm.from_pairs(linear, u, v, couplings, constant)
        if not (math.isfinite(constant) and math.isfinite(float(q.magnitudes.sum()))):
            return None
    return q
