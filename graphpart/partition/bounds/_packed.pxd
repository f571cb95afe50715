# Growing lists of the inequalities that kernels of packing find: the elements and the amount of each.
from libc.math cimport INFINITY
from libc.stdlib cimport free
from libc.string cimport memcpy

from graphpart.kernels.growing cimport grow
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping


cdef struct Numbers:
    offset_t* items
    Py_ssize_t size, room


cdef struct Reals:
    double* items
    Py_ssize_t size, room


cdef struct Packed:
    Numbers ends                # of inequalities, among the elements
    Reals amounts
    element_t* elements
    Py_ssize_t size, room       # of elements
    bint failed                 # whether memory ran out


cdef inline bint poll_after(Stopping stopping, Py_ssize_t work) noexcept nogil:
    """Poll as if `work` polls had passed, for rounds of very different length; True once the run has to end."""
    stopping.countdown = stopping.countdown - work if stopping.countdown > work else 0
    return stopping.poll(INFINITY)


cdef inline bint add_number(Numbers* list, offset_t item) noexcept nogil:
    if not grow(<void**>&list.items, &list.room, list.size + 1, sizeof(offset_t)):
        return False
    list.items[list.size] = item
    list.size += 1
    return True


cdef inline bint add_real(Reals* list, double item) noexcept nogil:
    if not grow(<void**>&list.items, &list.room, list.size + 1, sizeof(double)):
        return False
    list.items[list.size] = item
    list.size += 1
    return True


cdef inline void packed_add(Packed* p, element_t a) noexcept nogil:
    """Add an element to the inequality that is being built."""
    if not grow(<void**>&p.elements, &p.room, p.size + 1, sizeof(element_t)):
        p.failed = True
        return
    p.elements[p.size] = a
    p.size += 1


cdef inline void packed_close(Packed* p, double amount) noexcept nogil:
    """Complete the inequality that is being built."""
    if not add_number(&p.ends, p.size) or not add_real(&p.amounts, amount):
        p.failed = True


cdef inline void packed_free(Packed* p) noexcept nogil:
    free(p.ends.items)
    free(p.amounts.items)
    free(p.elements)


cdef inline object array_of(const void* items, Py_ssize_t size, kind):
    """A copy as a NumPy array."""
    import numpy as np

    out = np.empty(size, kind)
    cdef unsigned char[::1] view = out.view(np.uint8)
    if size:
        memcpy(&view[0], items, view.shape[0])
    return out


cdef inline tuple packed_arrays(const Packed* p):
    """(starts, elements, amounts)"""
    import numpy as np

    if p.failed:
        raise MemoryError()
    ends = array_of(p.ends.items, p.ends.size, np.int64)
    return (
        np.concatenate([[0], ends]), array_of(p.elements, p.size, np.int32),
        array_of(p.amounts.items, p.amounts.size, np.float64),
    )
