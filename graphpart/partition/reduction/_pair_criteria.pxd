from graphpart.kernels.contraction cimport Shrinking
from graphpart.kernels.types cimport element_t, offset_t

cdef struct Scratch:
    bint exact                  # whether all sums are exact
    double* common_a            # costs of common neighbours of the pair under consideration
    double* common_b
    offset_t* attracted_from    # compressed rows of negative entries, while pairs are cut
    element_t* attracted
    # The background of two elements is the sum over k channels of beta * g[a] * h[b]; no factor is negative. Unlike in
    # local search, weights are not rounded to integers: a proof has to hold for the costs as they are.
    Py_ssize_t k                # 0 without a background
    const double* beta
    double* g                   # k for each element
    double* h
    const double* total         # of h over all elements
    double* mass                # of h over some elements


cdef inline double background(const Scratch* t, element_t a, const double* h) noexcept nogil:
    """The background of an element with others, given the sums of their weights."""
    cdef double sum = 0.0
    cdef Py_ssize_t i
    for i in range(t.k):
        sum += t.beta[i] * t.g[a * t.k + i] * h[i]
    return sum


cdef inline double weight_of(const Shrinking* g, const Scratch* t, element_t a) noexcept nogil:
    """An upper bound on the sum of absolute costs of an element."""
    return g.rows[a].weight + background(t, a, t.total)


cdef int judge_join(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil
cdef int judge_cut(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil
