"""Kernels over all subsets of few elements: the least cost with each pair joined or apart, and the best split in two."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport cost_t, element_t
from graphpart.stopping cimport Stopping


def least_costs(const cost_t[:, ::1] matrix, Stopping stopping):
    """(least cost, joined, apart): of all partitions, and of those with each pair joined, or apart; None if stopped.

    within[S] is the cost of a set as one subset, least[S] the least cost of its partitions: the subset of its smallest
    element can be any that holds it (O(3^n); Lawler 1976 did so for colourings). Every partition with a and b together
    has a subset B with both and is best elsewhere with least[A - B]; apart, with a and not b.
    """
    cdef Py_ssize_t n = matrix.shape[0], size = 1 << n, S, B, rest, low, a, b
    joined_array, apart_array = np.full((n, n), np.inf), np.full((n, n), np.inf)
    cdef double[:, ::1] joined = joined_array, apart = apart_array
    cdef double[::1] within = np.zeros(size), least = np.zeros(size)
    cdef double x, best
    cdef bint ended = False
    with nogil:
        for S in range(1, size):
            low = 0
            while not (S >> low) & 1:
                low += 1
            rest = S ^ (1 << low)
            x = within[rest]
            for b in range(low + 1, n):
                if (S >> b) & 1:
                    x += matrix[low, b]
            within[S] = x
            # All B with the smallest element: the rest of B is any subset of the rest of S.
            best = INFINITY
            B = rest
            while True:
                x = within[B | (1 << low)] + least[rest ^ B]
                if x < best:
                    best = x
                if B == 0:
                    break
                B = (B - 1) & rest
            least[S] = best
            if (S & 255) == 0 and stopping.tick(INFINITY):
                ended = True
                break
        if not ended:
            for B in range(1, size):
                x = within[B] + least[(size - 1) ^ B]
                for a in range(n):
                    if (B >> a) & 1:
                        for b in range(n):
                            if (B >> b) & 1:
                                if x < joined[a, b]:
                                    joined[a, b] = x
                            elif x < apart[a, b]:
                                apart[a, b] = x
    return None if ended else (least[size - 1], joined_array, apart_array)


def best_split(const cost_t[:, ::1] matrix, Stopping stopping):
    """(least rise, number of elements that leave) over all splits of a set in two; None if stopped.

    The rise is minus the sum of the costs across. Splits follow each other by one element (Gray 1953), O(n 2^n); the
    sums are formed anew from time to time, so that rounding does not add up.
    """
    cdef Py_ssize_t n = matrix.shape[0], step, i, j, leaving = 0, best_leaving = 0
    cdef double across = 0.0, best = INFINITY
    cdef signed char[::1] side = np.zeros(n, np.int8)
    cdef bint ended = False
    with nogil:
        for step in range(1, 1 << (n - 1)):
            i = 0
            while not (step >> i) & 1:
                i += 1
            for j in range(n):
                if j != i:
                    across += matrix[i, j] if side[j] == side[i] else -matrix[i, j]
            side[i] = 1 - side[i]
            leaving += 1 if side[i] else -1
            if (step & 63) == 0:
                across = 0.0
                for i in range(n):
                    for j in range(i):
                        if side[i] != side[j]:
                            across += matrix[i, j]
                if stopping.tick(INFINITY):
                    ended = True
                    break
            if -across < best:
                best = -across
                best_leaving = leaving
    return None if ended else (best, min(best_leaving, n - best_leaving))
