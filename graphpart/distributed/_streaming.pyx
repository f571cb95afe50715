"""Union-find over pairs that come in parts: components of attractive pairs, and blocks of limited weight.

An array of parents is kept between the parts; the root of a set is its least element, so the result does not depend on
how pairs are divided into parts. Near O(pairs) (Tarjan & van Leeuwen 1984).
"""

from graphpart.kernels.compensated cimport Sum, add, value
from graphpart.kernels.types cimport cost_t, element_t


cdef inline element_t root(element_t* parent, element_t a) noexcept nogil:
    while parent[a] != a:
        parent[a] = parent[parent[a]]
        a = parent[a]
    return a


def unite_below(
    element_t[::1] parents, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost, double threshold
):
    """Unite the elements of each pair that costs less than the threshold."""
    cdef Py_ssize_t k
    cdef element_t a, b
    cdef element_t* parent = &parents[0] if parents.shape[0] else NULL
    with nogil:
        for k in range(u.shape[0]):
            if cost[k] < threshold:
                a = root(parent, u[k])
                b = root(parent, v[k])
                if a < b:
                    parent[b] = a
                elif b < a:
                    parent[a] = b


def unite_within(
    element_t[::1] parents, const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost,
    const long long[::1] order, long long[::1] weights, long long most
):
    """In this order, unite the elements of each pair, unless the set would weigh more than `most`."""
    cdef Py_ssize_t i, k
    cdef element_t a, b, c
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
            if b < a:
                c = a
                a = b
                b = c
            parent[b] = a
            weights[a] += weights[b]


def numbered(element_t[::1] parents):
    """Numbers of the sets, in order of their least elements, in place of parents; how many there are."""
    cdef Py_ssize_t k
    cdef element_t count = 0
    with nogil:
        for k in range(parents.shape[0]):
            if parents[k] == k:
                parents[k] = count
                count += 1
            else:
                parents[k] = parents[parents[k]]   # smaller, hence a number already
    return count


def compensated_sum(const cost_t[::1] values):
    """The sum with the rounding error of each addition carried along."""
    cdef Sum total = Sum(0.0, 0.0)
    cdef Py_ssize_t k
    with nogil:
        for k in range(values.shape[0]):
            add(&total, values[k])
    return value(&total)
