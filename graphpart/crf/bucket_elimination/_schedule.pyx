"""Kernel of schedules: the order of nodes, and the places of their messages in memory, before any is allocated."""

import numpy as np

from libc.stdlib cimport free, malloc, qsort

from graphpart.kernels.types cimport element_t, offset_t

cdef struct Sibling:
    offset_t size           # of memory needed beyond its own message
    element_t node
    element_t place         # for ties


cdef int larger_first(const void* a, const void* b) noexcept nogil:
    cdef const Sibling* x = <const Sibling*>a
    cdef const Sibling* y = <const Sibling*>b
    if x.size != y.size:
        return -1 if x.size > y.size else 1
    return -1 if x.place < y.place else 1


cdef inline offset_t stored(const offset_t* size, element_t parent, element_t node) noexcept nogil:
    """Entries of a message in memory: a root has none."""
    return size[node] if parent >= 0 else 0


def schedule(const element_t[::1] parent, const offset_t[::1] size):
    """(order of nodes, place of each message, entries needed): children before parents, with little memory at any time.

    Subtrees follow each other, among siblings that with the most memory beyond its own message first (Liu 1986). So
    the messages that a node uses are always the last ones made on its level. Those of even levels are a stack from the left
    end of one array, those of odd levels one from its right end.
    """
    cdef Py_ssize_t count = parent.shape[0], i, j, k, t = 0
    cdef offset_t held, most, left = 0, right = 0, highest = 0
    cdef element_t node, child, depth, down
    order_array, place_array = np.empty(count, np.int32), np.zeros(count, np.int64)
    cdef element_t[::1] order = order_array
    cdef offset_t[::1] place = place_array
    cdef offset_t[::1] begin = np.zeros(count + 3, np.int64), peak = np.zeros(count + 1, np.int64)
    cdef element_t[::1] children = np.empty(count + 1, np.int32), stack = np.empty(count + 1, np.int32)
    cdef offset_t[::1] done = np.zeros(count + 1, np.int64)
    cdef Sibling* sibling = <Sibling*>malloc((count + 1) * sizeof(Sibling))
    if sibling == NULL:
        raise MemoryError
    with nogil:
        # Rows of children; that of the roots is the last one.
        for i in range(count):
            begin[(parent[i] if parent[i] >= 0 else count) + 2] += 1
        for i in range(1, count + 3):
            begin[i] += begin[i - 1]
        for i in range(count):
            j = parent[i] if parent[i] >= 0 else count
            children[begin[j + 1]] = <element_t>i
            begin[j + 1] += 1
        for i in range(count + 1):
            k = begin[i + 1] - begin[i]
            if k > 1:
                for j in range(k):
                    child = children[begin[i] + j]
                    sibling[j].node = child
                    sibling[j].place = <element_t>j
                    sibling[j].size = peak[child] - stored(&size[0], parent[child], child)
                qsort(sibling, k, sizeof(Sibling), &larger_first)
                for j in range(k):
                    children[begin[i] + j] = sibling[j].node
            held = most = 0
            for j in range(begin[i], begin[i + 1]):
                child = children[j]
                most = max(most, held + peak[child])
                held += stored(&size[0], parent[child], child)
            if i < count:
                peak[i] = max(most, held + stored(&size[0], parent[i], <element_t>i))
            else:
                highest = most
        depth = 0
        stack[0] = <element_t>count
        done[0] = 0
        while True:
            node = stack[depth]
            if begin[node] + done[depth] < begin[node + 1]:
                child = children[begin[node] + done[depth]]
                done[depth] += 1
                depth += 1
                stack[depth] = child
                done[depth] = 0
                continue
            if depth == 0:
                break
            order[t] = node
            t += 1
            if depth & 1:
                right += stored(&size[0], parent[node], node)
                place[node] = highest - right
            else:
                place[node] = left
                left += stored(&size[0], parent[node], node)
            for j in range(begin[node], begin[node + 1]):
                if depth & 1:
                    left -= size[children[j]]
                else:
                    right -= size[children[j]]
            depth -= 1
    free(sibling)
    return order_array, place_array, highest
