"""The passes over a factor graph that is ready, for the kernel that rounds; see `_message_passing.pyx`."""

from graphpart.crf.bounds._prepared cimport Prepared
from graphpart.kernels.types cimport element_t


cdef class Passing(Prepared):
    cdef double _visit(self, element_t v, bint forward) noexcept nogil
    cdef void _collect(self, Py_ssize_t k, element_t place, double* message) noexcept nogil
    cdef void _collect_pair(self, Py_ssize_t k, element_t place, double* message) noexcept nogil
    cdef void _visit_tight(self, element_t u, bint forward) noexcept nogil
    cdef void _visit_pair(self, Py_ssize_t k, bint forward) noexcept nogil
    cdef void _collect_triplet(self, Py_ssize_t t, element_t place, double* table) noexcept nogil
    cdef void _send_to_triplet(self, Py_ssize_t t, element_t place, const double* share, double* table) noexcept nogil
