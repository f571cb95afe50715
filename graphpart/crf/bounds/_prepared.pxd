"""A factor graph made ready for passes, for the kernels that pass, round and export; see `_prepared.pyx`."""

from graphpart.crf.bounds._visits cimport gp_network, gp_pair, gp_table
from graphpart.crf.problem._view cimport View
from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef class Prepared:
    cdef View view
    cdef Py_ssize_t n, pair_count
    cdef readonly Py_ssize_t large_count
    cdef double cap
    cdef gp_network net
    cdef readonly bint done_forward     # the direction of the latest pass
    cdef element_t[::1] front           # the variable of each part that the pass visits next
    cdef const offset_t[::1] ends       # where each part begins, and the number of variables
    cdef const element_t[::1] domains, scope
    cdef const element_t[::1] order
    cdef const offset_t[::1] first, scope_start, table_start
    cdef const cost_t[::1] tables
    cdef const double[::1] unary
    cdef double[::1] messages, given, scratch, scratch2, start, wide
    cdef readonly int narrow            # the bytes of a number in messages of pairs, if fewer than 8; else 0
    cdef char[::1] narrow_bytes, exponents
    cdef offset_t[::1] message          # where the message of each pair begins, unless all are equally long
    cdef char[::1] pair_bytes, table_bytes
    cdef gp_pair* pairs
    cdef gp_table* kind_of
    cdef element_t[::1] pair_factor
    cdef offset_t _largest(self)
    cdef element_t[::1] later_start, earlier_start, earlier
    cdef double[::1] weight             # of each variable, unless messages are narrow
    # factors with all messages: those of at least three variables, and tight pairs
    cdef element_t[::1] large_factor, large_first, large_last
    cdef offset_t[::1] large_message, large_table, large_rows
    cdef element_t[::1] large_of, place_of
    cdef double[::1] large_messages, pair_tables
    # triplets
    cdef element_t[:, ::1] triplets                 # as indices into large_factor
    cdef offset_t[::1] owned_start, member_start
    cdef offset_t[:, ::1] link_message
    cdef element_t[::1] owned, member               # tight pairs by first variable; of each 3 * triplet + place
    cdef double[::1] link_messages                  # amounts that triplets sent; the table of a triplet is minus these

    cdef void _oriented(self, Py_ssize_t k, const double* source, double* target) noexcept nogil
    cdef void _oriented_back(self, Py_ssize_t k, const double* source, double* target) noexcept nogil


cdef inline double* message_of(Prepared net, Py_ssize_t k, element_t place) noexcept nogil:
    """The messages of a large factor to the variable at a place of its scope."""
    cdef offset_t begin = net.scope_start[net.large_factor[k]], i, at = net.large_message[k]
    for i in range(begin, begin + place):
        at += net.domains[net.scope[i]]
    return &net.large_messages[at]


cdef inline void sizes(Prepared net, Py_ssize_t t, element_t* a, element_t* b, element_t* c) noexcept nogil:
    """The domains of the three variables of a triplet."""
    a[0] = net.domains[net.large_first[net.triplets[t, 0]]]
    b[0] = net.domains[net.large_last[net.triplets[t, 0]]]
    c[0] = net.domains[net.large_last[net.triplets[t, 2]]]
