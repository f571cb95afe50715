# A factor graph as the kernels of this folder see it.
from graphpart.kernels.types cimport cost_t, element_t, offset_t

cdef struct Graph:
    Py_ssize_t n, m
    const element_t* domains
    const offset_t* first           # of each variable, its first unary cost
    const cost_t* unary
    const offset_t* scope_start
    const element_t* scope
    const offset_t* table_start
    const cost_t* tables
    const offset_t* rows            # factors of at least two variables of each variable
    const element_t* factors
    const offset_t* near_start      # its neighbours, each once
    const element_t* near
    double penalty                  # the cost of a forbidden entry


cdef class Arrays:
    cdef Graph g
    cdef list kept
