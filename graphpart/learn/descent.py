"""Two ways to minimise the objective: the steepest descent of the textbook, and Newton's method.

Steepest descent, with exact line search and a tolerance on the norm of the gradient:

    theta := 0
    repeat
        d := gradient of phi at theta
        eta := argmin over eta' of phi(theta - eta' d)
        theta := theta - eta d
        if ||d|| < tolerance return theta

Newton's method, with the step halved until the objective decreases by a part of the decrease that its slope predicts
(Armijo 1966; globally convergent as phi is strictly convex, Boyd & Vandenberghe 2004, section 9.5):

    repeat
        d := Hessian^-1 gradient,   eta := 1
        while phi(theta - eta d) > phi(theta) - 1e-4 eta <gradient, d>:   eta := eta / 2
        theta := theta - eta d
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.learn.objective import Ended, Objective
from graphpart.result import Status

__all__ = ["Trace", "newton", "steepest_descent"]

Array = NDArray[np.float64]
Trace = list[tuple[float, float]]  #: (objective, norm of the gradient) at each point

ARMIJO = 1e-4
ROUNDING = 1e-12  # relative decreases below this cannot be told from rounding in a sum over many samples


def newton(objective: Objective, tolerance: float, trace: Trace) -> tuple[Array, Status]:
    """The minimiser by Newton's method, one pass over the samples per iteration as long as full steps succeed.

    Returns
    -------
    theta : ndarray of float64
    status : Status
        ``optimal`` if the norm of the gradient is at most `tolerance`, ``feasible`` if rounding allows no further
        decrease, or why the run was ended.
    """
    stopping = objective.stopping
    theta = np.zeros(objective.size)
    try:
        value, gradient, hessian = objective.hessian(theta)
        _check_finite(gradient, hessian)
        trace.append((value, _norm(gradient)))
        while _norm(gradient) > tolerance:
            if stopping.step(value):
                break
            direction = _solve(hessian, gradient)
            promised = float(gradient @ direction)
            eta, negligible = 1.0, promised <= ROUNDING * abs(value)
            there = theta - direction
            new_value, new_gradient, new_hessian = objective.hessian(there)
            if negligible:
                if not _norm(new_gradient) < _norm(gradient):
                    return theta, Status.FEASIBLE
            elif not new_value <= value - ARMIJO * promised:
                while not new_value <= value - ARMIJO * eta * promised:
                    eta /= 2
                    if eta * promised <= ROUNDING * abs(value):
                        return theta, Status.FEASIBLE
                    there = theta - eta * direction
                    new_value = objective.value(there)
                new_value, new_gradient, new_hessian = objective.hessian(there)
            theta, value, gradient, hessian = there, new_value, new_gradient, new_hessian
            trace.append((value, _norm(gradient)))
    except Ended:
        pass
    except KeyboardInterrupt:
        stopping.stop(Status.INTERRUPTED)
    return theta, stopping.reason or Status.OPTIMAL


def steepest_descent(objective: Objective, tolerance: float, trace: Trace) -> tuple[Array, Status]:
    """The minimiser by steepest descent with exact line search, two passes over the samples per iteration."""
    stopping = objective.stopping
    theta = np.zeros(objective.size)
    try:
        while True:
            value, gradient = objective.gradient(theta)
            _check_finite(gradient)
            trace.append((value, _norm(gradient)))
            if not gradient.any():
                return theta, Status.OPTIMAL
            if stopping.step(value):
                break
            eta = minimise_on_line(objective.line(theta, gradient))
            there = theta - eta * gradient
            if (there == theta).all():
                return theta, Status.OPTIMAL if _norm(gradient) < tolerance else Status.FEASIBLE
            theta = there
            if _norm(gradient) < tolerance:
                trace.append((objective.value(theta), math.nan))
                return theta, Status.OPTIMAL
    except Ended:
        pass
    except KeyboardInterrupt:
        stopping.stop(Status.INTERRUPTED)
    return theta, stopping.reason or Status.OPTIMAL


def minimise_on_line(derivatives: Callable[[float], tuple[float, float]]) -> float:
    """The minimiser over eta > 0 of a strictly convex function that decreases at 0, up to rounding.

    Newton's method in one dimension, kept inside a bracket of the root of the first derivative.

    Parameters
    ----------
    derivatives : callable
        ``derivatives(eta)`` returns the first and the second derivative at eta.
    """
    low, high, eta = 0.0, math.inf, 0.0
    slope, curvature = derivatives(0.0)
    small = 1e-12 * abs(slope)
    for _ in range(200):
        if abs(slope) <= small:
            break
        if slope < 0:
            low = eta
        else:
            high = eta
        step = eta - slope / curvature if curvature > 0 else math.inf
        if not low < step < high:
            step = 2 * max(low, 1e-300) if high == math.inf else 0.5 * (low + high)
        if step == eta or step in (low, high):
            break
        eta = step
        slope, curvature = derivatives(eta)
    return eta


def _solve(hessian: Array, gradient: Array) -> Array:
    """Hessian^-1 gradient; if rounding makes the Hessian indefinite, a growing multiple of the identity is added."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    scale = float(np.trace(hessian)) / len(hessian)
    ridge = 0.0
    while True:
        try:
            factor = cho_factor(hessian + ridge * np.eye(len(hessian)) if ridge else hessian)
        except LinAlgError:
            ridge = max(10 * ridge, 1e-14 * scale)
            continue
        direction: Array = cho_solve(factor, gradient)
        if gradient @ direction > 0:
            return direction
        ridge = max(10 * ridge, 1e-14 * scale)


def _norm(gradient: Array) -> float:
    return float(np.linalg.norm(gradient))


def _check_finite(*arrays: Array) -> None:
    for array in arrays:
        if not np.isfinite(array).all():
            v = int(np.argwhere(~np.isfinite(array))[0][-1])
            raise InvalidProblem(f"attribute {v} is so large that sums over samples overflow: expected it rescaled")
