"""Costs of pairs learned from whole partitions: the structured support vector machine.

`training` holds the training problems as arrays, `oracle` finds the partition that violates the margin most,
`frank_wolfe` and `perceptron` are the two solvers, `model` is the face, with the manners of `LogisticRegression`.
"""

from graphpart.learn.max_margin.model import MaxMarginPartition

__all__ = ["MaxMarginPartition"]
