"""The anytime search in one module."""

include "_parts.pxi"
include "_annealing.pxi"
