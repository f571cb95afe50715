"""The m labelings of least energy, for factor graphs of small width.

The pass of `elimination` towards the roots, with all messages kept, gives the energy of the best completion of any
labels chosen against the order of elimination. So it also gives the best labeling that first differs from a given one
at a given variable. The set of all labelings is divided by the variable at which they first differ from the best one,
and each part is divided in the same way: see `_descend.pxi` (Lawler 1972; Nilsson 1998; Dechter, Flerova & Marinescu
2012).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.bucket_elimination import _kernels
from graphpart.crf.bucket_elimination.inference import _collect, _prepare, ended
from graphpart.crf.problem import as_factor_graph
from graphpart.errors import InvalidOption, known_arguments

__all__ = ["Labelings", "m_best"]

WHAT = "the m best labelings"


@dataclass(frozen=True, eq=False)
class Labelings:
    """Labelings in the order of their energies.

    Attributes
    ----------
    labels : ndarray of int32, shape (k, n)
    costs : ndarray of float64, shape (k,)
        The energies, recomputed from the factor graph.
    nodes : sequence
        The names of the variables.
    shape : tuple of int or None
        Of the grid that the variables are the cells of.
    """

    labels: NDArray[np.int32] = field(repr=False)
    costs: NDArray[np.float64]
    nodes: Sequence[Hashable] = field(repr=False)
    shape: tuple[int, ...] | None = field(default=None, repr=False)

    def to_array(self) -> NDArray[np.int32]:
        """The labelings as arrays of the shape of the grid, one after the other: shape (k, ...).

        Raises
        ------
        InvalidOption
            If the variables are not the cells of a grid.
        """
        if self.shape is None:
            raise InvalidOption("the variables are not the cells of a grid: labels has a row for each labeling")
        return self.labels.reshape(len(self), *self.shape)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: int) -> dict[Hashable, int]:
        """The labeling at place i: the label of each variable by its name."""
        return dict(zip(self.nodes, self.labels[i].tolist(), strict=True))

    def __iter__(self) -> Iterator[dict[Hashable, int]]:
        return (self[i] for i in range(len(self)))


@known_arguments
def m_best(
    problem: Any,
    m: int = 10,
    *,
    memory_limit: int | float | str | None = None,
    order: Any = None,
    seed: int | None = None,
    time_limit: float | None = None,
) -> Labelings:
    """The m different labelings of least energy, in ascending order; fewer if fewer labelings are allowed.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    m : int
        Number of labelings.
    memory_limit, order, seed
        As for :func:`elimination`.
    time_limit : float, optional
        Seconds. Nothing is returned if they do not suffice.

    Returns
    -------
    Labelings

    Raises
    ------
    InfeasibleProblem
        If every labeling is forbidden.
    InvalidOption
        If the tables need more memory than allowed (this is checked before they are allocated), or if m is not an
        integer of at least 0.
    TimeLimitReached
        If the time does not suffice.

    Notes
    -----
    The time of :func:`elimination`, and for each labeling O(sum of domains * tables of each variable). If energies
    differ only by rounding, labelings may change places, also with those beyond the m-th. Ctrl-C ends the run with
    KeyboardInterrupt.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, 1.0]]), ([[0, 1]], [[[0.0, 3.0], [0.5, 0.0]]])])
    >>> best = m_best(f, 3)
    >>> best.labels.tolist(), best.costs.tolist()
    ([[0, 0], [1, 1], [1, 0]], [0.0, 1.0, 1.5])
    """
    f = as_factor_graph(problem)
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 0:
        raise InvalidOption(f"m is {m!r}: expected a whole number of at least 0")
    plan, stopping = _prepare(f, memory_limit, order, seed, time_limit, WHAT, back=False)
    messages = _collect(f, plan, stopping, WHAT)
    optimum = math.fsum([f.constant, *messages.taken.tolist()])
    few = float(np.log2(f.domains).sum()) < 62
    labels = np.zeros((min(int(m), math.prod(f.domains.tolist())) if few else int(m), f.n), np.int32)
    rows = _kernels.best(f._view(), plan, messages.values, optimum, labels, stopping)
    if rows < len(labels) and stopping.reason is not None:
        raise ended(stopping, plan, WHAT)
    labels = labels[:rows]
    costs = np.array([f.evaluate_labels(row) for row in labels])
    sequence = np.argsort(costs, kind="stable")
    owner = f.owner
    return Labelings(labels[sequence, : owner.n], costs[sequence], owner.variables, owner.shape)
