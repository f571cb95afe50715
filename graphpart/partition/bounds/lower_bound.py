"""Lower bounds: one public function, a table of methods, and a certificate for each bound."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption
from graphpart.methods import find_name
from graphpart.partition.bounds import (
    background_packing,
    background_relaxation,
    cycle_packing,
    message_passing,
    relaxation,
    semidefinite,
)
from graphpart.partition.bounds.cycle_packing import DENSE_UP_TO
from graphpart.partition.certificates.certificate import Certificate, certify
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import SetPartition, as_problem
from graphpart.partition.problem.derived import pairs_with_cost
from graphpart.partition.problem.forms import in_fitting_unit
from graphpart.stopping import Stopping, interruptible

__all__ = ["BOUNDS", "lower_bound"]

Found = tuple[Inequalities, NDArray[np.float64]]


def _nothing(p: SetPartition, stopping: Stopping) -> Found:
    return Inequalities.none(), np.zeros(0)


SMALL = 60_000  # most pairs with a cost for which "auto" solves the relaxation


def _fitting(p: SetPartition, stopping: Stopping) -> Found:
    """For small problems a relaxation, which is semidefinite if the problem is dense; else message passing."""
    used = pairs_with_cost(p)
    if used > SMALL:
        return message_passing.pass_messages(p, stopping)
    if relaxation.is_best_complete(p.n, used):
        return semidefinite.solve_semidefinite(p, stopping)
    return relaxation.solve_relaxation(p, stopping)


#: Methods by name. Each takes a problem without required joins and a Stopping; returns inequalities and multipliers.
BOUNDS: dict[str, Callable[[SetPartition, Stopping], Found]] = {
    "negative-sum": _nothing,
    "cycle-packing": cycle_packing.pack,
    "message-passing": message_passing.pass_messages,
    "lp": relaxation.solve_relaxation,
    "semidefinite": semidefinite.solve_semidefinite,
    "auto": _fitting,
}
#: Their further names.
ALSO = {"cycle-packing": ("icp",), "lp": ("cutting-planes",), "semidefinite": ("sdp",)}
EIGENVECTORS_UP_TO = 2000  # most elements of a matrix whose eigenvectors are computed; that takes some seconds


def _fitting_implicit(p: SetPartition, stopping: Stopping) -> Found:
    """The relaxation if few pairs are listed, or if time is limited, since it starts from message passing."""
    if p.m <= SMALL or stopping.remaining is not None:
        return background_relaxation.solve_implicit_relaxation(p, stopping)
    return background_packing.pass_messages_implicit(p, stopping)


#: The same for problems with a background and more elements.
WITH_BACKGROUND: dict[str, Callable[[SetPartition, Stopping], Found]] = {
    "negative-sum": _nothing,
    "cycle-packing": background_packing.pack_implicit,
    "message-passing": background_packing.pass_messages_implicit,
    "lp": background_relaxation.solve_implicit_relaxation,
    "auto": _fitting_implicit,
}


@interruptible
def lower_bound(
    problem: Any,
    method: str = "cycle-packing",
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> Certificate:
    """A lower bound on the cost of all partitions, with its proof.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    method : str
        "negative-sum": the sum of all negative costs. "cycle-packing" (also "icp"): this sum plus a greedy packing of
        conflicted cycles and, for matrices, of stars; for problems of any size. "message-passing": a packing that is
        improved by dual block-coordinate ascent. "lp" (also "cutting-planes"): the linear relaxation with cutting
        planes; the best bound on sparse graphs. "semidefinite" (also "sdp"): the linear relaxation with the condition
        that the matrix of pairs is positive semidefinite. It takes O(n^3) for each of thousands of iterations. If the
        linear relaxation is tight, it is about as fast as "lp"; if costs are dense and noisy, it is better, for up to
        some hundred elements. "auto": "semidefinite" for up to 40 elements, or if at least a fifth of all pairs has a
        cost; "lp" for other small problems; "message-passing" for large ones. For problems with a background and more
        than some hundred elements, pairs that are not listed are added when an inequality uses them, at most some times
        as many as are listed; "auto" is then "lp" for large problems, too, if there is a time limit. All bounds are
        also valid if clusters have to be connected, since a partition into connected clusters is a partition. "lp" and
        "semidefinite" also add cuts of base pairs, which raise the bound further.
    time_limit : float, optional
        Seconds, after which the best bound so far is returned. Making the certificate takes additional time.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value ends the work in the same way.

    Returns
    -------
    Certificate
        With the bound and the multipliers that prove it.

    Raises
    ------
    InvalidOption
        If there is no such method, or the problem has more than 2000 elements and the method is "semidefinite".

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> [lower_bound(p, method).bound for method in ("negative-sum", "cycle-packing")]
    [-5.0, -3.0]
    """
    p = as_problem(problem)
    method = find_name(method, BOUNDS, ALSO)
    stopping = Stopping(time_limit, None, None, callback)
    contraction = Contraction(p)
    q, exponent = contraction.problem, 0
    if method == "semidefinite" and q.n > EIGENVECTORS_UP_TO:
        raise InvalidOption(
            f"method is 'semidefinite', and the problem has {q.n} elements: expected at most {EIGENVECTORS_UP_TO} of "
            "them, or method 'lp' or 'message-passing'"
        )
    if q.background is not None and (q.n <= DENSE_UP_TO or method == "semidefinite"):
        q = q._to_dense()
    if q.background is None:
        q, exponent = in_fitting_unit(q)
    found, multipliers = (BOUNDS if q.background is None else WITH_BACKGROUND)[method](q, stopping)
    stopping.reraise()  # no result follows that would
    if exponent:
        with np.errstate(over="ignore", under="ignore"):
            multipliers = np.ldexp(multipliers, exponent)
        multipliers[~np.isfinite(multipliers)] = 0.0
    if contraction.problem is not p:
        found = found.renamed(contraction.first)
    return certify(p, method, found, multipliers)
