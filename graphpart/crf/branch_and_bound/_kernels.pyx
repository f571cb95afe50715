"""Branch and bound with soft local consistency, in one module: what a part declares is visible to all after it."""

include "_state.pxi"
include "_store.pxi"
include "_factors.pxi"
include "_consistency.pxi"
include "_search.pxi"
