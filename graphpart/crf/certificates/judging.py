"""The judge of the proofs of one factor graph: see `graphpart.common.judge`."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import TOLERANCE, Judge, judge_of
from graphpart.common.steps import decimal_scales, decimal_step
from graphpart.crf.certificates.certificate import common_step, counted_costs, finite_costs
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.shared_tables import absolute_costs, places_in_tables

__all__ = ["is_far", "judge_of_labels", "selected_entries", "steps_of"]

BLOCK = 2**20  # factors whose selected entries are looked at at once


def is_far(f: FactorGraph, bound: float, cost: float) -> bool:
    """Whether a bound does not meet the cost, whatever the labels are. O(1) after the first call"""
    if "resolution" not in f._cache:
        f._cache["resolution"] = max(steps_of(f)[0], TOLERANCE * (abs(f.constant) + absolute_costs(f)))
    return bool(bound < cost - f._cache["resolution"])


def judge_of_labels(f: FactorGraph, labels: NDArray[np.int32]) -> Judge:
    """The judge of the best known labels: by a common step, by a decimal step, or up to rounding. O(n + m)

    The tolerance is a share of the sum of the absolute entries that the labels select. The judges of the latest labels
    are kept.
    """
    known: list[tuple[NDArray[np.int32], Judge]] = f._cache.setdefault("judges", [])
    for its_labels, judge in known:
        if its_labels is labels:
            return judge
    judge = _made(f, labels)
    known.insert(0, (labels, judge))
    del known[4:]
    return judge


def steps_of(f: FactorGraph) -> tuple[float, float]:
    """A step of the energies of all labels, and how far from a multiple they may be; 0 and 0 if there is none."""
    if "steps" not in f._cache:
        step = common_step(f)
        decimal = not step and next(decimal_scales(finite_costs(f)), None) is not None
        f._cache["steps"] = decimal_step(*counted_costs(f)) if decimal else (step, 0.0)
    steps: tuple[float, float] = f._cache["steps"]
    return steps


def _made(f: FactorGraph, labels: NDArray[np.int32]) -> Judge:
    step, error = steps_of(f)
    paid = [abs(f.constant)]
    for begin in range(0, f.m, BLOCK):
        entries = f._flat()[4][selected_entries(f, labels, begin, min(begin + BLOCK, f.m))]
        paid.append(float(np.abs(entries[np.isfinite(entries)]).sum()))
    return judge_of(step, error, TOLERANCE * math.fsum(paid))


def selected_entries(
    f: FactorGraph, labels: NDArray[np.int32], begin: int = 0, end: int | None = None
) -> NDArray[np.int64]:
    """The entry that labels select from the table of each factor, as a place in the tables that are kept.

    With `begin` and `end`, of these factors only.
    """
    domains, start, scope, table_start, _ = f._flat()
    end = f.m if end is None else end
    return table_start[begin:end] + places_in_tables(domains, start[begin : end + 1], scope, labels)
