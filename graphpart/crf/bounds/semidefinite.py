"""The semidefinite bound of `maximum_cut` for labels 0 and 1, with a certificate.

The columns of a Cholesky factor of Z, rounded to whole numbers, and the rows with multipliers are squares that prove
the bound (see `squares` in `certificates`).
"""

from __future__ import annotations

import math

import numpy as np

from graphpart.binary_quadratic.two_sides import signed_graph
from graphpart.common.blas import one_thread
from graphpart.crf.certificates.squares import Squares
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.errors import InvalidProblem
from graphpart.maximum_cut.semidefinite import LARGEST, Semidefinite, spin_costs
from graphpart.stopping import Stopping

__all__ = ["by_squares"]

ROUNDS, WORK = 400, 3e9  # without a time limit: rounds at most, and cubes of the number of spins


def by_squares(f: FactorGraph, stopping: Stopping) -> Squares:
    """Squares that prove the bound of the relaxation.

    Raises
    ------
    InvalidProblem
        If the relaxation is not for this factor graph.
    """
    q = quadratic_form(f)
    if q is None or q.n > LARGEST:
        raise InvalidProblem(
            "the semidefinite bound is for variables with two labels, factors of at most two variables, finite costs, "
            f'and at most {LARGEST} variables: use method="message-passing"'
        )
    relaxation = Semidefinite(*spin_costs(signed_graph(q)))
    enough = math.inf if stopping.remaining is not None else min(ROUNDS, WORK / relaxation.n**3)
    with one_thread():
        while not stopping.check(math.inf) and relaxation.round(math.inf):
            stopping.raise_bound(relaxation.bound)
            if stopping.step(math.inf) or relaxation.done or relaxation.rounds >= enough:
                break
        return proof(relaxation)


def proof(relaxation: Semidefinite) -> Squares:
    """The squares that prove the best bound; the last spin is that of label 0."""
    rows, n = relaxation.best, relaxation.n
    L = np.linalg.cholesky(relaxation.rest(rows))
    largest = np.abs(L).max(axis=0)
    unit = largest / 2.0**30  # so the whole numbers are at most 2^30, as `Squares` requires
    used = np.flatnonzero(unit > 0)
    numbers = np.rint(L[:, used] / unit[used]).astype(np.int64).T
    row, member = np.nonzero(numbers)
    counts = np.bincount(row, minlength=len(used))
    sizes = np.concatenate([counts[counts > 0], np.diff(rows.starts)[n:]])
    members = np.concatenate([member.astype(np.int32), rows.members[n:]])
    entries = np.concatenate([numbers[row, member], rows.numbers[n:].astype(np.int64)])
    return Squares(
        np.concatenate([[0], np.cumsum(sizes)]),
        members,
        np.where(members == n - 1, -entries, entries),  # the last spin of `Squares` is that of label 1
        np.concatenate([(unit[used] ** 2)[counts > 0], rows.multipliers[n:]]),
    )
