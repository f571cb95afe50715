"""The certainty of decisions in one module."""

include "_cheapest.pxi"
include "_subsets.pxi"
