"""Search: annealing, and exact minimisation over regions, for as long as there is time.

Labels that are not needed for an optimal labeling are left out first (see `reduction/`), and components with few
labelings are enumerated. If all variables have two labels and all factors at most two variables, `binary_quadratic`
takes over. Otherwise the search begins with changes of single labels and with message passing. If factors have at most
two variables, expansions improve the labeling that message passing rounds to. After that come rounds of four tasks,
which run in parallel and independently of each other. There are three kinds of tasks:

* **annealing** over single labels (Kirkpatrick, Gelatt & Vecchi 1983), one run or several shorter ones. The result is
  sometimes improved by regions;
* **expansion**: expansions of the best labeling, where factors are pairs;
* **regions**: branch and bound minimises exactly over one region after the other, each so large that this takes few
  nodes (see `regions`). With two labels and no forbidden entries, annealing does the same sooner.

The best labeling takes over the parts in which a result is better. The result joins the pool of the best labelings,
which all have different energies. In large factor graphs a task changes one region only, so small that there is time
for all these steps.

A task begins with the best labeling, with another one of the pool, or with random labels. The kind and the temperature
of a task are drawn at random; those that have recently found better labelings are drawn more often. The random numbers
of a task depend only on the seed and the numbers of the round and of the task. Without a time limit no task looks at
the clock. So the result after a number of rounds is the same on any number of threads.

In annealing over single labels, a forbidden entry has a finite penalty, which rises as long as the labelings found are
forbidden, and falls as long as they are allowed. Everywhere else a forbidden entry costs more than any allowed
labeling.

`parameters` describes each strategy; measurements without it are on the site, among the benchmarks.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.rounds import Saver, check_seed_and_threads
from graphpart.crf.anytime_search.parameters import LabelingParameters
from graphpart.crf.anytime_search.portfolio import Portfolio
from graphpart.crf.exact_solvers.brute_force import FEW, enumerated, labelings
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.given_labels import better_start
from graphpart.crf.problem.labeling import finish, trivial_bound
from graphpart.crf.reduction.persistency import STEPS, reduced
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["search"]

Labels = NDArray[np.int32]
PATIENCE = 12  # number of rounds without improvement after which a run without any limit ends
REDUCING = 0.2  # share of the remaining time for the reduction


@interruptible
def search(
    problem: Any,
    initial: Any = None,
    *,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    parameters: LabelingParameters | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Search for the labeling of least energy that time allows.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    initial : Result, labels or mapping from names to labels, optional
        The labeling to start from; the result is not worse. Default: the label of least unary cost of each variable.
    time_limit : float, optional
        Seconds. Without it, and without `max_iterations`, the search ends after 12 rounds without improvement.
    max_iterations : int, optional
        Number of rounds.
    target : float, optional
        Stop as soon as the energy is at most this.
    seed : int, optional
        Of the random numbers; default 0. The same seed and number of rounds give the same result.
    threads : int, optional
        Number of threads, of which at most 4 are used; default: as many as there are processors for this process.
    checkpoint : str or path-like, optional
        A file of labels. If it exists, the search starts from it, unless `initial` is better. The best labels
        are written to it about once a second while the search runs, and at its end.
    parameters : LabelingParameters, optional
        The strategies that are used; default: all.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms and after every improvement; a true return value ends the run.

    Returns
    -------
    LabelingResult
        With status ``optimal`` if reduction, or enumeration of the reduced problem, proves the labeling optimal; else
        ``feasible`` or the reason why the search was stopped. If no allowed labeling was found, the cost is ``inf`` and
        `message` says so. `iterations` counts rounds; `history` has the best energy over time.

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden, as far as reduction shows.
    InvalidPartition, InvalidOption
        If the initial labeling does not fit the problem, or an option has no meaning.
    FormatError
        If the checkpoint cannot be read, or belongs to another problem.

    Notes
    -----
    Memory in addition to the tables of the problem: for each thread a few numbers for each factor and for each label of
    each variable.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.generate.factor_grid(12, 12, "mixed", 3, strength=2.0, seed=1).problem
    >>> r = search(f, max_iterations=2, seed=3)
    >>> r.cost <= gp.crf.icm(f).cost, r.iterations
    (True, 2)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    check_seed_and_threads(seed, threads)
    f = as_factor_graph(problem)
    start = better_start(f, initial, checkpoint)
    evaluate = f.evaluate_labels if target is None else partial(_shown_cost, f.owner)
    known = np.inf if start is None else evaluate(start)
    bound = trivial_bound(f)
    if start is not None:
        stopping.record(known)
    parameters = parameters or LabelingParameters()
    small = None
    if "reduction" in parameters and not stopping.check(known):
        seconds = None if stopping.remaining is None else REDUCING * stopping.remaining
        small = reduced(f, STEPS, stopping.child(seconds, plus=np.inf))
    inner = f if small is None else small.problem
    # Rounding makes the energy in the reduced problem plus the constant differ from the energy in the problem, and the
    # target is compared with the latter. Without a target, the former takes less time.
    plus = 0.0 if small is None or target is not None else small.constant
    first = small.project(start) if small and start is not None else start

    def lift(labels: Labels) -> Labels:
        return labels if small is None else small.lift(labels)

    def whole(labels: Labels) -> float:
        return evaluate(lift(labels))

    state = Portfolio(
        inner, first, seed or 0, threads, evaluate=None if target is None else whole, parameters=parameters
    )

    def labels() -> Labels:
        found = lift(state.labels)
        return found.copy() if start is None or not evaluate(found) > known else start

    saver = None if checkpoint is None else Saver(checkpoint, lambda _, path: _write(f, labels(), path))
    part = stopping.child(iterations=stopping.max_iterations, plus=plus)
    status = Status.FEASIBLE
    try:
        if not inner.n:
            status = Status.OPTIMAL
        elif not stopping.check(known):
            if labelings(inner) <= FEW:
                exactly = enumerated(inner, stopping.child(plus=np.inf))
                state.offer(exactly.labels, state.evaluate(exactly.labels))
                part.record(state.cost)
                status = Status.OPTIMAL if exactly.proven else status
            else:
                part.record(state.cost)
                patience = PATIENCE if time_limit is None and max_iterations is None else None
                state.run(part, patience, None if saver is None else lambda: saver.save(state.labels))
                stopping.iterations = part.iterations
                stopping.check(part.root.incumbent)
    finally:
        if saver is not None:
            saver.save(state.labels, now=True)
    return finish(f, labels(), stopping, "search", status, lower_bound=bound)


def _shown_cost(f: FactorGraph, labels: Labels) -> float:
    """The energy that a result shows; auxiliary variables, if there are any, come last."""
    return f.evaluate_labels(labels[: f.n])


def _write(f: FactorGraph, labels: Labels, path: str) -> None:
    from graphpart.files.labels import write_labels

    write_labels(labels[: f.owner.n], path, f.owner)
