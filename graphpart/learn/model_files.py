"""Reading of models of costs, of any class, from files."""

from __future__ import annotations

import os

from graphpart.learn.linear_costs import content_of
from graphpart.learn.logistic import LogisticRegression
from graphpart.learn.max_margin.model import MaxMarginPartition

__all__ = ["load_model"]


def load_model(path: str | os.PathLike[str]) -> LogisticRegression | MaxMarginPartition:
    """Read a model that the method `save` of any model of costs wrote; ``"-"`` is standard input.

    Raises
    ------
    FormatError
        If the file is not such a model.
    """
    content = content_of(path, LogisticRegression.FORMAT, MaxMarginPartition.FORMAT)
    if content["format"] == MaxMarginPartition.FORMAT:
        return MaxMarginPartition._of(path, content)
    return LogisticRegression._of(path, content)
