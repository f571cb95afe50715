# Compressed rows, as other kernels take them.
from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef struct RowView:
    # The neighbours of element a are neighbours[i] for i from starts[a] to starts[a + 1], each with a cost.
    Py_ssize_t n
    const offset_t* starts
    const element_t* neighbours
    const cost_t* costs


cdef class CompressedRows:
    cdef readonly object starts, neighbours, costs
    cdef const offset_t[::1] _starts
    cdef const element_t[::1] _neighbours
    cdef const cost_t[::1] _costs
    cdef RowView view
