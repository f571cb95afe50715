"""L-BFGS of SciPy on a convex objective, which can be stopped: time, iterations, callback, Ctrl-C.

The parameters kept are those of the last complete iteration. The run ends by itself when the largest absolute entry of
the gradient has fallen to a share `tolerance` of what it was where all parameters are 0.
"""

from __future__ import annotations

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
MEMORY = 10  # steps and changes of the gradient that L-BFGS remembers


class Ended(Exception):
    """The run has to end within an iteration."""


def minimise(
    objective: Callable[[Array], tuple[float, Array]],
    size: int,
    tolerance: float,
    stopping: Stopping,
    trace: Trace,
) -> tuple[Array, Status]:
    """The minimiser, and why the run ended: ``optimal`` (within the tolerance), ``feasible`` (rounding), or a limit."""
    from scipy.optimize import minimize

    best = np.zeros(size)
    if stopping.check(np.inf):
        return best, stopping.reason or Status.TIME_LIMIT
    value, gradient = objective(best)
    slope = float(np.abs(gradient).max(initial=0.0))
    if not (np.isfinite(value) and np.isfinite(slope)):
        raise InvalidProblem("the attributes are so large that sums overflow: rescale them")
    trace.append((value, slope))
    stopping.record(value)
    target = tolerance * slope
    if slope == 0.0 or stopping.check(value):
        return best, stopping.reason or Status.OPTIMAL
    known = [(best.copy(), value, gradient)]  # SciPy asks for the start once more
    slopes = {}

    def evaluate(theta: Array) -> tuple[float, Array]:
        if known and np.array_equal(theta, known[0][0]):
            _, value, gradient = known.pop()
            return value, gradient
        if stopping.check(trace[-1][0]):
            raise Ended
        value, gradient = objective(theta)
        slopes["last"] = value, float(np.abs(gradient).max(initial=0.0))
        return (value if np.isfinite(value) else np.inf), gradient

    def ended(theta: Array) -> None:
        best[:] = theta
        trace.append(slopes["last"])
        stopping.record(trace[-1][0])
        if stopping.step(trace[-1][0]):
            raise Ended

    try:
        with one_thread():
            minimize(
                evaluate, np.zeros(size), jac=True, method="L-BFGS-B", callback=ended,
                options={"maxcor": MEMORY, "gtol": target, "ftol": 0.0, "maxiter": 10**9, "maxfun": 10**9},
            )  # fmt: skip
    except Ended:
        return best, stopping.reason or Status.TIME_LIMIT
    return best, Status.OPTIMAL if trace[-1][1] <= target else Status.FEASIBLE
