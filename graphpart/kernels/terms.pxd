# The background of a problem (see partition/local_search/sums.py) beside listed pairs, as k >= 0 terms; 0 without one.
#
# Elements have k weights each, which are integers, so the sums of subsets are exact in any order. The background of two
# sets is the sum over t of factor[t] * mine[partner[t]] * other[t] with their sums of weights. It is linear in either of
# them, and in fixed point the same to the last bit for (mine, other) as for (other, mine).
from libc.stdint cimport int64_t

from graphpart.kernels.fixed cimport fixed, fixed_t
from graphpart.kernels.types cimport element_t

cdef enum:
    TERMS = 16                  # more than anybody has


cdef struct Terms:
    Py_ssize_t k
    const int64_t* weights      # k for each element
    const element_t* partner
    const double* factor
    int64_t* total              # k sums of weights for each subset


cdef inline list take_terms(Terms* s, terms, Py_ssize_t subsets):
    """Point to (weights, partner, factor), or None, and make room for sums; returns what has to be kept alive."""
    cdef const int64_t[:, ::1] weights
    cdef const element_t[::1] partner
    cdef const double[::1] factor
    cdef int64_t[::1] total
    import numpy as np

    s.k = 0
    s.weights, s.partner, s.factor, s.total = NULL, NULL, NULL, NULL
    if terms is None or terms[0].shape[0] == 0 or terms[0].shape[1] == 0:
        return []
    weights, partner, factor = terms[0], terms[1], terms[2]
    if weights.shape[1] > TERMS:
        raise ValueError(f"{weights.shape[1]} terms of a background: expected at most {TERMS}")
    total = np.zeros(subsets * weights.shape[1], np.int64)
    s.k = weights.shape[1]
    s.weights, s.partner, s.factor, s.total = &weights[0, 0], &partner[0], &factor[0], &total[0]
    return [weights, partner, factor, total]


cdef inline double terms_between(const Terms* s, const int64_t* mine, const int64_t* other) noexcept nogil:
    """The background of two sets with these sums of weights."""
    cdef Py_ssize_t t
    cdef double sum = 0.0
    for t in range(s.k):
        sum += s.factor[t] * (<double>mine[s.partner[t]] * <double>other[t])
    return sum


cdef inline fixed_t fixed_between(
    const Terms* s, const int64_t* mine, const int64_t* other, double scale
) noexcept nogil:
    """The same in fixed point."""
    cdef Py_ssize_t t
    cdef fixed_t sum = 0
    for t in range(s.k):
        sum += fixed(s.factor[t] * (<double>mine[s.partner[t]] * <double>other[t]), scale)
    return sum


cdef inline void terms_slope(const Terms* s, const int64_t* mine, double* slope) noexcept nogil:
    """What the background of a set is, for each unit of the sums of the other."""
    cdef Py_ssize_t t
    for t in range(s.k):
        slope[t] = s.factor[t] * <double>mine[s.partner[t]]


cdef inline void terms_partners(const Terms* s, const int64_t* mine, int64_t* out) noexcept nogil:
    """Weights in the order in which those of the other set meet them."""
    cdef Py_ssize_t t
    for t in range(s.k):
        out[t] = mine[s.partner[t]]


cdef inline void terms_without(const Terms* s, element_t a, element_t U, int64_t* out) noexcept nogil:
    """The sums of a subset without one of its elements."""
    cdef Py_ssize_t t
    for t in range(s.k):
        out[t] = s.total[U * s.k + t] - s.weights[a * s.k + t]


cdef inline void terms_put(Terms* s, element_t a, element_t U) noexcept nogil:
    """Add the weights of an element to the sums of a subset."""
    cdef Py_ssize_t t
    for t in range(s.k):
        s.total[U * s.k + t] += s.weights[a * s.k + t]


cdef inline void terms_take(Terms* s, element_t a, element_t U) noexcept nogil:
    """Subtract them from the sums of its subset."""
    cdef Py_ssize_t t
    for t in range(s.k):
        s.total[U * s.k + t] -= s.weights[a * s.k + t]


cdef inline void terms_move(Terms* s, element_t a, element_t U, element_t W) noexcept nogil:
    terms_take(s, a, U)
    terms_put(s, a, W)


cdef inline void terms_clear(Terms* s, Py_ssize_t subsets) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(subsets * s.k):
        s.total[i] = 0
