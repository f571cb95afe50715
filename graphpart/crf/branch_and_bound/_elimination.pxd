# Variables with few neighbours; see `_elimination.pyx`.
from libc.stdint cimport int32_t

from graphpart.crf.branch_and_bound._store cimport Store


cdef void eliminate(Store* s, int x) noexcept nogil
cdef int join(Store* s, int f) noexcept nogil
cdef void last_labels(Store* s, int32_t* labels) noexcept nogil
