"""Bucket elimination in one module."""

include "_order.pxi"
include "_plan.pxi"
include "_messages.pxi"
include "_descend.pxi"
