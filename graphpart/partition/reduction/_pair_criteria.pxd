from graphpart.kernels.contraction cimport Shrinking
from graphpart.kernels.types cimport element_t, offset_t

cdef struct Scratch:
    bint exact                  # all sums are
    double* common_a            # costs of common neighbours of the pair under consideration
    double* common_b
    offset_t* attracted_from    # compressed rows of negative entries, while pairs are cut
    element_t* attracted

cdef int judge_join(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil
cdef int judge_cut(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil
