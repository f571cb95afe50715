"""Labelled partitions in one module."""

include "_enumeration.pxi"
include "_joining.pxi"
include "_moving.pxi"
