# Soft local consistency; see `_consistency.pyx`.
from graphpart.crf.branch_and_bound._store cimport Store
from graphpart.stopping cimport Stopping

cdef enum Outcome:
    CONSISTENT
    CONFLICT
    STOPPED


cdef void first_amounts(Store* s) noexcept nogil
cdef void queue_all(Store* s) noexcept nogil
cdef Outcome propagate(Store* s, Stopping stopping, double cost) noexcept nogil
