"""Graph cuts of ordered labels, and of doubled variables, in one module."""

include "_ordered.pxi"
include "_doubled.pxi"
