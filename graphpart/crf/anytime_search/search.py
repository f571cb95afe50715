"""Search: annealing, blocks and what labelings have in common, for as long as there is time."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.rounds import Saver, check_seed_and_threads
from graphpart.crf.anytime_search.labeling_search import LabelingSearch
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import finish, trivial_bound
from graphpart.crf.reduction.persistency import reduce
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["search"]

Labels = NDArray[np.int32]
PATIENCE = 12  # rounds without improvement, after which a run without any limit ends
REDUCED = 2**22  # entries of all tables up to which the factor graph is reduced first


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
    callback: Callable[[float, float], object] | None = None,
) -> LabelingResult:
    """Search for the labeling of least energy that time allows."""
    stopping = Stopping(time_limit, max_iterations, target, callback)
    check_seed_and_threads(seed, threads)
    f = as_factor_graph(problem)
    start = _better_start(f, initial, checkpoint)
    bound = trivial_bound(f)
    known = None if start is None else f.evaluate_labels(start)
    if start is not None:
        stopping.record(known)
    small = reduce(f) if len(f.tables) <= REDUCED and not stopping.check(np.inf if known is None else known) else None
    g = f if small is None else small.problem
    inner = start if start is None or small is None else small.project(start)
    state = LabelingSearch(g, inner, seed or 0, threads)
    lift = (lambda labels: labels) if small is None else small.lift

    def labels() -> Labels:
        found = lift(state.labels)
        return found if start is None or not f.evaluate_labels(found) > known else start

    saver = None
    if checkpoint is not None:
        saver = Saver(checkpoint, lambda _, path: _write(f, labels(), path))
    constant = 0.0 if small is None else small.constant
    patience = PATIENCE if time_limit is None and max_iterations is None else None
    status = Status.OPTIMAL if not g.n else Status.FEASIBLE
    try:
        stopping.record(state.cost + constant)
        state.run(stopping, constant, patience, None if saver is None else lambda: saver.save(state.labels))
    finally:
        if saver:
            saver.save(state.labels, now=True)
    return finish(f, labels(), stopping, "search", status, lower_bound=bound)


def _better_start(f: FactorGraph, initial: Any, checkpoint: str | os.PathLike[str] | None) -> Labels | None:
    """The better one of the initial labeling and the checkpoint, of those that there are."""
    given = [] if initial is None else [f.labels(initial)]
    if checkpoint is not None and os.path.exists(checkpoint):
        from graphpart.files.labels import read_labels

        given.append(f.labels(read_labels(os.fspath(checkpoint), f)))
    return min(given, key=f.evaluate_labels, default=None)


def _write(f: FactorGraph, labels: Labels, path: str) -> None:
    from graphpart.files.labels import write_labels

    write_labels(labels, path, f)
