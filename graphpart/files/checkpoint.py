"""Checkpoints: the best labels so far in a file, and beside it, in FILE.bound, the best lower bound proven so far.

The labels are in the format of any labels file. The fingerprint of the problem is written with the bound, so that a
bound of another problem is never used.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from graphpart.errors import FormatError
from graphpart.files.labels import write_labels
from graphpart.files.source import replacing
from graphpart.result import Result, Status

__all__ = ["BOUND", "saved"]

BOUND = ".bound"
Kind = TypeVar("Kind", bound=Result)


def saved(
    problem: Any,
    fingerprint: Callable[[Any], str],
    result: Kind,
    checkpoint: str | os.PathLike[str] | None,
    labels: bool = True,
) -> Kind:
    """Write a result to its checkpoint, if there is one; return the result, with a better bound of an earlier run.

    Raises
    ------
    FormatError
        If the file beside the checkpoint does not contain a bound.
    """
    if checkpoint is None:
        return result
    path = os.fspath(checkpoint)
    if labels:
        write_labels(result, path, problem)
    seal = fingerprint(problem)
    bound = max(result.lower_bound, _read(path + BOUND, seal))
    if bound > -math.inf:
        with replacing(path + BOUND) as stream:
            stream.write(json.dumps({"lower_bound": bound, "problem": seal}).encode() + b"\n")
    if bound >= result.cost and result.status != Status.OPTIMAL:
        message = "proven optimal (by the bound of the checkpoint)"
        bounds = (*result.bounds, (result.seconds, result.cost))
        return replace(result, lower_bound=result.cost, bounds=bounds, status=Status.OPTIMAL, message=message)
    if bound <= result.lower_bound:
        return result
    bound = min(bound, result.cost)
    return replace(result, lower_bound=bound, bounds=(*result.bounds, (result.seconds, bound)))


def _read(path: str, problem: str) -> float:
    """The bound in a file; ``-inf`` if there is none, or one of another problem."""
    try:
        with open(path, encoding="utf-8") as stream:
            content = json.load(stream)
        if content["problem"] != problem:
            return -math.inf
        bound = float(content["lower_bound"])
    except FileNotFoundError:
        return -math.inf
    except (ValueError, KeyError, TypeError):
        raise FormatError(
            path, None, "not the bound of a checkpoint: expected what auto or search has written"
        ) from None
    if math.isnan(bound):
        raise FormatError(path, None, "the bound is nan: expected a number")
    return bound
