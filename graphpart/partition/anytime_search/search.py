"""The anytime search: better partitions for as long as there is time.

The start is the fixed point of greedy joining and moves of one element. If elements have few neighbours, an iteration
of multilevel moves and pairwise Kernighan-Lin take the place of these moves, and find lower costs; with a background,
the start is that of start.py, and elements that some optimal partition joins are contracted first, if all unlisted
pairs cost the same. Then strategies take turns: annealing over sets of elements that stay together
(core_annealing.py), other annealing (annealing_rounds.py), short annealings and their children (restarts.py), fusion
(fusion.py), localised evolution (evolution.py), label propagation and reheating (drifting.py); where clusters have a
largest size, or pairs must be cut, exchanges (exchanges.py); and annealing without a largest size (fitted.py).
Strategies that have recently lowered the cost of this problem get more turns (see portfolio.py). Their parameters are
in parameters.py. A strategy is one class with few methods (strategy.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from graphpart.common.rounds import Saver, check_seed_and_threads
from graphpart.machine import processors
from graphpart.partition.anytime_search.checkpoint import saved
from graphpart.partition.anytime_search.parameters import SearchParameters
from graphpart.partition.anytime_search.portfolio import Portfolio
from graphpart.partition.local_search.greedy_joining import joined
from graphpart.partition.local_search.limited import has_room, packed
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem
from graphpart.partition.problem.forms import cut_huge, fitting
from graphpart.partition.reduction.persistency import reduced
from graphpart.partition.results.finish import finish
from graphpart.partition.results.starts import start_of
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping, interruptible

__all__ = ["better_start", "search", "start_within"]


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
    parameters: SearchParameters | None = None,
) -> PartitionResult:
    """Search for the best partition that time allows.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    initial : Result, labels, mapping or list of sets, optional
        The partition to start from, which Kernighan-Lin improves first; default: the fixed point of greedy joining.
        Elements that it leaves out start alone.
    time_limit : float, optional
        Seconds. Without it, and without `max_iterations`, the search ends after 12 rounds without improvement.
    max_iterations : int, optional
        Number of rounds.
    target : float, optional
        Stop as soon as the cost is at most this. Which partition reaches it first may depend on the number of threads.
    seed : int, optional
        Of the random numbers; default 0. The same seed and number of rounds give the same result.
    threads : int, optional
        Number of threads, of which at most 4 are used; default: as many as there are processors for this process.
    checkpoint : str or path-like, optional
        A file of labels. If it exists, the search starts from it, unless `initial` is better. The best labels
        are written to it about once a second while the search runs, and at its end; the best lower bound of all runs
        goes into ``checkpoint.bound`` beside it.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms and after every improvement; a true return value stops the run.
    parameters : SearchParameters, optional
        How strategies share the time, and the numbers that each works with. With ``SearchParameters(without=names)``,
        some strategies take no part.

    Returns
    -------
    PartitionResult
        With status ``optimal`` if all attracting pairs are joined and all repelling pairs cut, or if there are at most
        14 elements; else ``feasible`` or the reason why the search was stopped. `iterations` counts rounds; `history`
        has the best cost over time.

    Raises
    ------
    InvalidProblem, InvalidPartition, InvalidOption
        If an argument is not as described.
    FormatError
        If the checkpoint cannot be read, or belongs to another problem.

    Notes
    -----
    A background takes no memory for pairs, for any number of elements. Only multilevel moves consider clusters that
    attract an element by their background alone.

    All strategies obey groups and limits, and keep clusters connected if they have to be: what two
    partitions have in common is divided into connected sets before it is contracted. If the number of clusters is
    limited, the strategies are annealing and restarts: with at most two clusters, they search for a maximum cut. If
    the size of clusters is limited, there is also annealing that exchanges two elements of different clusters, and
    annealing without this limit whose results are made to fit; where all clusters have to be full, these are the only
    strategies.

    Memory: for dense problems the matrix in integers of 32 bits and, where sums fit, of 16; for each thread an integer
    for each element and cluster; for sparse problems the pairs as compressed rows, and
    O(n) for each thread.
    A thread that recombines two partitions also has the contracted problem, which is at most as large as the whole.

    Examples
    --------
    >>> import graphpart as gp
    >>> p, truth = gp.generate.planted_partition(60, 6, sigma=1.0, seed=1)
    >>> r = search(p, max_iterations=2, seed=3)
    >>> r.cost <= p.evaluate(truth), r.iterations
    (True, 2)
    """
    stopping = Stopping(time_limit, max_iterations, target, callback)
    check_seed_and_threads(seed, threads)
    p = fitting(as_problem(problem))
    given = better_start(p, initial, checkpoint)
    contraction = Contraction(p, _sets(p, stopping) if given is None else None)
    start = start_within(p, contraction, given, stopping)
    q = fitting(contraction.problem)
    labels = contraction.project(start)
    cut = cut_huge(q)  # so that tolerances and temperatures ignore costs that no good partition pays
    if np.isfinite(cut._evaluate_labels(labels)):
        q = cut
    parameters = parameters or SearchParameters()
    patience = parameters.patience if time_limit is None and max_iterations is None else None
    state = Portfolio(q, labels, contraction.constant, seed or 0, threads or processors(), stopping, parameters)
    if checkpoint is not None:
        state.saver = Saver(checkpoint, lambda labels, path: _write(p, contraction.lift(labels), path))
    status = state.run(patience)
    cost = p._evaluate_labels(start)
    bound = state.cost if status == Status.OPTIMAL else -np.inf
    result = finish(
        p, contraction.lift(state.labels), stopping, "search", status, lower_bound=bound, start=(start, cost)
    )
    return saved(p, result, checkpoint, labels=False)


def start_within(p: SetPartition, contraction: Contraction, given: Labels | None, stopping: Stopping) -> Labels:
    """Where the search starts: given labels, or elements alone where they are cheap to join, or what joining makes.

    If there are too many clusters then, elements are packed into as few as a problem allows.
    """
    if given is not None:
        return given
    if p.background is not None and has_room(p, contraction.sets):
        return contraction.sets
    start = joined(p, stopping)
    return start if has_room(p, start) else packed(p)


def _sets(p: SetPartition, stopping: Stopping) -> Labels:
    """The must-join classes; where all unlisted pairs cost the same, as in cluster editing, what some optimum joins.

    Graphs of similar things have many elements with the same neighbours.
    """
    background = p.background
    uniform = background is not None and background.constant is not None and background.repels
    if not uniform or p._limits is not None or p.lifted is not None:
        return p._must_join_classes()
    return reduced(p, stopping.child(plus=np.inf)).persistency.labels


def _write(p: SetPartition, labels: Labels, path: str) -> None:
    from graphpart.files.labels import write_labels

    write_labels(labels, path, p)


def better_start(p: SetPartition, initial: Any, checkpoint: str | os.PathLike[str] | None) -> Labels | None:
    """The better one of the initial partition and the checkpoint; either may be missing."""
    given = []
    if initial is not None:
        given.append(start_of(p, initial))
    if checkpoint is not None and os.path.exists(checkpoint):
        from graphpart.files.labels import read_labels

        given.append(start_of(p, read_labels(os.fspath(checkpoint), p)))
    return min(given, key=p._evaluate_labels, default=None)
