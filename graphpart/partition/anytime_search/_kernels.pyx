"""Annealing in one module, but for that of a dense matrix, which gcc optimises further."""

include "_sparse_annealing.pxi"
include "_exchanges.pxi"
