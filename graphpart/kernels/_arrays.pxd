# New arrays of one dimension, for kernels.
from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef object empty_int32(Py_ssize_t n)
cdef object empty_int64(Py_ssize_t n)
cdef object empty_float64(Py_ssize_t n)
cdef object empty_int8(Py_ssize_t n)
cdef object empty_uint8(Py_ssize_t n)
cdef object empty_uint64(Py_ssize_t n)

cdef object zeros_int32(Py_ssize_t n)
cdef object zeros_int64(Py_ssize_t n)
cdef object zeros_float64(Py_ssize_t n)
cdef object zeros_float32(Py_ssize_t n)
cdef object zeros_int8(Py_ssize_t n)
cdef object zeros_uint8(Py_ssize_t n)
cdef object zeros_uint64(Py_ssize_t n)

cdef object full_int32(Py_ssize_t n, element_t value)
cdef object full_int64(Py_ssize_t n, offset_t value)
cdef object full_float64(Py_ssize_t n, cost_t value)
