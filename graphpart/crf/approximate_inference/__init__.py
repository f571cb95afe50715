"""Approximate marginals where exact ones are out of reach: loopy and tree-reweighted sum-product.

`loopy.py` is the face; its kernel is `exact_solvers/_sum_product`. `upper_bound.py` turns reweighted messages into an
upper bound on log Z that holds whatever the messages are.
"""

from graphpart.crf.approximate_inference.loopy import ApproximateMarginals, approximate_marginals

__all__ = ["ApproximateMarginals", "approximate_marginals"]
