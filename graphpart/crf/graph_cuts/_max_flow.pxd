from libc.stdint cimport int32_t, int64_t, uint8_t

from graphpart.stopping cimport Stopping


cdef struct Node:
    int64_t excess      # residual capacity from the source if positive, to the sink if negative
    int32_t first       # its arcs are first .. first of the next node
    int32_t current     # no arc before this one leads to a parent at the present label
    int32_t parent      # towards the terminal of its tree; ROOT for a node next to it, NONE for free nodes and orphans
    int32_t place       # of the capacity that carries flow between node and parent
    int32_t label       # twice the distance to the terminal of its tree, and 1 more in the sink tree; 0 for free nodes
    int32_t link        # next in a list of nodes with the same label

cdef struct Arc:
    int32_t head        # in mirrored networks twice that, and 1 more if the edge is crossed
    int32_t place       # of its capacity; the capacity of the reverse arc, or of the mirror image, is at place ^ 1

cdef struct Flow:
    Py_ssize_t n
    bint mirrored       # then there is the first tree only, with labels of both kinds
    Node* nodes
    Arc* arcs
    int64_t* capacity
    int32_t* queue[3]   # nodes to be scanned: of the source tree, the sink tree, and of the label after the present one
    Py_ssize_t waiting[3]
    uint8_t* queued     # in which of them a node waits, a bit for each
    int top[2]          # which queue nodes of the greatest label enter
    int32_t greatest[2] # labels that nodes of the two trees may have
    int32_t* bucket[2]  # lists of orphans by label
    int32_t lowest[2]
    Py_ssize_t orphans[2]
    int32_t* lost
    int32_t* wave
    uint8_t* dropped    # of mirrored networks, by place: whether a capacity was set to 0 without a push
    uint8_t* dropped_excess     # by node: whether a positive (1) or a negative (2) excess was dropped
    bint drops          # whether there are any
    int64_t spilled     # excess set to 0 without a push
    double known_cost   # the cost that is given to `stopping`


cdef class Network:
    cdef Flow flow
    cdef readonly Py_ssize_t n, edges
    cdef readonly bint source_done      # whether the source tree is complete; else the sink tree is
    cdef int32_t[::1] ends              # tail of each arc by the place of its capacity
    cdef int64_t[::1] capacity
    cdef list kept                      # owners of the memory

    cdef void* memory(self, Py_ssize_t size, bint zero) except NULL
    cdef void connect(self) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef bint run(self, Stopping stopping) noexcept nogil
    cdef bint in_source_set(self, Py_ssize_t v) noexcept nogil


cdef inline int64_t magnitude(int64_t x) noexcept nogil:
    return x if x >= 0 else -x
