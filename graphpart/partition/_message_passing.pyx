"""Kernel of message passing: pairs share their capacity among the cycles that they are on, one pair after the other.

A cycle is worth the least share that one of its pairs gives it. A pair that gives a cycle more than all its other pairs
do wastes the excess, so it gives each cycle what the others need, scaled down if that is too much, and spreads what is
left over. No step lowers the sum of the worths: for the shares of one pair, it is the best that can be done.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


def share(const offset_t[::1] starts, const offset_t[::1] pairs, const double[::1] capacity, double[::1] worth,
          int sweeps, Stopping stopping):
    """Sweeps over all pairs, forwards and backwards in turn; the number of sweeps made.

    Cycle k is over ``pairs[starts[k]:starts[k + 1]]``; ``worth[k]`` is what it is worth, raised in sum.
    """
    cdef Py_ssize_t cycles = worth.shape[0], terms = pairs.shape[0], m = capacity.shape[0], k, e, sweep, at
    cdef offset_t i, j, t
    cdef double total, need, least, more
    order_array = np.argsort(np.asarray(pairs), kind="stable")
    cdef offset_t[::1] order = order_array                      # terms, pair by pair
    cdef offset_t[::1] first = np.searchsorted(np.asarray(pairs)[order_array], np.arange(m + 1)).astype(np.int64)
    cdef double[::1] shares = np.empty(terms)
    cdef element_t[::1] cycle_of = np.repeat(np.arange(cycles, dtype=np.int32), np.diff(np.asarray(starts)))
    cdef double[::1] needs = np.empty(terms)
    cdef int done = 0
    with nogil:
        for e in range(m):
            if first[e] == first[e + 1]:
                continue
            total = 0.0
            for i in range(first[e], first[e + 1]):
                total += worth[cycle_of[order[i]]]
            more = (capacity[e] - total) / (first[e + 1] - first[e])
            for i in range(first[e], first[e + 1]):
                shares[order[i]] = worth[cycle_of[order[i]]] + (more if more > 0 else 0.0)
        for sweep in range(sweeps):
            if stopping.look(INFINITY):
                break
            for at in range(m):
                if stopping.poll(INFINITY):
                    break
                e = at if sweep % 2 == 0 else m - 1 - at
                if first[e + 1] - first[e] < 2 or capacity[e] == INFINITY:
                    continue
                total = 0.0
                for i in range(first[e], first[e + 1]):
                    t = order[i]
                    k = cycle_of[t]
                    need = INFINITY
                    for j in range(starts[k], starts[k + 1]):
                        if j != t and shares[j] < need:
                            need = shares[j]
                    needs[i] = need
                    total += need
                if total > capacity[e]:
                    for i in range(first[e], first[e + 1]):
                        shares[order[i]] = needs[i] * (capacity[e] / total)
                else:
                    more = (capacity[e] - total) / (first[e + 1] - first[e])
                    for i in range(first[e], first[e + 1]):
                        shares[order[i]] = needs[i] + more
            done += 1
        for k in range(cycles):
            least = INFINITY
            for j in range(starts[k], starts[k + 1]):
                if shares[j] < least:
                    least = shares[j]
            worth[k] = least
    return done
