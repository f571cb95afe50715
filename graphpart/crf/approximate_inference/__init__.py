"""Approximate marginals where exact ones are out of reach: loopy and tree-reweighted sum-product.

`loopy.py` has the public function; its kernel is `exact_solvers/_sum_product`. `upper_bound.py` computes an upper bound
on log Z from reweighted messages, which is valid for any messages.
"""

from graphpart.crf.approximate_inference.loopy import ApproximateMarginals, approximate_marginals

__all__ = ["ApproximateMarginals", "approximate_marginals"]
