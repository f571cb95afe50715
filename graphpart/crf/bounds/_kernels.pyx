"""What stands on message passing, in one module."""

include "_rounding.pxi"
include "_tightening.pxi"
