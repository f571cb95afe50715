"""Union-find over pairs that come in parts: components of attractive pairs, and blocks of limited weight.

An array of parents is kept between the parts, and the result does not depend on the division of pairs into parts. Near
O(pairs).
"""

from graphpart.kernels.compensated cimport Sum, add, value
from graphpart.kernels.types cimport cost_t, element_t
from graphpart.kernels.union_find cimport number_sets, root, unite


def unite_below(
    element_t[::1] parents, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost, double threshold
):
    """Unite the elements of each pair that costs less than the threshold."""
    cdef Py_ssize_t k
    cdef element_t* parent = &parents[0] if parents.shape[0] else NULL
    with nogil:
        for k in range(u.shape[0]):
            if cost[k] < threshold:
                unite(parent, u[k], v[k])


def unite_strong(
    element_t[::1] parents, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
    double least, double below, long long[::1] weights, long long most, const long long[::1] given
):
    """Unite the elements of each pair that costs at least `least` and below `below`, unless the set would weigh more
    than `most`, or the pair lies between blocks that are `given` (none if empty)."""
    cdef Py_ssize_t k
    cdef element_t a, b
    cdef element_t* parent = &parents[0] if parents.shape[0] else NULL
    cdef bint any_blocks = given.shape[0] > 0
    with nogil:
        for k in range(u.shape[0]):
            if not least <= cost[k] < below or (any_blocks and given[u[k]] != given[v[k]]):
                continue
            a = root(parent, u[k])
            b = root(parent, v[k])
            if a != b and weights[a] + weights[b] <= most:
                unite(parent, a, b)
                weights[min(a, b)] += weights[max(a, b)]


def unite_within(
    element_t[::1] parents, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
    const long long[::1] order, long long[::1] weights, long long most
):
    """In this order, unite the elements of each pair, unless the set would weigh more than `most`."""
    cdef Py_ssize_t i, k
    cdef element_t a, b
    cdef element_t* parent = &parents[0] if parents.shape[0] else NULL
    with nogil:
        for i in range(order.shape[0]):
            k = order[i]
            if cost[k] >= 0:
                continue
            a = root(parent, u[k])
            b = root(parent, v[k])
            if a == b or weights[a] + weights[b] > most:
                continue
            unite(parent, a, b)
            weights[min(a, b)] += weights[max(a, b)]


def numbered(element_t[::1] parents):
    """Numbers of the sets, in order of their least elements, in place of parents; how many there are."""
    cdef element_t count = 0
    if parents.shape[0]:
        with nogil:
            count = number_sets(&parents[0], parents.shape[0])
    return count


def compensated_sum(const cost_t[::1] values) -> float:
    """The sum with the rounding error of each addition carried along."""
    cdef Sum total = Sum(0.0, 0.0)
    cdef Py_ssize_t k
    with nogil:
        for k in range(values.shape[0]):
            add(&total, values[k])
    return value(&total)
