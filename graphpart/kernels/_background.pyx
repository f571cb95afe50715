"""Sums with a background: the cost of a partition, and weights by subset, without the pairs that are not listed.

Weights of a subset are added up element by element, and each element pays for those before it, so that nothing is
subtracted: an element that is alone costs exactly 0. Products and sums carry their rounding errors along (Dekker 1971,
Neumaier 1974), so that the result is exact to the last digits also where listed pairs and background nearly cancel.
"""

import numpy as np

from libc.math cimport fabs, frexp, isfinite, ldexp
from libc.stdlib cimport calloc, free

from graphpart.kernels.compensated cimport Sum, add
from graphpart.kernels.types cimport cost_t, element_t


cdef inline void add_product(Sum* s, double x, Sum* y) noexcept nogil:
    """Add x * y; neither may be above 2^990. The rounding error of the product follows from halves of 26 digits."""
    cdef double p = x * y.total, c, xh, xl, yh, yl
    c = 134217729.0 * x
    xh = c - (c - x)
    xl = x - xh
    c = 134217729.0 * y.total
    yh = c - (c - y.total)
    yl = y.total - yh
    add(s, p)
    s.error += ((xh * yh - p) + xh * yl + xl * yh) + xl * yl + x * y.error


cdef int exponent_of(const double* x, Py_ssize_t n) noexcept nogil:
    cdef double largest = 0.0
    cdef int exponent = 0
    cdef Py_ssize_t a
    for a in range(n):
        largest = max(largest, fabs(x[a]))
    frexp(largest, &exponent)
    return exponent


cdef void add_term(
    Sum* total, double beta, const double* x, const double* y, Py_ssize_t n, const element_t* labels,
    Sum* of_x, Sum* of_y,
) noexcept nogil:
    """Add what a term costs within subsets; one of two vectors, if x and y are not the same."""
    cdef Py_ssize_t a
    cdef bint two = x != y
    cdef int ex = exponent_of(x, n), ey = exponent_of(y, n)
    cdef double xa, ya
    cdef Sum sum = Sum(0.0, 0.0), product = Sum(0.0, 0.0)
    cdef element_t U
    for a in range(n):
        U = labels[a]
        xa = ldexp(x[a], -ex)
        if two:
            ya = ldexp(y[a], -ey)
            add_product(&sum, xa, &of_y[U])
            add_product(&sum, ya, &of_x[U])
            add(&of_y[U], ya)
        else:
            add_product(&sum, xa, &of_x[U])
        add(&of_x[U], xa)
    add_product(&product, ldexp(beta, -exponent_of(&beta, 1)), &sum)
    ex += ey + exponent_of(&beta, 1)
    add(total, ldexp(product.total, ex))
    total.error += ldexp(product.error, ex)


def cost_of_background(
    const element_t[::1] u, const element_t[::1] v, const cost_t[::1] cost, const element_t[::1] labels,
    const double[::1] beta, vectors
):
    """The cost of labels in 0..n-1: listed pairs, and for each term a pair ``(x, y)`` in `vectors`. O(m + n)"""
    cdef Py_ssize_t n = labels.shape[0], k
    cdef Sum total = Sum(0.0, 0.0)
    cdef const double[::1] x, y
    cdef Sum* sums
    with nogil:
        for k in range(u.shape[0]):
            if labels[u[k]] == labels[v[k]]:
                add(&total, cost[k])
    if not isfinite(total.total):
        return total.total
    if n == 0:
        return 0.0
    for k in range(beta.shape[0]):
        x, y = vectors[k]
        sums = <Sum*>calloc(2 * n, sizeof(Sum))
        if sums == NULL:
            raise MemoryError()
        with nogil:
            add_term(&total, beta[k], &x[0], &y[0], n, &labels[0], sums, sums + n)
        free(sums)
    return total.total + total.error


def sums_by_label(const double[::1] x, const element_t[::1] labels, Py_ssize_t k):
    """The sum of x over the elements of each label, as an array of k numbers. O(n + k)"""
    out = np.zeros(k)
    cdef double[::1] view = out
    cdef Py_ssize_t a
    cdef Sum* sums = <Sum*>calloc(k + 1, sizeof(Sum))
    if sums == NULL:
        raise MemoryError()
    with nogil:
        for a in range(x.shape[0]):
            add(&sums[labels[a]], x[a])
        for a in range(k):
            view[a] = sums[a].total + sums[a].error
        free(sums)
    return out
