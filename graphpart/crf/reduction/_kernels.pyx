"""Reduction of factor graphs in one module."""

include "_dead_ends.pxi"
include "_improving_mapping.pxi"
