"""The choice of a number by known clusters: the cost of unlisted pairs, or the resolution of a network.

For each setting there is one partition. The classes of the elements whose truth is known are dealt to five parts. Each
part has a score for each setting: of the pairs with an end in the part. So pairs of two parts count in both, and wrong
joins weigh as much as in a score of all elements. The setting with the best mean is chosen. The quality of the choice
on other data is estimated by cross-validation: each part is scored with the setting that the other parts would choose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.contingency import aligned
from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.methods import find_method
from graphpart.metrics import scores_by_part

__all__ = ["SettingSelection", "cross_validate_settings"]

SCORES = ("adjusted-rand", "joins-f1")


@dataclass
class SettingSelection:
    """A setting chosen by cross-validation, and the scores by which it was chosen.

    Attributes
    ----------
    setting : any
        The one with the largest mean score; of equal ones the first.
    settings : list of S
    scores : ndarray of float64, shape (R, S)
        The score of each part of the known classes and each setting.
    held_out : float
        The mean over parts of the score with the setting that is best on the other parts; NaN if there is one part.
    """

    setting: Any
    settings: list[Any]
    scores: NDArray[np.float64]
    held_out: float

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean over parts of the scores of each setting, shape (S,)."""
        mean: NDArray[np.float64] = self.scores.mean(axis=0)
        return mean


def cross_validate_settings(
    problem: Callable[[Any], Any],
    settings: Iterable[Any],
    truth: Any,
    *,
    method: str = "auto",
    score: str = "adjusted-rand",
    time_limit: float | None = None,
) -> SettingSelection:
    """Choose the setting of a problem whose partition is nearest to the truth, as far as that is known.

    Parameters
    ----------
    problem : callable
        ``problem(setting)`` returns the problem, all of the same elements: a SetPartition or a networkx graph.
    settings : iterable
        What is tried, such as costs of unlisted pairs (`missing` of :meth:`SetPartition.from_frame`), resolutions of
        :meth:`SetPartition.from_cpm`, or thresholds.
    truth : mapping, Series or array_like
        The classes of elements, by name, or in their order. Elements that are not named, or have the class -1 or None,
        are clustered, too, but have no score. Know whole clusters rather than single elements, and what is near them:
        wrong joins with elements of unknown class are not seen.
    method : str
        As for :func:`graphpart.solve`.
    score : {"adjusted-rand", "joins-f1"}
        Larger is better.
    time_limit : float, optional
        Seconds, for each setting.

    Returns
    -------
    SettingSelection

    Raises
    ------
    InvalidOption
        If there are no settings, or no such method or score.
    InvalidProblem
        If no class is known.

    Examples
    --------
    >>> import networkx as nx
    >>> import graphpart as gp
    >>> G = nx.planted_partition_graph(6, 8, 0.7, 0.1, seed=0)
    >>> chosen = gp.learn.cross_validate_settings(
    ...     lambda resolution: gp.SetPartition.from_cpm(G, resolution),
    ...     [0.1, 0.2, 0.4, 0.95],
    ...     {node: node // 8 for node in G},
    ... )
    >>> chosen.setting, chosen.mean.round(1).tolist()
    (0.2, [0.3, 0.9, 0.9, 0.4])
    """
    if score not in SCORES:
        raise InvalidOption(f"score is {score!r}: expected one of {', '.join(SCORES)}")
    tried = list(settings)
    if not tried:
        raise InvalidOption("settings are empty: expected at least one")
    solver = find_method(method, "partition")
    scores = []
    for setting in tried:
        result = solver.run(problem(setting), time_limit=time_limit)
        codes, labels = aligned(truth, result, -1)
        if not len(codes):
            raise InvalidProblem("truth has no class: expected those of some elements")
        scores.append(scores_by_part(codes, labels, _parts(codes), score))
    found = np.array(scores, np.float64).T
    parts = len(found)
    held_out = float("nan")
    if parts > 1:
        others = (found.sum(axis=0) - found) / (parts - 1)
        held_out = float(found[np.arange(parts), others.argmax(axis=1)].mean())
    return SettingSelection(tried[int(found.mean(axis=0).argmax())], tried, found, held_out)


def _parts(codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part of each element: classes from the largest to the smallest are dealt to five parts in turn."""
    sizes = np.bincount(codes)
    part = np.zeros(len(sizes), np.int64)
    kept = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
    part[kept] = np.arange(len(kept)) % 5
    return part[codes]
