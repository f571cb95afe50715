# A queue of elements that holds each at most once, in an array with room for all of them.

from libc.stdint cimport uint8_t

from graphpart.kernels.types cimport element_t


cdef struct Ring:
    element_t* items
    uint8_t* inside             # of each element, whether it is in the queue
    Py_ssize_t first, size, room


cdef inline void push(Ring* r, element_t a) noexcept nogil:
    """Put an element at the end, unless it is in the queue."""
    cdef Py_ssize_t at
    if not r.inside[a]:
        r.inside[a] = 1
        at = r.first + r.size
        r.items[at if at < r.room else at - r.room] = a
        r.size += 1


cdef inline element_t pop(Ring* r) noexcept nogil:
    """Take the first element of a queue that is not empty."""
    cdef element_t a = r.items[r.first]
    r.first = r.first + 1 if r.first + 1 < r.room else 0
    r.size -= 1
    r.inside[a] = 0
    return a
