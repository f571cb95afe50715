"""Costs of pairs learned from whole partitions: the structured support vector machine.

`training` has the training problems as arrays, `oracle` finds the partition that violates the margin most,
`frank_wolfe` and `perceptron` are the two solvers, and `model` is the public class, with the same interface as
`LogisticRegression`.
"""

from graphpart.learn.max_margin.model import MaxMarginPartition

__all__ = ["MaxMarginPartition"]
