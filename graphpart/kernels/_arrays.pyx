"""New arrays of one dimension: a kernel calls these functions of C, and not NumPy.

The call of a Python function takes some 600 bytes of machine code and 10 ms of gcc in each place, and there are 700.
"""

import numpy as np

from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef object empty = np.empty, zeros = np.zeros
cdef object int8 = np.dtype(np.int8), uint8 = np.dtype(np.uint8), int32 = np.dtype(np.int32)
cdef object int64 = np.dtype(np.int64), uint64 = np.dtype(np.uint64)
cdef object float32 = np.dtype(np.float32), float64 = np.dtype(np.float64)


cdef object empty_int32(Py_ssize_t n):
    return empty(n, int32)


cdef object empty_int64(Py_ssize_t n):
    return empty(n, int64)


cdef object empty_float64(Py_ssize_t n):
    return empty(n, float64)


cdef object empty_int8(Py_ssize_t n):
    return empty(n, int8)


cdef object empty_uint8(Py_ssize_t n):
    return empty(n, uint8)


cdef object empty_uint64(Py_ssize_t n):
    return empty(n, uint64)


cdef object zeros_int32(Py_ssize_t n):
    return zeros(n, int32)


cdef object zeros_int64(Py_ssize_t n):
    return zeros(n, int64)


cdef object zeros_float64(Py_ssize_t n):
    return zeros(n, float64)


cdef object zeros_float32(Py_ssize_t n):
    return zeros(n, float32)


cdef object zeros_int8(Py_ssize_t n):
    return zeros(n, int8)


cdef object zeros_uint8(Py_ssize_t n):
    return zeros(n, uint8)


cdef object zeros_uint64(Py_ssize_t n):
    return zeros(n, uint64)


cdef object full_int32(Py_ssize_t n, element_t value):
    made = empty(n, int32)
    cdef element_t[::1] view = made
    view[:] = value
    return made


cdef object full_int64(Py_ssize_t n, offset_t value):
    made = empty(n, int64)
    cdef offset_t[::1] view = made
    view[:] = value
    return made


cdef object full_float64(Py_ssize_t n, cost_t value):
    made = empty(n, float64)
    cdef cost_t[::1] view = made
    view[:] = value
    return made
