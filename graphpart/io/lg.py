"""Factor graphs of UAI with logarithms in place of the factors (``.LG`` of toulbar2): as `uai`, but for the entries.

An entry is the natural logarithm of a factor, and ``-inf`` stands for 0: maximise the sum of the entries. Hence each
entry l becomes the cost ``-l``, exactly, and ``objective`` is the sum. The manual of toulbar2 does not say to which
base; toulbar2 1.4.0 reads ``.LG`` files with natural logarithms with the same costs as the corresponding ``.uai``
files, and files with logarithms to the base 10 with other costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from graphpart.io.uai import read_network, write_network

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.files.source import Source


def sniff(head: bytes) -> bool:
    """Never: only the name of a file distinguishes it from the format uai."""
    return False


def read(source: Source) -> FactorGraph:
    """Read a problem."""
    from graphpart.crf.problem import FactorGraph

    domains, start, scope, entries, wrong = read_network(source)
    if len(entries) and entries.max() == np.inf:
        raise wrong(int(entries.argmax()), "a logarithm, a number or -inf")
    return FactorGraph.from_csr(domains, start, scope, 0.0 - entries, sense=-1)


def write(problem: FactorGraph, stream: BinaryIO) -> None:
    """Write a problem."""
    write_network(problem, 0.0 - problem.tables, -problem.constant, stream)
