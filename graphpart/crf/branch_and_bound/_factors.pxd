# What single factors send; see `_factors.pyx`.
from graphpart.crf.branch_and_bound._store cimport Store


cdef int first_of(Store* s, int f) noexcept nogil
cdef void project(Store* s, int f, int x, bint paid) noexcept nogil
cdef bint has_support(Store* s, int f, int x, int a) noexcept nogil
