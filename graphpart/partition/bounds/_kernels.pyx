"""Lower bounds in one module, but for `_cuts`, which gcc optimises further."""

include "_packing.pxi"
include "_implicit_packing.pxi"
include "_matching.pxi"
include "_cycle_cuts.pxi"
include "_separators.pxi"
include "_primal_dual.pxi"
