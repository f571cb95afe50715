"""Kernel of message passing: one after the other, pairs redistribute their capacity among their inequalities.

Each pair gives a share of its capacity to each inequality that contains it. The amount of an inequality is the least
share that it gets from one of its pairs. If a pair gives an inequality more than all other pairs do, the excess is
wasted. So a pair first gives each inequality the least share of the other pairs, and divides the rest of its capacity
between all. If its capacity is not enough for this, inequalities of equal worth divide the capacity that they use
together, in proportion to these least shares, and unused capacity goes to inequalities of the largest worth first. No
step lowers the sum of amounts times worths. If all worths are equal, a step is optimal for the shares of one pair.
"""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


def share(const offset_t[::1] starts, const offset_t[::1] pairs, const double[::1] capacity, const double[::1] worth,
          double[::1] amounts, int sweeps, Stopping stopping):
    """Sweeps over all pairs, forwards and backwards in turn; the number of sweeps made.

    Inequality k is over ``pairs[starts[k]:starts[k + 1]]``, and worth ``worth[k]`` times ``amounts[k]``, which is changed.
    """
    cdef Py_ssize_t count = worth.shape[0], terms = pairs.shape[0], m = capacity.shape[0], k, e, sweep, at
    cdef offset_t i, j, t, last
    cdef double total, need, least, more, left, used, wanted
    owner_array = np.repeat(np.arange(count, dtype=np.int32), np.diff(np.asarray(starts)))
    values = np.asarray(worth)
    if count and (values == values[0]).all():
        order_array = np.argsort(np.asarray(pairs), kind="stable")
    else:
        order_array = np.lexsort((-values[owner_array], np.asarray(pairs)))
    cdef offset_t[::1] order = order_array                      # terms, pair by pair, the largest worth first
    cdef offset_t[::1] first = np.searchsorted(np.asarray(pairs)[order_array], np.arange(m + 1)).astype(np.int64)
    cdef double[::1] shares = np.empty(terms)
    cdef element_t[::1] owner = owner_array
    cdef double[::1] needs = np.empty(terms)
    cdef int done = 0
    with nogil:
        for e in range(m):
            if first[e] == first[e + 1]:
                continue
            total = 0.0
            for i in range(first[e], first[e + 1]):
                total += amounts[owner[order[i]]]
            more = (capacity[e] - total) / (first[e + 1] - first[e])
            for i in range(first[e], first[e + 1]):
                shares[order[i]] = amounts[owner[order[i]]] + (more if more > 0 else 0.0)
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
                left = capacity[e]                              # what none uses yet
                for i in range(first[e], first[e + 1]):
                    t = order[i]
                    k = owner[t]
                    need = INFINITY
                    for j in range(starts[k], starts[k + 1]):
                        if j != t and shares[j] < need:
                            need = shares[j]
                    needs[i] = need
                    total += need
                    left -= need if need < shares[t] else shares[t]
                if total <= capacity[e]:
                    more = (capacity[e] - total) / (first[e + 1] - first[e])
                    for i in range(first[e], first[e + 1]):
                        shares[order[i]] = needs[i] + more
                    continue
                i = first[e]
                while i < first[e + 1]:
                    used = wanted = 0.0
                    last = i
                    while last < first[e + 1] and worth[owner[order[last]]] == worth[owner[order[i]]]:
                        t = order[last]
                        used += needs[last] if needs[last] < shares[t] else shares[t]
                        wanted += needs[last]
                        last += 1
                    if wanted > used:
                        more = wanted - used if wanted - used < left else (left if left > 0 else 0.0)
                        left -= more
                        for j in range(i, last):
                            shares[order[j]] = needs[j] * ((used + more) / wanted)
                    else:
                        for j in range(i, last):
                            shares[order[j]] = needs[j]
                    i = last
            done += 1
        for k in range(count):
            least = INFINITY
            for j in range(starts[k], starts[k + 1]):
                if shares[j] < least:
                    least = shares[j]
            amounts[k] = least
    return done
