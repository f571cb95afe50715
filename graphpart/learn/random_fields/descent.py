"""L-BFGS on a convex objective, which can be stopped: time, iterations, callback, Ctrl-C.

    theta := 0
    repeat
        d := - H gradient                     where H approximates the inverse Hessian by the last steps
        eta := a step along d that satisfies the conditions of Wolfe, first tried: 1
        theta := theta + eta d

With the last steps s as rows of S and the changes y of the gradient as rows of Y, R the upper triangle of S Y' and D
its diagonal, H g is computed as ``gamma g + S'v - gamma Y'u`` with ``u = R^-1 S g`` and ``v = R^-T ((D + gamma Y Y') u
- gamma Y g)`` (Byrd, Nocedal & Schnabel 1994). So an iteration reads S and Y three times, which is most of its work
where parameters are many. The routine of SciPy took several times as long there as the objective.

A step is halved between one that is too long and one that is too short (Lewis & Overton 2013). Where a decrease cannot
be told from rounding, the slope decides (Hager & Zhang 2005).

The parameters kept are those of the last complete iteration. The run ends by itself when the largest absolute entry of
the gradient has fallen to a share `tolerance` of what it was where all parameters are 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.common.blas import one_thread
from graphpart.errors import InvalidProblem
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Trace", "minimise"]

Array = NDArray[np.float64]
Trace = list[tuple[float, float]]  #: (objective, largest absolute entry of the gradient) at each iterate
Objective = Callable[[Array], tuple[float, Array]]
MEMORY = 8  # steps and changes of the gradient that are remembered
ARMIJO, WOLFE = 1e-4, 0.9  # shares of the slope
ROUNDING = 1e-13  # relative changes of the objective below this are rounding
TRIALS = 40  # largest number of steps tried along one direction


class Ended(Exception):
    """The run has to end within an iteration."""


class Steps:
    """The last steps, the changes of the gradient that they made, and their products."""

    def __init__(self, size: int) -> None:
        self.rows = np.zeros((2, MEMORY, size))  # S and Y
        self.products = np.zeros((2, MEMORY, MEMORY))  # S Y' and Y Y'
        self.order: list[int] = []  # the places of the steps, oldest first

    def add(self, step: Array, change: Array) -> None:
        """Remember a step, in place of the oldest one if there are too many."""
        if not step @ change > 0:  # by rounding only: the objective is strictly convex
            return
        at = self.order.pop(0) if len(self.order) == MEMORY else len(self.order)
        self.order.append(at)
        self.rows[0, at], self.rows[1, at] = step, change
        self.products[:, :, at] = self.rows @ change
        self.products[1, at] = self.products[1, :, at]

    def direction(self, gradient: Array) -> Array:
        """- H gradient"""
        from scipy.linalg import solve_triangular

        if not self.order:
            return -gradient / max(1.0, float(np.sqrt(gradient @ gradient)))
        kept = np.ix_(self.order, self.order)
        R, squares = np.triu(self.products[0][kept]), self.products[1][kept]
        gamma = R[-1, -1] / squares[-1, -1]
        along, across = (self.rows @ gradient)[:, self.order]
        u = solve_triangular(R, along)
        v = solve_triangular(R, (np.diag(np.diag(R)) + gamma * squares) @ u - gamma * across, trans="T")
        shares = np.zeros((2, MEMORY))
        shares[0, self.order], shares[1, self.order] = -v, gamma * u
        d: Array = shares.ravel() @ self.rows.reshape(2 * MEMORY, -1)
        d -= gamma * gradient
        return d


def minimise(
    objective: Objective, size: int, tolerance: float, stopping: Stopping, trace: Trace
) -> tuple[Array, Status]:
    """The minimiser, and why the run ended: ``optimal`` (within the tolerance), ``feasible`` (rounding), or a limit."""
    theta = np.zeros(size)
    if stopping.check(np.inf):
        return theta, stopping.reason or Status.TIME_LIMIT
    value, gradient = objective(theta)
    slope = float(np.abs(gradient).max(initial=0.0))
    if not (np.isfinite(value) and np.isfinite(slope)):
        raise InvalidProblem("the attributes are so large that sums overflow: rescale them")
    trace.append((value, slope))
    stopping.record(value)
    target = tolerance * slope
    if slope == 0.0 or stopping.check(value):
        return theta, stopping.reason or Status.OPTIMAL
    steps = Steps(size)
    try:
        with one_thread():
            while trace[-1][1] > target:
                found = along(objective, theta, value, gradient, steps.direction(gradient), stopping)
                if found is None:
                    if not steps.order:
                        return theta, Status.FEASIBLE
                    steps = Steps(size)  # down the gradient once more
                    continue
                there, value, other = found
                steps.add(there - theta, other - gradient)
                theta, gradient = there, other
                trace.append((value, float(np.abs(gradient).max(initial=0.0))))
                stopping.record(value)
                if stopping.step(value):
                    break
    except Ended:
        pass
    return theta, stopping.reason or Status.OPTIMAL


def along(
    objective: Objective, theta: Array, value: float, gradient: Array, d: Array, stopping: Stopping
) -> tuple[Array, float, Array] | None:
    """(parameters, objective, gradient) after a step along d; None if rounding allows none."""
    slope = float(gradient @ d)
    if not slope < 0:
        return None
    short, long, eta = 0.0, math.inf, 1.0
    for _ in range(TRIALS):
        if stopping.check(value):
            raise Ended
        there = theta + eta * d
        if np.array_equal(there, theta):
            return None
        new, other = objective(there)
        inclined = float(other @ d)
        same = abs(new - value) <= ROUNDING * abs(value)
        if not (new <= value + ARMIJO * eta * slope or (same and inclined <= (2 * ARMIJO - 1) * slope)):
            long = eta
        elif inclined < WOLFE * slope:
            short = eta
        else:
            return there, new, other
        eta = 2 * short if long == math.inf else 0.5 * (short + long)
    return None
