"""The averaged structured perceptron (Collins 2002): no prior, no margin, one inference for each step.

theta := theta_0;  sum := 0
for each pass, for problem i in random order:
    z := partition of least cost at theta
    theta := theta + psi_i(z)                 (see `training`; 0 if z is the truth)
    sum := sum + theta
return sum / number of steps
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from graphpart.learn.max_margin.frank_wolfe import Found
from graphpart.learn.max_margin.oracle import infer
from graphpart.learn.max_margin.training import TrainingProblem
from graphpart.learn.objective import Array
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["average"]


def average(
    problems: Sequence[TrainingProblem], base: Array, oracle: str, seed: int | None, stopping: Stopping
) -> Found:
    """The average of theta over all steps; the history has (seconds, mean loss in the pass, NaN) for each pass."""
    rng = np.random.default_rng(seed)
    theta, total, steps = base.copy(), np.zeros_like(base), 0
    found = Found(base.copy(), bound=math.nan)
    if not problems:
        return found
    try:
        while not stopping.step(found.objective):
            losses = []
            for i in rng.permutation(len(problems)).tolist():
                problem = problems[i]
                psi, loss = problem.plane(infer(oracle, problem, problem.costs(theta), stopping.remaining).joined)
                if stopping.check(math.nan):
                    break
                theta = theta + psi
                total += theta
                steps += 1
                losses.append(loss)
                found.oracles += 1
            if stopping.reason is not None:
                break
            found.objective = float(np.mean(losses))
            found.history.append((stopping.seconds, found.objective, math.nan))
            if not any(losses):
                break
    except KeyboardInterrupt:
        stopping.stop(Status.INTERRUPTED)
    if steps:
        found.theta = total / steps
    if stopping.reason is None:
        found.status = Status.OPTIMAL
    elif stopping.reason is Status.ITERATION_LIMIT:
        found.status = Status.FEASIBLE  # a number of passes is all that is asked for
    else:
        found.status = stopping.reason
    return found
