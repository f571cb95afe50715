"""Evidence of the UAI inference competitions: the labels of some variables, ``k v1 l1 ... vk lk``, variables from 0.

There are three layouts: one line for the only sample; a first line with the number of samples, then a line for each
(UAI 2008 and 2010); a first line with k, then k lines with a variable and its label (as the manual of toulbar2 has it).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from graphpart.errors import InvalidOption
from graphpart.files.source import PathOrStream, Source, opened
from graphpart.files.stream import NumberStream
from graphpart.kernels import LARGEST_INDEX

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph

__all__ = ["read_evidence"]

FORM = "k, then k variables, each with its label"


def read_evidence(path: PathOrStream, problem: FactorGraph | None = None, sample: int = 0) -> dict[Hashable, int]:
    """Read the given labels of some variables.

    Parameters
    ----------
    path : str, path-like or binary stream
        An ``.evid`` file of UAI, in any layout. ``"-"`` is standard input; data compressed by gzip or xz are
        recognised.
    problem : FactorGraph, optional
        The factor graph that the evidence is for.
    sample : int
        Which one, from 0, if the file has several.

    Returns
    -------
    dict
        From variables to labels: from the names of variables with `problem`, from their indices without.

    Raises
    ------
    FormatError
        If the file has another form, names a variable twice, or does not fit the problem. All samples are checked.
    InvalidOption
        If there is no such sample.

    See Also
    --------
    graphpart.crf.solve_given, graphpart.FactorGraph.condition

    Examples
    --------
    >>> import io
    >>> read_evidence(io.BytesIO(b"2 0 1 4 0\\n"))
    {0: 1, 4: 0}
    >>> read_evidence(io.BytesIO(b"2\\n1 0 1\\n1 0 0\\n"), sample=1)
    {0: 0}
    """
    with opened(path) as source:
        samples = _samples(source, problem)
        if not 0 <= sample < len(samples):
            raise InvalidOption(f"sample is {sample}: expected 0 to {len(samples) - 1}, as {source.name} has them")
        found = samples[sample]
    return {v if problem is None else problem.variables[v]: label for v, label in found.items()}


def _samples(source: Source, problem: FactorGraph | None) -> list[dict[int, int]]:
    stream = NumberStream(source, FORM)
    rows = stream.rows()
    if not rows:
        raise stream.error(0, FORM)
    first, end = rows[0]
    if end - first == 1:  # 0 alone: no evidence, in one sample
        several = stream.count("the number of samples")
        if several == 0:
            stream.end("the end of the file, as there are 0 samples")
            return [{}]
        rows = rows[1:]
        if rows and all(end - first == 2 for first, end in rows):  # a sample has an odd number of numbers
            return [_sample(stream, 0, len(stream.values), problem, several)]
        if len(rows) < several:
            raise stream.error(len(stream.values), f"{several} lines, one for each sample")
        if len(rows) > several:
            raise stream.error(rows[several][0], f"the end of the file, as all {several} samples are read")
    elif len(rows) > 1:
        raise stream.error(rows[1][0], "the end of the file, as the evidence is read")
    return [_sample(stream, first, end, problem) for first, end in rows]


def _sample(
    stream: NumberStream, first: int, end: int, problem: FactorGraph | None, k: int | None = None
) -> dict[int, int]:
    n = LARGEST_INDEX if problem is None else problem.n
    if k is None:
        k = stream.count("the number of variables with evidence", 0, n)
    if end - first - 1 != 2 * k:
        raise stream.error(first, f"{(end - first - 1) / 2:g}, the number of pairs of variable and label in this line")
    stream.take(2 * k, FORM)
    at = np.arange(first + 1, end, 2)
    stream.check_wholes(stream.values[at], at, "a variable", 0, n - 1)
    variables = stream.values[at].astype(np.int64)
    order = np.argsort(variables, kind="stable")
    twice = order[1:][np.diff(variables[order]) == 0]
    if len(twice):
        raise stream.error(int(at[twice.min()]), "each variable once")
    labels = stream.values[at + 1]
    if problem is None:
        stream.check_wholes(labels, at + 1, "a label", 0, LARGEST_INDEX)
    else:
        sizes = problem.domains[variables]
        bad = np.flatnonzero(~((labels >= 0) & (labels < sizes) & (labels == np.trunc(labels))))
        if len(bad):
            i = int(bad[0])
            expected = f"a label of variable {variables[i]}, a whole number from 0 to {sizes[i] - 1}"
            raise stream.error(int(at[i] + 1), expected)
    return dict(zip(variables.tolist(), labels.astype(np.int64).tolist(), strict=True))
