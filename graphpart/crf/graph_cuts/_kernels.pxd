from libc.stdint cimport int32_t, int64_t

from graphpart.crf.graph_cuts._max_flow cimport Flow, Network
from graphpart.crf.graph_cuts._scaling cimport Scale, Wide
from graphpart.crf.problem._view cimport Factors, View
from graphpart.kernels.types cimport offset_t


cdef class OrderedCut:
    cdef View view
    cdef Factors t
    cdef Scale s
    cdef Network network
    cdef Flow* flow
    cdef int32_t* ends
    cdef offset_t[::1] first            # first node of each variable
    cdef int64_t[::1] buffer            # one table in units
    cdef Py_ssize_t chains              # edges within variables, which come first
    cdef bint binary
    cdef Wide constant
    cdef double least, least_error      # sum of the smallest entries of all tables, in two doubles
    cdef double least_slack             # error bound of the two

    cdef Py_ssize_t spans(self, double[::1] weight, double[::1] walls, double* total, int* what) noexcept nogil
    cdef double load(self, Py_ssize_t f, offset_t rows, offset_t columns) noexcept nogil
    cdef offset_t factor(self, Py_ssize_t f, Py_ssize_t* edges, bint write) noexcept nogil
