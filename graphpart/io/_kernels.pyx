"""The reading of factor graphs in one module."""

include "_cfn.pxi"
include "_records.pxi"
