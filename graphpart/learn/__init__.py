"""Models that turn data into costs."""

from graphpart.learn import pairs
from graphpart.learn.logistic import LogisticRegression

__all__ = ["LogisticRegression", "pairs"]
