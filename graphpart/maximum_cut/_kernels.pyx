"""Maximum cut in one module."""

include "_low_degree.pxi"
include "_odd_walks.pxi"
include "_odd_squares.pxi"
