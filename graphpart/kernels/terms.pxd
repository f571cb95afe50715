# The background of a problem (see partition/local_search/sums.py) beside listed pairs, as k >= 0 terms; 0 without one.
# The constraints of groups, sizes and the number of subsets (kernels/groups.pxd) are part of the background. Kernels
# test `any` once, wherever the background or the constraints matter.
#
# Elements have k weights each, which are integers, so the sums of subsets are exact in any order. The background of two
# sets is the sum over t of factor[t] * mine[partner[t]] * other[t] with their sums of weights. It is linear in either of
# them, and in fixed point the same to the last bit for (mine, other) as for (other, mine).
from libc.stdint cimport INT64_MAX, int64_t

from graphpart.kernels._arrays cimport zeros_int64
from graphpart.kernels.fixed cimport fixed, fixed_t
from graphpart.kernels.groups cimport (
    Groups, groups_add, groups_at, groups_clear, groups_fixed, take_groups,
)
from graphpart.kernels.types cimport element_t

cdef enum:
    TERMS = 16                  # largest number of terms, more than any problem has


cdef struct Terms:
    bint any                    # whether there are terms, groups or limits
    Py_ssize_t k
    const int64_t* weights      # k for each element
    const element_t* partner
    const double* factor
    int64_t* total              # k sums of weights for each subset
    Groups groups


cdef inline list take_terms(Terms* s, terms, Py_ssize_t subsets):
    """Point to `Terms` of sums.py, or None, and make room for sums; returns what has to be kept alive."""
    cdef const int64_t[:, ::1] weights
    cdef const element_t[::1] partner
    cdef const double[::1] factor
    cdef int64_t[::1] total
    cdef list kept
    import numpy as np

    s.k = 0
    s.weights, s.partner, s.factor, s.total = NULL, NULL, NULL, NULL
    kept = take_groups(&s.groups, terms, subsets)
    s.any = s.groups.any
    if terms is None or terms.weights.shape[0] == 0 or terms.weights.shape[1] == 0:
        return kept
    weights, partner, factor = terms.weights, terms.partner, terms.factor
    if weights.shape[1] > TERMS:
        raise ValueError(f"{weights.shape[1]} terms of a background: expected at most {TERMS}")
    total = zeros_int64(subsets * weights.shape[1])
    s.k = weights.shape[1]
    s.any = True
    s.weights, s.partner, s.factor, s.total = &weights[0, 0], &partner[0], &factor[0], &total[0]
    return kept + [weights, partner, factor, total]


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
    """The background of a set per unit of each sum of the other set."""
    cdef Py_ssize_t t
    for t in range(s.k):
        slope[t] = s.factor[t] * <double>mine[s.partner[t]]


cdef inline void terms_partners(const Terms* s, const int64_t* mine, int64_t* out) noexcept nogil:
    """Weights in the order of their partners among the weights of the other set."""
    cdef Py_ssize_t t
    for t in range(s.k):
        out[t] = mine[s.partner[t]]


cdef inline void terms_without(const Terms* s, element_t a, element_t U, int64_t* out) noexcept nogil:
    """The sums of a subset without one of its elements."""
    cdef Py_ssize_t t
    for t in range(s.k):
        out[t] = s.total[U * s.k + t] - s.weights[a * s.k + t]


cdef inline double terms_at(const Terms* s, element_t a, element_t U, bint inside) noexcept nogil:
    """The cost of an element with a subset, `inside` if it is part of it; inf if groups or sizes forbid it."""
    cdef int64_t others[TERMS]
    cdef double sum = groups_at(&s.groups, a, U, inside) if s.groups.any else 0.0
    if s.k == 0:
        return sum
    if inside:
        terms_without(s, a, U, others)
        return sum + terms_between(s, s.weights + a * s.k, others)
    return sum + terms_between(s, s.weights + a * s.k, s.total + U * s.k)


cdef inline fixed_t fixed_at(const Terms* s, element_t a, element_t U, bint inside, double scale) noexcept nogil:
    """The same in fixed point, NONE if it is forbidden."""
    cdef int64_t others[TERMS]
    cdef fixed_t sum = groups_fixed(&s.groups, a, U, inside, scale) if s.groups.any else 0
    if s.k == 0 or sum == INT64_MAX:
        return sum
    if inside:
        terms_without(s, a, U, others)
        return sum + fixed_between(s, s.weights + a * s.k, others, scale)
    return sum + fixed_between(s, s.weights + a * s.k, s.total + U * s.k, scale)


cdef inline fixed_t fixed_tolerance(const Terms* s, double tolerance, double scale) noexcept nogil:
    """A tolerance in fixed point, with terms more than what rounding them adds up to along a sequence of moves."""
    return 64 * <fixed_t>max(1.0, tolerance * scale) if s.k else <fixed_t>(tolerance * scale)


cdef inline void terms_put(Terms* s, element_t a, element_t U) noexcept nogil:
    """Add the weights of an element to the sums of a subset."""
    cdef Py_ssize_t t
    for t in range(s.k):
        s.total[U * s.k + t] += s.weights[a * s.k + t]
    if s.groups.any:
        groups_add(&s.groups, a, U, 1)


cdef inline void terms_take(Terms* s, element_t a, element_t U) noexcept nogil:
    """Subtract the weights of an element from the sums of its subset."""
    cdef Py_ssize_t t
    for t in range(s.k):
        s.total[U * s.k + t] -= s.weights[a * s.k + t]
    if s.groups.any:
        groups_add(&s.groups, a, U, -1)


cdef inline void terms_move(Terms* s, element_t a, element_t U, element_t W) noexcept nogil:
    if s.any:
        terms_take(s, a, U)
        terms_put(s, a, W)


cdef inline void terms_clear(Terms* s, Py_ssize_t subsets) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(subsets * s.k):
        s.total[i] = 0
    if s.groups.any:
        groups_clear(&s.groups, subsets)
