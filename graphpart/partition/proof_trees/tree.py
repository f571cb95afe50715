"""The certificate of an optimal partition, and the problem in plain Python that `graphpart.check` takes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from graphpart.check import Partition
from graphpart.common.fast_check import FastPartition
from graphpart.common.proof_tree import ProofTree
from graphpart.partition.certificates.certificate import fingerprint
from graphpart.partition.problem import SetPartition, as_problem

__all__ = ["PartitionProof", "plain_problem"]


class PartitionProof(ProofTree):
    """A proof that no partition costs less than the bound; see :class:`graphpart.common.proof_tree.ProofTree`.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    >>> r = gp.solve(p, certificate=True)
    >>> r.certificate.bound, r.certificate.verify(p, exact=True)
    (-3.0, True)
    """

    kind = "partition"

    @staticmethod
    def plain(problem: Any, decimals: int | None, exact: bool) -> Partition:
        """The problem in plain Python, or with NumPy."""
        return plain_problem(as_problem(problem), decimals, Partition if exact else FastPartition)

    @staticmethod
    def identity(problem: Any) -> tuple[int, str]:
        """(number of elements, fingerprint)."""
        p = as_problem(problem)
        return p.n, fingerprint(p)


def plain_problem(p: SetPartition, decimals: int | None, kind: type[Partition] = FastPartition) -> Partition:
    """The problem with costs rounded to a number of decimals, or as they are; as `kind`, which checks leaves.

    The prices of groups, and a background other than one cost for all unlisted pairs, are added to the costs of pairs.
    O(n + m), or O(pairs that share a group), or O(n^2).
    """
    u, v, cost = p.pairs()
    used = cost != 0
    listed: list[tuple[int, int, Any]]
    listed = list(zip(u[used].tolist(), v[used].tolist(), cost[used].tolist(), strict=True))
    missing = 0.0
    if p.background is not None:
        for beta, *vectors in p.background.terms:
            x, y = vectors[0].tolist(), vectors[-1].tolist()
            if len(vectors) == 1 and not missing and all(w == 1 for w in x):
                missing = float(beta)
            else:
                listed += _of_term(
                    Fraction(beta), [Fraction(w) for w in x], [Fraction(w) for w in y], len(vectors) == 1
                )
        if (groups := p.background.groups) is not None:
            first, member, _ = groups.by_group
            for g, price in enumerate(groups.price.tolist()):
                listed += ((a, b, price) for a, b in combinations(member[first[g] : first[g + 1]].tolist(), 2))
    listed += ((a, b, -math.inf) for a, b in p.must_join.tolist())
    base = None
    if p.lifted is not None:
        some = ~p.lifted & (cost < math.inf)
        base = zip(u[some].tolist(), v[some].tolist(), strict=True)
    limits = p._limits
    return kind(
        p.n, listed, decimals, missing=missing, base=base,
        limits=(None, 1, None) if limits is None else (limits.max_size, limits.least, limits.most),
    )  # fmt: skip


def _of_term(beta: Fraction, x: list[Fraction], y: list[Fraction], single: bool) -> Iterator[tuple[int, int, Fraction]]:
    """The costs of all pairs in a term of the background, as fractions."""
    for a, b in combinations(range(len(x)), 2):
        yield a, b, beta * x[a] * x[b] if single else beta * (x[a] * y[b] + y[a] * x[b])
