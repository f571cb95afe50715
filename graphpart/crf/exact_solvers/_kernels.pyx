"""Sums over all labelings, and all labelings, in one module."""

include "_sum_product.pxi"
include "_brute_force.pxi"
