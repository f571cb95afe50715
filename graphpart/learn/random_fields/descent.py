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
from graphpart.learn.objective import Ended
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Trace", "minimise"]

Array = NDArray[np.float64]
Trace = list[tuple[float, float]]  #: (objective, largest absolute entry of the gradient) at each iterate
Objective = Callable[[Array], tuple[float, Array]]


def minimise(
    objective: Objective, size: int, tolerance: float, stopping: Stopping, trace: Trace
) -> tuple[Array, Status]:
    """The minimiser, and why the run ended: ``optimal`` (within the tolerance), ``feasible`` (rounding), or a limit."""
    from scipy.optimize import minimize

    theta = np.zeros(size)
    if stopping.check(np.inf):
        return theta, stopping.reason or Status.TIME_LIMIT
    last = objective(theta)  # at the point that was evaluated last, which each iteration ends with

    def keep() -> None:
        trace.append((last[0], float(np.abs(last[1]).max(initial=0.0))))
        stopping.record(last[0])

    def evaluate(there: Array) -> tuple[float, Array]:
        nonlocal last
        if stopping.check(trace[-1][0]):
            raise Ended
        last = objective(there)
        return last

    def iterated(there: Array) -> None:
        theta[:] = there
        keep()
        if stopping.step(last[0]):
            raise Ended

    keep()
    if not np.isfinite(trace[0]).all():
        raise InvalidProblem("the attributes are so large that sums overflow: rescale them")
    target = tolerance * trace[0][1]
    if trace[0][1] == 0.0 or stopping.check(last[0]):
        return theta, stopping.reason or Status.OPTIMAL
    endless = 2**31 - 1
    options = {"maxcor": 5, "gtol": target, "ftol": 0.0, "maxiter": endless, "maxfun": endless}
    try:
        with one_thread():
            minimize(evaluate, theta.copy(), jac=True, method="L-BFGS-B", callback=iterated, options=options)
    except Ended:
        pass
    return theta, stopping.reason or (Status.OPTIMAL if trace[-1][1] <= target else Status.FEASIBLE)
