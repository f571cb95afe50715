"""Kernel of group stars: multipliers of inequalities over pairs of which at most one is joined, by coordinate descent."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport offset_t
from graphpart.stopping cimport Stopping


def sweep(const offset_t[::1] starts, const offset_t[::1] pairs, const double[::1] attraction, double[::1] multipliers,
          double[::1] load, bint forwards, Stopping stopping):
    """Change the multiplier of each star in turn to one that is best while the others stay; the value gained.

    Star k is over ``pairs[starts[k]:starts[k + 1]]``; `load` has the sum of the multipliers of each pair. What is left
    to pay is the sum of the multipliers plus what they leave of the attraction of each pair. For one star, any number
    between the two largest attractions that the other stars leave is best. Their mean leaves something to either end.
    """
    cdef Py_ssize_t count = multipliers.shape[0], at, k
    cdef offset_t i
    cdef double first, second, left, new, gained = 0.0
    with nogil:
        for at in range(count):
            if stopping.poll(INFINITY):
                break
            k = at if forwards else count - 1 - at
            first = second = 0.0
            for i in range(starts[k], starts[k + 1]):
                left = attraction[pairs[i]] - (load[pairs[i]] - multipliers[k])
                if left > first:
                    second, first = first, left
                elif left > second:
                    second = left
            new = 0.5 * (first + second)
            if new == multipliers[k]:
                continue
            for i in range(starts[k], starts[k + 1]):
                left = attraction[pairs[i]] - (load[pairs[i]] - multipliers[k])
                gained += max(left - multipliers[k], 0.0) - max(left - new, 0.0)
                load[pairs[i]] += new - multipliers[k]
            gained += multipliers[k] - new
            multipliers[k] = new
    return gained
