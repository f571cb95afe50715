"""Kernel that checks cuts: whether base pairs lead from one element to another without some of them."""

import numpy as np

from graphpart.kernels.types cimport element_t, offset_t

def first_linked(const offset_t[::1] links, const element_t[::1] neighbours, const offset_t[::1] starts,
                 const element_t[::1] elements):
    """The first cut whose first two elements base pairs link without what it takes away; -1 if there is none.

    Base pairs link a to ``neighbours[links[a]:links[a + 1]]``, in ascending order; each is there from both sides.
    Elements are reached from both of the two in turns, until all of one side are, so the time is in proportion to the
    smaller side.
    """
    cdef Py_ssize_t n = links.shape[0] - 1, k, turn
    cdef element_t a, b, x
    cdef offset_t i, j
    cdef offset_t size[2]
    cdef offset_t head[2]
    cdef bint met
    cdef offset_t[::1] barred = np.full(neighbours.shape[0] + 1, -1, np.int64)      # the cut that an arc is in
    cdef offset_t[::1] out = np.full(n + 1, -1, np.int64)                           # the cut that takes an element away
    cdef offset_t[:, ::1] seen = np.full((2, n + 1), -1, np.int64)
    cdef element_t[:, ::1] queue = np.empty((2, n + 1), np.int32)
    with nogil:
        for k in range(starts.shape[0] - 1):
            a, b = elements[starts[k]], elements[starts[k] + 1]
            for i in range(starts[k] + 2, starts[k + 1], 2):
                if elements[i] == a or elements[i] == b:
                    out[elements[i + 1]] = k
                elif elements[i + 1] == a or elements[i + 1] == b:
                    out[elements[i]] = k
                else:
                    bar(links, neighbours, barred, elements[i], elements[i + 1], k)
                    bar(links, neighbours, barred, elements[i + 1], elements[i], k)
            for turn in range(2):
                queue[turn, 0] = elements[starts[k] + turn]
                seen[turn, queue[turn, 0]] = k
                head[turn], size[turn] = 0, 1
            met, turn = False, 0
            while not met and head[turn] < size[turn]:
                x = queue[turn, head[turn]]
                head[turn] += 1
                for j in range(links[x], links[x + 1]):
                    b = neighbours[j]
                    if barred[j] == k or out[b] == k or seen[turn, b] == k:
                        continue
                    if seen[1 - turn, b] == k:
                        met = True
                        break
                    seen[turn, b] = k
                    queue[turn, size[turn]] = b
                    size[turn] += 1
                turn = 1 - turn
            if met:
                with gil:
                    return k
    return -1


cdef void bar(const offset_t[::1] links, const element_t[::1] neighbours, offset_t[::1] barred, element_t a, element_t b,
              offset_t k) noexcept nogil:
    """Mark the arc from a to b, if there is one."""
    cdef offset_t low = links[a], high = links[a + 1], middle
    while low < high:
        middle = (low + high) // 2
        if neighbours[middle] < b:
            low = middle + 1
        else:
            high = middle
    if low < links[a + 1] and neighbours[low] == b:
        barred[low] = k
