"""Local search on a matrix, and the mutex watershed, in one module."""

include "_dense_joining.pxi"
include "_dense_moves.pxi"
include "_mutex_watershed.pxi"
