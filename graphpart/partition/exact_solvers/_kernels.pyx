"""Exact solvers in one module."""

include "_brute_force.pxi"
include "_pricing.pxi"
