# The state of annealing on a matrix, which tempering has many of.
from libc.stdint cimport int32_t, int64_t, uint64_t

from graphpart.kernels.types cimport element_t


cdef struct State:
    Py_ssize_t n
    Py_ssize_t stride       # n and PADDING, and what fills up the line
    const int32_t* matrix
    int32_t* table          # (capacity, stride), each row at the beginning of a line
    void* room              # in which the table is
    Py_ssize_t capacity
    void* arrays            # in which those that follow are
    int32_t* own            # cost of each element to its own subset
    element_t* label        # subset of each element
    element_t* size
    element_t* active       # the subsets in use, in any order
    element_t* place        # of each subset among them
    Py_ssize_t subsets      # how many
    element_t* unused       # the others
    Py_ssize_t unuseds
    int64_t cost            # of all pairs within subsets
    uint64_t random
    const float* variates
    uint64_t shifts         # places in the table of variates where a row may start
    bint failed


cdef bint open_state(State* s, const int32_t[:, ::1] matrix, const float[::1] variates) noexcept nogil
cdef void close_state(State* s) noexcept nogil
cdef bint copy_state(State* s, const State* other) noexcept nogil
cdef bint build(State* s, const element_t* labels) noexcept nogil
cdef void sweep(State* s, double temperature) noexcept nogil
cdef bint descend(State* s) noexcept nogil
