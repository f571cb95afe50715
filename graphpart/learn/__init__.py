"""Models that turn data into costs."""

from graphpart.learn.logistic import LogisticRegression

__all__ = ["LogisticRegression"]
