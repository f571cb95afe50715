"""Min-marginals, marginals, log Z and exact samples of factor graphs of small width, acyclic or not.

The pass towards the roots is that of `elimination`, over (min, +), or over (+, *) in the log domain; all messages are
kept. In a second pass, from the roots back, each bucket receives what the rest of the factor graph contributes to the
labelings of its separator (Lauritzen & Spiegelhalter 1988; Shafer & Shenoy 1990; Dechter 1999); see `_messages`.
Samples are drawn against the order of elimination, each label given those before (Dawid 1992).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bucket_elimination import _kernels
from graphpart.crf.bucket_elimination.order import order_of
from graphpart.crf.bucket_elimination.plan import Messages, Plan, collect, memory_of, text_of
from graphpart.crf.exact_solvers.min_sum import Marginals
from graphpart.crf.exact_solvers.min_sum import marginals as of_forest
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.labeling import LabelVectors, least_entries, places
from graphpart.errors import InvalidOption, TimeLimitReached, known_arguments
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["log_partition", "marginals", "min_marginals", "samples"]


@known_arguments
def min_marginals(
    problem: Any,
    *,
    memory_limit: int | float | str | None = None,
    order: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> LabelVectors:
    """The least energy with each label of each variable, for factor graphs of small width.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    memory_limit, order, seed
        As for :func:`elimination`.
    time_limit : float, optional
        Seconds. Nothing is returned if they do not suffice.

    Returns
    -------
    mapping from names of variables to ndarray of float64
        The minimum of each vector is the optimum; ``inf`` where a label is impossible.

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden.
    InvalidOption
        If the tables need more memory than allowed, which is noticed before they are allocated.
    TimeLimitReached
        If the time does not suffice.

    Notes
    -----
    Two passes, each about as long as :func:`elimination`. All messages are kept in memory, and in addition those that
    one node uses. Ctrl-C ends the run with KeyboardInterrupt.

    Examples
    --------
    >>> import graphpart as gp
    >>> differ = [[0.0, 1.0], [1.0, 0.0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [([[0]], [[0.0, 3.0]]), ([[0, 1], [1, 2], [0, 2]], [differ] * 3)])
    >>> min_marginals(f)[2]
    array([0., 2.])
    """
    f = as_factor_graph(problem)
    plan, stopping = _prepare(f, memory_limit, order, seed, time_limit, "min-marginals", back=True)
    messages = _collect(f, plan, stopping, "min-marginals", soft=False)
    labels = np.zeros(f.n, np.int32)
    there, none = np.ones(len(plan.variable), np.uint8), np.zeros(1, np.int64)
    _kernels.descend(f._view(), plan, messages.values, there, none, messages.choices, labels)
    values = _distribute_all(f, plan, messages, stopping, "min-marginals", soft=False)
    return LabelVectors(f, values + f.evaluate_labels(labels))


@known_arguments
def marginals(
    problem: Any,
    *,
    memory_limit: int | float | str | None = None,
    order: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> Marginals:
    """The probabilities of all labels under ``P(y) = exp(-H(y)) / Z``, and ``log Z``, for factor graphs of small width.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    memory_limit, order, seed
        As for :func:`elimination`.
    time_limit : float, optional
        Seconds. Nothing is returned if they do not suffice.

    Returns
    -------
    Marginals

    Raises
    ------
    InfeasibleProblem, InvalidOption, TimeLimitReached
        As for :func:`min_marginals`.

    Notes
    -----
    If the factor graph is acyclic, two passes of messages, O(sum over factors of arity times size of table). Otherwise
    as for :func:`min_marginals`, but several times slower, because each entry takes an exponential. The messages are
    logarithms, so neither huge nor tiny energies overflow.

    Examples
    --------
    >>> import graphpart as gp
    >>> equal = [[0.0, 2.0], [2.0, 0.0]]
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2], [0, 2]], [equal] * 3)])
    >>> m = marginals(f)
    >>> m.probabilities[0], round(m.log_z, 6)
    (array([0.5, 0.5]), 0.746638)
    """
    f = as_factor_graph(problem)
    if f.is_acyclic and order is None:
        if Stopping(time_limit).check(math.inf):
            raise TimeLimitReached(f"time_limit is {time_limit}: expected some time for marginals")
        return of_forest(f)
    plan, stopping = _prepare(f, memory_limit, order, seed, time_limit, "marginals", back=True)
    messages = _collect(f, plan, stopping, "marginals", soft=True)
    log_z = -math.fsum([f.constant, *messages.taken.tolist()])
    values = _distribute_all(f, plan, messages, stopping, "marginals", soft=True)
    start = places(f)
    if f.n:
        values /= np.repeat(np.add.reduceat(values, start[:-1]), f.domains)
    return Marginals(LabelVectors(f, values), log_z)


@known_arguments
def log_partition(
    problem: Any,
    *,
    memory_limit: int | float | str | None = None,
    order: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> float:
    """``log Z``, the logarithm of the sum of ``exp(-H(y))`` over all labelings, for factor graphs of small width.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    memory_limit, order, seed
        As for :func:`elimination`.
    time_limit : float, optional
        Seconds. Nothing is returned if they do not suffice.

    Raises
    ------
    InfeasibleProblem, InvalidOption, TimeLimitReached
        As for :func:`min_marginals`.

    Examples
    --------
    >>> import math
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 3], [([[0]], [[0.0, math.inf]])])
    >>> math.isclose(log_partition(f), math.log(3))
    True
    """
    f = as_factor_graph(problem)
    plan, stopping = _prepare(f, memory_limit, order, seed, time_limit, "log Z", back=False)
    messages = _collect(f, plan, stopping, "log Z", soft=True)
    return -math.fsum([f.constant, *messages.taken.tolist()])


@known_arguments
def samples(
    problem: Any,
    size: int = 1,
    seed: int | None = None,
    *,
    memory_limit: int | float | str | None = None,
    order: Any = None,
    time_limit: float | None = None,
) -> NDArray[np.int32]:
    """Independent exact samples from ``P(y) = exp(-H(y)) / Z``, for factor graphs of small width.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    size : int
        Number of samples.
    seed : int, optional
        The same seed gives the same samples; by default, each call gives other samples. The order of elimination does
        not depend on the seed. With the same seed, a larger `size` begins with the samples of a smaller one.
    memory_limit, order
        As for :func:`elimination`.
    time_limit : float, optional
        Seconds. Nothing is returned if they do not suffice.

    Returns
    -------
    ndarray of int32, shape (size, n)
        Labels; no sample has probability 0.

    Raises
    ------
    InfeasibleProblem, InvalidOption, TimeLimitReached
        As for :func:`min_marginals`; InvalidOption also if `size` is not an integer of at least 0.

    Notes
    -----
    One pass, and for each sample O(size of scopes + sum of domains * tables of each variable).

    Examples
    --------
    >>> import math
    >>> import graphpart as gp
    >>> differ = [[math.inf, 0.0], [0.0, math.inf]]
    >>> f = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2]], [differ] * 2)])
    >>> y = samples(f, 1000, seed=0)
    >>> bool((y[:, 0] != y[:, 1]).all()), bool((y[:, 0] == y[:, 2]).all()), 400 < int(y[:, 0].sum()) < 600
    (True, True, True)
    """
    f = as_factor_graph(problem)
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 0:
        raise InvalidOption(f"size is {size!r}: expected a whole number of at least 0")
    try:
        rng = np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InvalidOption(f"seed is {seed!r}: expected a whole number of at least 0") from None
    plan, stopping = _prepare(f, memory_limit, order, None, time_limit, "samples", back=False)
    messages = _collect(f, plan, stopping, "samples", soft=True)
    labels = np.zeros((int(size), f.n), np.int32)
    rows = max(1, 2**20 // max(1, f.n))  # random numbers drawn at a time
    for begin in range(0, int(size), rows):
        part = labels[begin : begin + rows]
        done = _kernels.sample(f._view(), plan, messages.values, rng.random(part.shape), part, stopping)
        if done < len(part):
            raise ended(stopping, plan, "samples")
    return labels[:, : f.owner.n]


def _prepare(
    f: FactorGraph,
    memory_limit: Any,
    order: Any,
    seed: int | None,
    time_limit: float | None,
    what: str,
    *,
    back: bool,
) -> tuple[Plan, Stopping]:
    limit = memory_of(memory_limit)
    stopping = Stopping(time_limit)
    least_entries(f)
    found = order_of(f, order, seed, stopping, limit)
    other = "; approximate_marginals takes any width" if what == "marginals" else ""
    if found.plan is None:
        raise InvalidOption(
            f"memory_limit is {text_of(limit)}: {what} along an order of width at least {found.width} need a table of "
            f"more than 2^62 entries{other}"
        )
    needed = found.plan.bytes_both_ways if back else found.plan.bytes_to_keep
    if needed > limit:
        raise InvalidOption(
            f"memory_limit is {text_of(limit)}: {what} along an order of width {found.width} need "
            f"{text_of(needed)}{other}"
        )
    if stopping.check(math.inf):
        raise ended(stopping, found.plan, what)
    return found.plan, stopping


def ended(stopping: Stopping, plan: Plan, what: str) -> BaseException:
    """The exception that states why a run was stopped before its end."""
    if stopping.reason is not Status.TIME_LIMIT:
        return KeyboardInterrupt()
    return TimeLimitReached(
        f"time_limit ended the run after {stopping.seconds:.3g} s: {what} along an order of width {plan.width} take "
        f"sums of {plan.entries:.3g} entries: expected more time, a better order, or evidence that narrows the graph"
    )


def _collect(f: FactorGraph, plan: Plan, stopping: Stopping, what: str, *, soft: bool = False) -> Messages:
    messages = collect(f, plan, stopping, keep=True, soft=soft)
    if messages.done < len(plan.variable):
        raise ended(stopping, plan, what)
    return messages


def _distribute_all(
    f: FactorGraph, plan: Plan, messages: Messages, stopping: Stopping, what: str, *, soft: bool
) -> NDArray[np.float64]:
    values = _kernels.distribute(f._view(), plan, messages.values, messages.taken, soft, stopping)
    if values is None:
        raise ended(stopping, plan, what)
    return values
