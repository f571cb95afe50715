"""Reading of models of costs, of any class, from files."""

from __future__ import annotations

import os

from graphpart.learn import logistic
from graphpart.learn.linear_costs import content_of
from graphpart.learn.logistic import LogisticRegression
from graphpart.learn.max_margin import model as max_margin
from graphpart.learn.max_margin.model import MaxMarginPartition

__all__ = ["load_model"]


def load_model(path: str | os.PathLike[str]) -> LogisticRegression | MaxMarginPartition:
    """Read a model that the method `save` of any model of costs wrote; ``"-"`` is standard input.

    Raises
    ------
    FormatError
        If the file is not such a model.
    """
    content = content_of(path, logistic.FORMAT, max_margin.FORMAT)
    kind = MaxMarginPartition if content["format"] == max_margin.FORMAT else LogisticRegression
    return kind._of(path, content)  # type: ignore[no-any-return]
