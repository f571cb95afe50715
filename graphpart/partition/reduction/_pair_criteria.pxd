from libc.math cimport INFINITY

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
    # Groups. Each element has a list of memberships, from `first` along `next` to `last`; -1 if there is none.
    Py_ssize_t groups
    const double* price
    const double* members       # of each group
    const element_t* member_of  # of each membership its group,
    const double* count         # and the number of members that the element stands for
    unsigned char* hard         # of each element, whether it is a member of a group at price inf
    element_t* next
    element_t* first
    element_t* last
    double* of_a                # for each group: its members under consideration, by the element that stands for them,
    double* of_b
    double* others              # the members that other elements stand for,
    double* of_set              # the members that a set stands for


cdef inline double background(const Scratch* t, element_t a, const double* h) noexcept nogil:
    """The background of an element with others, given the sums of their weights."""
    cdef double sum = 0.0
    cdef Py_ssize_t i
    for i in range(t.k):
        sum += t.beta[i] * t.g[a * t.k + i] * h[i]
    return sum


cdef inline void put_memberships(const Scratch* t, element_t a, double* counts, double sign) noexcept nogil:
    """Add the memberships of an element to counts of members of groups."""
    cdef element_t i = t.first[a]
    while i >= 0:
        counts[t.member_of[i]] += sign * t.count[i]
        i = t.next[i]


cdef inline double paid_with(const Scratch* t, element_t a, const double* counts) noexcept nogil:
    """The cost of groups if element a is with `counts` members of each group."""
    cdef element_t i = t.first[a]
    cdef double total = 0.0
    while i >= 0:
        if counts[t.member_of[i]] != 0:
            total += t.price[t.member_of[i]] * t.count[i] * counts[t.member_of[i]]
        i = t.next[i]
    return total


cdef inline double paid_by(const Scratch* t, element_t a, element_t b) noexcept nogil:
    """The cost of the groups that a pair shares."""
    cdef double total
    if not t.groups or t.first[a] < 0 or t.first[b] < 0:
        return 0.0
    put_memberships(t, a, t.others, 1.0)
    total = paid_with(t, b, t.others)
    put_memberships(t, a, t.others, -1.0)
    return total


cdef inline double finite_prices(const Scratch* t, element_t a) noexcept nogil:
    """The cost of an element with all members of its groups, over groups of finite price."""
    cdef element_t i = t.first[a] if t.groups else -1
    cdef double total = 0.0
    while i >= 0:
        if t.price[t.member_of[i]] < INFINITY:
            total += t.price[t.member_of[i]] * t.count[i] * t.members[t.member_of[i]]
        i = t.next[i]
    return total


cdef inline double weight_of(const Shrinking* g, const Scratch* t, element_t a) noexcept nogil:
    """An upper bound on the sum of absolute costs of an element."""
    return g.rows[a].weight + background(t, a, t.total) + finite_prices(t, a)


cdef int judge_join(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil
cdef int judge_cut(Shrinking* g, Scratch* t, element_t a, element_t b, double cost) noexcept nogil
