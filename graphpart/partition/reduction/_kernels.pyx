"""Persistency in one module."""

include "_pair_criteria.pxi"
include "_persistency.pxi"
