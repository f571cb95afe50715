"""The certificate of an optimal labeling, and the factor graph in plain Python that `graphpart.check` takes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from graphpart.check import Energy, Report
from graphpart.common.fast_check import FastEnergy
from graphpart.common.proof_tree import ProofTree
from graphpart.crf.certificates.certificate import fingerprint
from graphpart.crf.problem import FactorGraph, as_factor_graph

__all__ = ["LabelingProof", "plain_energy"]


class LabelingProof(ProofTree):
    """A proof that no labeling has a smaller energy; see :class:`graphpart.common.proof_tree.ProofTree`.

    If the factor graph has functions of many variables, the proof is for its decomposed form, which consists of tables.

    Examples
    --------
    >>> import graphpart as gp
    >>> pairs = ([[0, 1], [1, 2], [0, 2]], [[[1.0, 0.0], [0.0, 1.0]]] * 3)
    >>> f = gp.FactorGraph.from_arrays([2, 2, 2], [pairs])
    >>> r = gp.solve(f, certificate=True)
    >>> r.certificate.bound, r.certificate.verify(f, exact=True)
    (1.0, True)
    """

    kind = "factor graph"

    @staticmethod
    def plain(problem: Any, decimals: int | None, exact: bool) -> Energy:
        """The factor graph in plain Python, or with NumPy."""
        return plain_energy(as_factor_graph(problem).decomposed(), decimals, Energy if exact else FastEnergy)

    @staticmethod
    def identity(problem: Any) -> tuple[int, str]:
        """(number of variables, fingerprint)."""
        f = as_factor_graph(problem).decomposed()
        return f.n, fingerprint(f)

    def report(self, problem: Any, labels: Sequence[int] | None = None, exact: bool = False) -> Report:
        """What the check finds, also about labels of the problem; raise InvalidCertificate if it fails."""
        f = as_factor_graph(problem)
        if labels is not None and f.functions:
            labels = f.complete(np.asarray(labels, np.int32)).tolist()
        return super().report(problem, labels, exact)


def plain_energy(f: FactorGraph, decimals: int | None, kind: type[Energy] = FastEnergy) -> Energy:
    """The factor graph with costs rounded to a number of decimals, or as they are; as `kind`, which checks leaves.

    O(size of all tables)
    """
    arrays = (f.domains, f.scope_start, f.scope, f.table_start, f.tables)
    domains, start, scope, table_start, tables = (array.tolist() for array in arrays)
    scopes = (scope[a:b] for a, b in pairwise(start))
    entries = (tables[a:b] for a, b in pairwise(table_start))
    return kind(domains, zip(scopes, entries, strict=True), float(f.constant), decimals)
