"""Kernel of star packing: an element and others that it attracts, which repel each other, packed in a matrix."""

import numpy as np

from libc.math cimport INFINITY

from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


def pack_stars(double[:, ::1] rest, const double[::1] least, Py_ssize_t largest, Stopping stopping):
    """Pack stars of at least 3 and at most `largest` leaves; (elements, sizes, amounts), the centre of each first.

    `rest` is reduced to what remains. The amounts are at least ``least[0]`` at first, then ``least[1]``, and so on.
    """
    cdef Py_ssize_t n = rest.shape[0], stage, centre, i, j, around, count, kept, leaves, best, next_best
    cdef double threshold, amount, x, most
    cdef double[::1] room = np.empty(n + 1)           # of a candidate: the least capacity to the centre and the leaves
    cdef element_t[::1] near = np.empty(n + 1, np.int32)
    cdef element_t[::1] reach = np.empty(n + 1, np.int32)
    cdef element_t[::1] star = np.empty(largest + 1, np.int32)
    cdef double* row
    cdef double* other
    cdef list elements = [], sizes = [], amounts = []
    cdef Py_ssize_t buffered = 0, stars = 0, space = 1 << 16
    cdef element_t[::1] out_elements = np.empty(space + largest + 1, np.int32)
    cdef element_t[::1] out_sizes = np.empty(space, np.int32)
    cdef double[::1] out_amounts = np.empty(space)
    with nogil:
        for stage in range(least.shape[0]):
            threshold = least[stage]
            for centre in range(n):
                row = &rest[centre, 0]
                around = 0
                for i in range(n):
                    if row[i] < 0 and -row[i] >= threshold:
                        reach[around] = <element_t>i
                        around += 1
                while around > 2:
                    if stopping.poll(INFINITY):
                        break
                    count = best = 0
                    for j in range(around):
                        x = -row[reach[j]]
                        if x > 0 and x >= threshold:
                            reach[count] = near[count] = reach[j]
                            room[count] = x
                            if x > room[best]:
                                best = count
                            count += 1
                    around = count
                    leaves = 0
                    amount = INFINITY
                    while count and leaves < largest:
                        star[leaves] = near[best]
                        amount = min(amount, room[best])
                        other = &rest[near[best], 0]
                        leaves += 1
                        kept = next_best = 0
                        for j in range(count):
                            x = other[near[j]]          # 0 for the leaf itself
                            if x > 0 and x >= threshold:
                                near[kept] = near[j]
                                room[kept] = x if x < room[j] else room[j]
                                if room[kept] > room[next_best]:
                                    next_best = kept
                                kept += 1
                        count, best = kept, next_best
                    if leaves < 3:
                        break
                    for i in range(leaves):
                        row[star[i]] += amount
                        rest[star[i], centre] = row[star[i]]
                        for j in range(i):
                            rest[star[i], star[j]] -= amount
                            rest[star[j], star[i]] = rest[star[i], star[j]]
                    if buffered + leaves + 1 > space or stars == space:
                        with gil:
                            elements.append(np.array(out_elements[:buffered]))
                            sizes.append(np.array(out_sizes[:stars]))
                            amounts.append(np.array(out_amounts[:stars]))
                        buffered = stars = 0
                    out_elements[buffered] = <element_t>centre
                    for i in range(leaves):
                        out_elements[buffered + 1 + i] = star[i]
                    buffered += leaves + 1
                    out_sizes[stars] = <element_t>(leaves + 1)
                    out_amounts[stars] = amount
                    stars += 1
    elements.append(np.array(out_elements[:buffered]))
    sizes.append(np.array(out_sizes[:stars]))
    amounts.append(np.array(out_amounts[:stars]))
    return np.concatenate(elements), np.concatenate(sizes), np.concatenate(amounts)
