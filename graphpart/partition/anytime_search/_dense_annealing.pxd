# The state of annealing on a matrix.
from libc.stdint cimport int64_t, uint64_t

from graphpart.kernels.types cimport element_t


cdef struct State:
    Py_ssize_t n
    Py_ssize_t bytes        # of a number in the matrix and in all rows: 2 or 4
    Py_ssize_t line         # bytes of a row: n and PADDING numbers, rounded up to whole cache lines
    const char* matrix
    char* table             # (capacity, line), each row at the beginning of a cache line
    void* room              # the memory of the table
    Py_ssize_t capacity
    void* arrays            # the memory of all arrays below
    char* limits            # a row: the limit of the cost of each move
    char* gains             # a row of limits -1, for descents
    char* own               # a row: the cost of each element to its own subset
    char* mark              # a row: the subset of each element
    element_t* label        # the same
    element_t* size
    element_t* active       # the subsets in use, in any order
    element_t* place        # of each subset among them
    element_t* unused       # the others
    Py_ssize_t subsets      # how many are in use,
    Py_ssize_t unuseds      # and not
    int64_t cost            # of all pairs within subsets
    uint64_t random
    const float* variates
    uint64_t shifts         # number of places in the table of variates where a row may start
    double hottest          # temperature
    bint failed


cdef bint open_state(State* s, object matrix, const float[::1] variates)
cdef void close_state(State* s) noexcept nogil
cdef bint build(State* s, const element_t* labels) noexcept nogil
cdef bint descend(State* s) noexcept nogil
