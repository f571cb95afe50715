"""The preparation of sequential reweighted message passing: the layout of messages, kinds of tables, triplets, weights.

A pair of variables u < v has one vector of messages: after a visit of u, these are the messages to v; after a visit of
v, those to u. The messages to the other variable need not be stored, since a visited variable sends the same share to
all factors. Pairs are sorted by u, so that the pairs of u with later variables are contiguous. Factors of at least
three variables store the messages to each of their variables, and so do **tight** pairs, which are part of triplets;
the tables of tight pairs include the amounts that triplets sent to them.

The passes are in `_message_passing`; rounding, and import and export of messages, are in `_rounding`.
"""

import numpy as np

from libc.stdint cimport uint64_t
from libc.string cimport memcmp

from graphpart.crf.bounds._tables cimport hash_of, recognise
from graphpart.crf.bounds._visits cimport GP_GENERAL, GP_LINEAR, gp_network, gp_pair, gp_table
from graphpart.crf.problem._view cimport View, entries_of
from graphpart.kernels._arrays cimport (
    full_int32,
    full_int64,
    zeros_float64,
    zeros_int8,
    zeros_int32,
    zeros_int64,
)
from graphpart.kernels.types cimport element_t, offset_t

cdef enum:
    RECENT = 4096                   # tables among which an equal one is looked for
    NOBODY = -1


cdef class Prepared:
    """A factor graph made ready for passes, with its present messages.

    Parameters
    ----------
    view : View
        The factor graph, with extra pairs (tables of zeros) at its end.
    first : ndarray of int64
        Where the labels of each variable start; empty if all have as many labels.
    order : ndarray of int32
        The number of each variable in the order of visits; empty if it is its own.
    unary : ndarray of float64
        The sum of the unary tables of each variable.
    tight : ndarray of uint8
        Pairs that are part of triplets.
    triplets : ndarray of int32, shape (t, 3)
        The factors over (i, j), (i, k), (j, k) for variables i < j < k.
    ends : ndarray of int64
        Where each part of the variables begins, and their number.
    cap : float
        No message is larger; the largest number if no entry is infinite.
    narrow : int
        2: store messages of pairs as integers of 16 bits, in units of their own; 4: as float32; 0: as float64. Sums
        are of float64 in any case.
    """

    def __init__(self, View view, first, order, unary, tight, triplets, ends, double cap, int narrow):
        domains, scope_start, scope, table_start, tables = view.arrays
        self.view = view
        self.domains, self.first, self.order = domains, first, order
        self.scope_start, self.scope = scope_start, scope
        self.table_start, self.tables, self.unary = table_start, tables, unary
        self.n = len(domains)
        self.cap = cap
        self.ends, self.done_forward, self.front = ends, False, full_int32(len(ends) - 1, NOBODY)
        largest = int(np.max(domains, initial=1))
        smallest = int(np.min(domains, initial=largest))
        self.net.even = largest if largest == smallest else 0
        self.net.sized = largest if self.net.even and not narrow and largest in (2, 4, 6, 8, 16) else 0
        self.narrow = narrow
        self.given, self.start, self.wide = zeros_float64(largest), zeros_float64(largest), zeros_float64(largest)
        arity = np.diff(scope_start)
        self._take_pairs(np.flatnonzero((arity == 2) & (tight == 0)).astype(np.int32))
        self._take_large(np.flatnonzero((arity > 2) | (tight > 0)).astype(np.int32), np.ascontiguousarray(tight))
        self._take_triplets(np.ascontiguousarray(triplets, np.int32))
        self._weigh()
        cdef offset_t room = max(largest * largest if len(triplets) else largest, self._largest())
        self.scratch, self.scratch2 = zeros_float64(room), zeros_float64(room)
        self._connect()
        if narrow:                      # pairs only, to which no triplets are added: nothing reads them any more
            self.scope, self.pair_factor, self.view = zeros_int32(0), zeros_int32(0), None

    cdef offset_t _largest(self):
        """The largest number of entries of the table of a factor that stores all its messages."""
        cdef Py_ssize_t k
        cdef offset_t most = 1
        for k in range(self.large_count):
            most = max(most, entries_of(&self.view.g, self.large_factor[k]))
        return most

    def _connect(self):
        cdef gp_network* net = &self.net
        net.cap = self.cap
        net.domains = &self.domains[0] if self.n else NULL
        net.earlier = &self.earlier[0] if self.pair_count else NULL
        if not net.even:
            net.first = &self.first[0]
        if self.order.shape[0]:
            net.order = &self.order[0]
        net.later_start, net.earlier_start = &self.later_start[0], &self.earlier_start[0]
        net.pairs, net.kinds = self.pairs, self.kind_of
        net.tables = &self.tables[0] if self.tables.shape[0] else NULL
        net.unary = &self.unary[0] if self.unary.shape[0] else NULL
        net.weight, net.message = NULL if self.narrow else &self.weight[0], &self.message[0]
        net.messages, net.single, net.whole = &self.messages[0], NULL, NULL
        if self.narrow == 2:
            net.whole, net.exponent = <unsigned short*>&self.narrow_bytes[0], <signed char*>&self.exponents[0]
        elif self.narrow:
            net.single = <float*>&self.narrow_bytes[0]
        net.in_, net.out, net.given, net.wide = &self.scratch[0], &self.scratch2[0], &self.given[0], &self.wide[0]

    def _take_pairs(self, const element_t[::1] factors):
        cdef Py_ssize_t count = factors.shape[0], k, f
        cdef element_t a, b, u, v
        cdef offset_t at, size, message = 0, tables = 0
        cdef gp_pair* p
        cdef gp_table* t
        cdef uint64_t slot
        cdef bint even = self.net.even > 0
        self.pair_count = count
        self.pair_bytes = zeros_int8(max(1, count) * sizeof(gp_pair))
        self.pairs = <gp_pair*>&self.pair_bytes[0]
        self.pair_factor = zeros_int32(count)
        self.later_start, self.earlier_start = zeros_int32(self.n + 1), zeros_int32(self.n + 1)
        self.earlier = zeros_int32(count)
        cdef offset_t[::1] recent = full_int64(RECENT, -1)
        cdef offset_t[::1] sharing = full_int64(RECENT, -1)     # pairs whose factors may share a table with others
        cdef element_t[::1] later_start = self.later_start, earlier_start = self.earlier_start
        with nogil:
            for k in range(count):
                f = factors[k]
                a, b = self.scope[self.scope_start[f]], self.scope[self.scope_start[f] + 1]
                later_start[min(a, b)] += 1
                earlier_start[max(a, b)] += 1
            for k in range(1, self.n + 1):
                later_start[k] += later_start[k - 1]
                earlier_start[k] += earlier_start[k - 1]
            for k in range(count - 1, -1, -1):
                f = factors[k]
                a, b = self.scope[self.scope_start[f]], self.scope[self.scope_start[f] + 1]
                later_start[min(a, b)] -= 1
                at = later_start[min(a, b)]
                self.pair_factor[at] = <element_t>f
            for k in range(count - 1, -1, -1):
                f = self.pair_factor[k]
                a, b = self.scope[self.scope_start[f]], self.scope[self.scope_start[f] + 1]
                earlier_start[max(a, b)] -= 1
                self.earlier[earlier_start[max(a, b)]] = <element_t>k
            for k in range(count):
                p = &self.pairs[k]
                f = self.pair_factor[k]
                a, b = self.scope[self.scope_start[f]], self.scope[self.scope_start[f] + 1]
                p.u, p.v, p.flipped = min(a, b), max(a, b), a > b
                slot = <uint64_t>self.table_start[f] % RECENT
                if sharing[slot] >= 0 and self.table_start[self.pair_factor[sharing[slot]]] == self.table_start[f]:
                    p.table = self.pairs[sharing[slot]].table
                    continue
                sharing[slot] = k
                p.table = <unsigned int>tables
                tables += 1
        self.table_bytes = zeros_int8(max(1, tables) * sizeof(gp_table))
        self.kind_of = <gp_table*>&self.table_bytes[0]
        self.message = zeros_int64(1 if even else count + 1)
        tables = 0
        with nogil:
            for k in range(count):
                p = &self.pairs[k]
                if not even:
                    self.message[k] = message
                message += max(self.domains[p.u], self.domains[p.v])
                if <offset_t>p.table < tables:
                    continue
                tables += 1
                f = self.pair_factor[k]
                a, b = (p.v, p.u) if p.flipped else (p.u, p.v)
                t = &self.kind_of[p.table]
                t.start = self.table_start[f]
                size = <offset_t>self.domains[a] * self.domains[b]
                t.kind = recognise(&self.tables[t.start], self.domains[a], self.domains[b], &t.same, &t.other)
                if t.kind == GP_GENERAL or t.kind == GP_LINEAR:
                    # an equal table that was just used is still in the cache
                    slot = hash_of(&self.tables[t.start], size) % RECENT
                    at = recent[slot]
                    if (
                        at >= 0
                        and at + size <= t.start
                        and memcmp(&self.tables[at], &self.tables[t.start], 8 * size) == 0
                    ):
                        t.start = at
                    else:
                        recent[slot] = t.start
        self.messages = zeros_float64(1 if self.narrow else max(1, message))
        self.narrow_bytes = zeros_int8(self.narrow * max(1, message))
        self.exponents = zeros_int8(max(1, count) if self.narrow == 2 else 0)

    def _take_large(self, const element_t[::1] factors, const unsigned char[::1] tight):
        cdef Py_ssize_t count = factors.shape[0], k, f
        cdef offset_t i, message = 0, table = 0
        cdef element_t v, lowest, highest
        self.large_count = count
        self.large_factor = np.array(factors, np.int32)
        self.large_first, self.large_last = zeros_int32(count), zeros_int32(count)
        self.large_message = zeros_int64(count + 1)
        self.large_table = full_int64(count, -1)
        self.large_rows = zeros_int64(self.n + 1)
        with nogil:
            for k in range(count):
                f = factors[k]
                self.large_message[k] = message
                lowest = highest = self.scope[self.scope_start[f]]
                for i in range(self.scope_start[f], self.scope_start[f + 1]):
                    v = self.scope[i]
                    self.large_rows[v] += 1
                    message += self.domains[v]
                    lowest, highest = min(lowest, v), max(highest, v)
                self.large_first[k], self.large_last[k] = lowest, highest
                if tight[f]:
                    self.large_table[k] = table
                    table += entries_of(&self.view.g, f)
            self.large_message[count] = message
            for k in range(1, self.n + 1 if count else 0):      # zeros that nobody writes to take no memory
                self.large_rows[k] += self.large_rows[k - 1]
        self.large_messages = zeros_float64(max(1, message))
        self.pair_tables = zeros_float64(max(1, table))
        self.large_of = zeros_int32(max(1, self.large_rows[self.n]))
        self.place_of = zeros_int32(max(1, self.large_rows[self.n]))
        with nogil:
            for k in range(count - 1, -1, -1):
                f = factors[k]
                for i in range(self.scope_start[f + 1] - 1, self.scope_start[f] - 1, -1):
                    v = self.scope[i]
                    self.large_rows[v] -= 1
                    self.large_of[self.large_rows[v]] = <element_t>k
                    self.place_of[self.large_rows[v]] = <element_t>(i - self.scope_start[f])
                if self.large_table[k] >= 0:        # rows for the earlier variable
                    self._oriented(k, &self.tables[self.table_start[f]], &self.pair_tables[self.large_table[k]])

    cdef void _oriented(self, Py_ssize_t k, const double* source, double* target) noexcept nogil:
        """Copy a table over the scope of a tight pair so that its rows are those of the earlier variable, or back."""
        cdef offset_t at = self.scope_start[self.large_factor[k]], i, j
        cdef element_t a = self.scope[at], b = self.scope[at + 1], rows = self.domains[a], columns = self.domains[b]
        for i in range(rows):
            for j in range(columns):
                if a < b:
                    target[i * columns + j] = source[i * columns + j]
                else:
                    target[j * rows + i] = source[i * columns + j]

    cdef void _oriented_back(self, Py_ssize_t k, const double* source, double* target) noexcept nogil:
        cdef offset_t at = self.scope_start[self.large_factor[k]], i, j
        cdef element_t a = self.scope[at], b = self.scope[at + 1], rows = self.domains[a], columns = self.domains[b]
        for i in range(rows):
            for j in range(columns):
                target[i * columns + j] = source[i * columns + j] if a < b else source[j * rows + i]

    def _take_triplets(self, const element_t[:, ::1] factors):
        cdef Py_ssize_t count = factors.shape[0], t, k, e
        cdef offset_t message = 0
        large = full_int32(len(self.scope_start) - 1 if self.large_count else 0, -1)
        large[np.asarray(self.large_factor)] = np.arange(self.large_count)
        self.triplets = np.ascontiguousarray(large[np.asarray(factors)].reshape(-1, 3))
        self.link_message = np.zeros((count, 3), np.int64)
        self.member_start = zeros_int64(self.large_count + 1)
        owned_start = zeros_int64(self.n + 1)
        pairs = np.flatnonzero(np.asarray(self.large_table) >= 0)
        # by first variable, then by last one
        order = np.lexsort((np.asarray(self.large_last)[pairs], np.asarray(self.large_first)[pairs]))
        self.owned = np.ascontiguousarray(pairs[order].astype(np.int32))
        if len(pairs):
            np.cumsum(np.bincount(np.asarray(self.large_first)[pairs], minlength=self.n), out=owned_start[1:])
        self.owned_start = owned_start
        self.member = zeros_int32(3 * count)
        with nogil:
            for t in range(count):
                for e in range(3):
                    k = self.triplets[t, e]
                    self.link_message[t, e] = message
                    message += <offset_t>self.domains[self.large_first[k]] * self.domains[self.large_last[k]]
                    self.member_start[k] += 1
            for k in range(1, self.large_count + 1):
                self.member_start[k] += self.member_start[k - 1]
            for t in range(count - 1, -1, -1):
                for e in range(3):
                    k = self.triplets[t, e]
                    self.member_start[k] -= 1
                    self.member[self.member_start[k]] = <element_t>(3 * t + e)
        self.link_messages = zeros_float64(max(1, message))

    def _weigh(self):
        """The share of its belief that a variable sends to each factor: 1 / max(factors ahead, factors behind)."""
        cdef Py_ssize_t v, k
        cdef offset_t i, ahead, behind
        self.weight = zeros_float64(max(1, 0 if self.narrow else self.n))
        with nogil:
            for v in range(0 if self.narrow else self.n):
                ahead = self.later_start[v + 1] - self.later_start[v]
                behind = self.earlier_start[v + 1] - self.earlier_start[v]
                for i in range(self.large_rows[v], self.large_rows[v + 1]):
                    k = self.large_of[i]
                    ahead += self.large_last[k] != v
                    behind += self.large_first[k] != v
                self.weight[v] = 1.0 / max(1, max(ahead, behind))

    @property
    def kinds(self):
        """How many pairs have a general, a Potts, a Potts that favours different labels, and a linear table."""
        cdef Py_ssize_t k
        counts = [0, 0, 0, 0]
        for k in range(self.pair_count):
            counts[self.kind_of[self.pairs[k].table].kind] += 1
        return tuple(counts)
