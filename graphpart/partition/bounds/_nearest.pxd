# A binary heap of elements by their distances, least first, in which distances may fall: for Dijkstra's algorithm.

from graphpart.kernels.types cimport element_t


cdef struct Heap:
    double* keys
    element_t* items
    element_t* place            # of each item, -1 if it is not in the heap
    Py_ssize_t size


cdef inline void rise(Heap* h, Py_ssize_t at, double key, element_t item) noexcept nogil:
    cdef Py_ssize_t above
    while at > 0:
        above = (at - 1) >> 1
        if h.keys[above] < key or (h.keys[above] == key and h.items[above] < item):
            break
        h.keys[at], h.items[at] = h.keys[above], h.items[above]
        h.place[h.items[at]] = <element_t>at
        at = above
    h.keys[at], h.items[at] = key, item
    h.place[item] = <element_t>at


cdef inline void offer(Heap* h, double key, element_t item) noexcept nogil:
    """Put an item in, or let its key fall."""
    cdef Py_ssize_t at = h.place[item]
    if at < 0:
        at = h.size
        h.size += 1
    rise(h, at, key, item)


cdef inline element_t pop(Heap* h) noexcept nogil:
    cdef element_t top = h.items[0], item
    cdef Py_ssize_t at = 0, below
    cdef double key
    h.place[top] = -1
    h.size -= 1
    if h.size == 0:
        return top
    key, item = h.keys[h.size], h.items[h.size]
    while True:
        below = 2 * at + 1
        if below >= h.size:
            break
        if below + 1 < h.size and (h.keys[below + 1] < h.keys[below] or
                                   (h.keys[below + 1] == h.keys[below] and h.items[below + 1] < h.items[below])):
            below += 1
        if key < h.keys[below] or (key == h.keys[below] and item < h.items[below]):
            break
        h.keys[at], h.items[at] = h.keys[below], h.items[below]
        h.place[h.items[at]] = <element_t>at
        at = below
    h.keys[at], h.items[at] = key, item
    h.place[item] = <element_t>at
    return top
