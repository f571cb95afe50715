# The state of annealing on a matrix.
from libc.stdint cimport int64_t, uint64_t

from graphpart.kernels.types cimport element_t


cdef struct State:
    Py_ssize_t n
    Py_ssize_t bytes        # of a number in the matrix and in all rows: 2 or 4
    Py_ssize_t line         # bytes of a row: n and PADDING numbers, and what fills up the line of the cache
    const char* matrix
    char* table             # (capacity, line), each row at the beginning of a line
    void* room              # in which the table is
    Py_ssize_t capacity
    void* arrays            # the memory of all arrays below
    char* limits            # a row: what each move may cost
    char* gains             # a row: -1
    char* own               # a row: the cost of each element to its own subset
    char* mark              # a row: the subset of each element
    element_t* label        # the same
    element_t* size
    element_t* active       # the subsets in use, in any order
    element_t* place        # of each subset among them
    element_t* unused       # the others
    Py_ssize_t rest         # bytes of `own` and what follows it
    Py_ssize_t subsets      # how many are in use,
    Py_ssize_t unuseds      # and not
    int64_t cost            # of all pairs within subsets
    uint64_t random
    const float* variates
    uint64_t shifts         # places in the table of variates where a row may start
    double hottest          # temperature
    bint failed


cdef bint open_state(State* s, object matrix, const float[::1] variates)
cdef void close_state(State* s) noexcept nogil
cdef bint copy_state(State* s, const State* other) noexcept nogil
cdef bint build(State* s, const element_t* labels) noexcept nogil
cdef void sweep(State* s, double temperature) noexcept nogil
cdef bint descend(State* s) noexcept nogil
