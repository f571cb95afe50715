"""Kernels of sequential reweighted message passing: passes over the variables, rounding, and the messages as a proof.

A pair of variables u < v keeps one vector of messages: those to v once u has been visited, those to u once v has, in
turn. The other end is implied, since a variable that is visited sends all the same. Pairs are sorted by u, so that the
pairs to later variables of u stand together. Factors of at least three variables keep the messages to each of them, and
so do **tight** pairs, which are part of triplets; their tables hold what triplets sent to them.
"""

import numpy as np

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.stdint cimport uint64_t
from libc.string cimport memcmp, memcpy

from graphpart.crf.bounds._tables cimport hash_of, recognise
from graphpart.crf.bounds._visits cimport (
    GP_ANTI_POTTS,
    GP_GENERAL,
    GP_LINEAR,
    GP_POTTS,
    gp_network,
    gp_pair,
    gp_run,
    gp_send,
    gp_visit,
)
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    RECENT = 4096                   # tables among which an equal one is looked for
    NOBODY = -1
    BLOCK = 16                      # variables between two looks at the clock


cdef class Network:
    """A factor graph made ready for passes, with the messages that it has at present.

    Parameters
    ----------
    domains, first, scope_start, scope, table_start, tables
        The factor graph, with extra pairs (tables of zeros) at its end; labels of variable v start at ``first[v]``.
    unary : ndarray of float64
        The sum of the unary tables of each variable.
    own : ndarray of int64
        Where the messages of each factor of at least two variables start in the layout of certificates; -1 for others.
    tight : ndarray of uint8
        Pairs that are part of triplets.
    triplets : ndarray of int32, shape (t, 3)
        The factors over (i, j), (i, k), (j, k) for variables i < j < k.
    cap : float
        No message is larger; the largest number if no entry is infinite.
    """
    cdef Py_ssize_t n, pair_count, large_count
    cdef double cap
    cdef gp_network net
    cdef readonly bint done_forward     # the direction of the latest pass
    cdef element_t front                # the variable that it would visit next
    cdef const element_t[::1] domains, scope
    cdef const offset_t[::1] first, scope_start, table_start, own
    cdef const cost_t[::1] tables
    cdef double[::1] unary, messages, given, scratch, scratch2, start
    cdef char[::1] pair_bytes
    cdef gp_pair* pairs
    cdef element_t[::1] pair_factor
    cdef offset_t[::1] later_start, earlier_start
    cdef element_t[::1] earlier
    cdef double[::1] weight
    # factors with all messages: those of at least three variables, and tight pairs
    cdef element_t[::1] large_factor, large_first, large_last
    cdef offset_t[::1] large_message, large_table, large_rows
    cdef element_t[::1] large_of, place_of
    cdef double[::1] large_messages, pair_tables
    # triplets
    cdef element_t[:, ::1] triplets                 # as indices into large_factor
    cdef offset_t[::1] triplet_table, owned_start, member_start
    cdef offset_t[:, ::1] link_message
    cdef element_t[::1] owned, member               # tight pairs by first variable; of each 3 * triplet + place
    cdef double[::1] triplet_tables
    cdef double[::1] link_messages

    def __init__(
        self, domains, first, scope_start, scope, table_start, tables, unary, own, tight, triplets, double cap
    ):
        self.domains, self.first, self.scope_start, self.scope = domains, first, scope_start, scope
        self.table_start, self.tables, self.unary, self.own = table_start, tables, unary, own
        self.n = len(domains)
        self.cap = cap
        self.done_forward, self.front = False, NOBODY
        largest = int(np.max(domains, initial=1))
        smallest = int(np.min(domains, initial=largest))
        self.net.sized = largest if largest == smallest and largest in (2, 4, 6, 8, 16) else 0
        self.given, self.start = np.zeros(largest), np.zeros(largest)
        arity = np.diff(scope_start)
        self._take_pairs(np.flatnonzero((arity == 2) & (tight == 0)).astype(np.int32))
        self._take_large(np.flatnonzero((arity > 2) | (tight > 0)).astype(np.int32), np.ascontiguousarray(tight))
        self._take_triplets(np.ascontiguousarray(triplets, np.int32))
        self._weigh()
        sizes = np.diff(table_start)[np.asarray(self.large_factor)]
        room = max(largest * largest if len(triplets) else largest, int(sizes.max(initial=1)))
        self.scratch, self.scratch2 = np.zeros(room), np.zeros(room)
        self._connect()

    def _connect(self):
        cdef gp_network* net = &self.net
        net.capped, net.cap = self.cap < DBL_MAX, self.cap
        net.domains = &self.domains[0] if self.n else NULL
        net.earlier = &self.earlier[0] if self.pair_count else NULL
        net.first, net.later_start, net.earlier_start = &self.first[0], &self.later_start[0], &self.earlier_start[0]
        net.pairs, net.tables = self.pairs, &self.tables[0] if self.tables.shape[0] else NULL
        net.unary = &self.unary[0] if self.unary.shape[0] else NULL
        net.weight, net.messages = &self.weight[0], &self.messages[0]
        net.in_, net.out, net.given = &self.scratch[0], &self.scratch2[0], &self.given[0]

    # -------------------------------------------------------------------------------------------- preparation

    def _take_pairs(self, const element_t[::1] factors):
        cdef Py_ssize_t count = factors.shape[0], k, f
        cdef element_t a, b, u, v
        cdef offset_t at, size, message = 0, total = 0
        cdef gp_pair* p
        cdef uint64_t slot
        self.pair_count = count
        self.pair_bytes = np.zeros(max(1, count) * sizeof(gp_pair), np.int8)
        self.pairs = <gp_pair*>&self.pair_bytes[0]
        self.pair_factor = np.zeros(count, np.int32)
        self.later_start, self.earlier_start = np.zeros(self.n + 1, np.int64), np.zeros(self.n + 1, np.int64)
        self.earlier = np.zeros(count, np.int32)
        cdef offset_t[::1] recent = np.full(RECENT, -1, np.int64)
        cdef offset_t[::1] later_start = self.later_start, earlier_start = self.earlier_start
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
                p.message = message
                message += max(self.domains[a], self.domains[b])
                p.table = self.table_start[f]
                size = <offset_t>self.domains[a] * self.domains[b]
                p.kind = recognise(&self.tables[p.table], self.domains[a], self.domains[b], &p.same, &p.other)
                if p.kind == GP_GENERAL or p.kind == GP_LINEAR:
                    # an equal table that was just used is still near the processor
                    slot = hash_of(&self.tables[p.table], size) % RECENT
                    at = recent[slot]
                    if (
                        at >= 0
                        and at + size <= p.table
                        and memcmp(&self.tables[at], &self.tables[p.table], 8 * size) == 0
                    ):
                        p.table = at
                    else:
                        recent[slot] = p.table
        self.messages = np.zeros(max(1, message))

    def _take_large(self, const element_t[::1] factors, const unsigned char[::1] tight):
        cdef Py_ssize_t count = factors.shape[0], k, f
        cdef offset_t i, j, entry, message = 0, table = 0, size
        cdef element_t v, lowest, highest
        self.large_count = count
        self.large_factor = np.array(factors, np.int32)
        self.large_first, self.large_last = np.zeros(count, np.int32), np.zeros(count, np.int32)
        self.large_message = np.zeros(count + 1, np.int64)
        self.large_table = np.full(count, -1, np.int64)
        self.large_rows = np.zeros(self.n + 1, np.int64)
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
                    table += self.table_start[f + 1] - self.table_start[f]
            self.large_message[count] = message
            for k in range(1, self.n + 1):
                self.large_rows[k] += self.large_rows[k - 1]
        self.large_messages = np.zeros(max(1, message))
        self.pair_tables = np.zeros(max(1, table))
        self.large_of = np.zeros(max(1, self.large_rows[self.n]), np.int32)
        self.place_of = np.zeros(max(1, self.large_rows[self.n]), np.int32)
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
        cdef offset_t table = 0, message = 0
        cdef element_t i, j, l
        large = np.full(len(self.scope_start) - 1, -1, np.int32)
        large[np.asarray(self.large_factor)] = np.arange(self.large_count)
        self.triplets = np.ascontiguousarray(large[np.asarray(factors)].reshape(-1, 3))
        self.triplet_table = np.zeros(count + 1, np.int64)
        self.link_message = np.zeros((count, 3), np.int64)
        self.member_start = np.zeros(self.large_count + 1, np.int64)
        self.owned_start = np.zeros(self.n + 1, np.int64)
        for k in range(self.large_count):
            if self.large_table[k] >= 0:
                self.owned_start[self.large_first[k]] += 1
        np.cumsum(self.owned_start, out=np.asarray(self.owned_start))
        pairs = np.flatnonzero(np.asarray(self.large_table) >= 0)
        # by first variable, then by last one
        order = np.lexsort((np.asarray(self.large_last)[pairs], np.asarray(self.large_first)[pairs]))
        self.owned = np.ascontiguousarray(pairs[order].astype(np.int32))
        owned_start = np.zeros(self.n + 1, np.int64)
        owned_start[1:] = np.asarray(self.owned_start)[: self.n]
        self.owned_start = owned_start
        self.member = np.zeros(3 * count, np.int32)
        with nogil:
            for t in range(count):
                i, j, l = (self.large_first[self.triplets[t, 0]], self.large_last[self.triplets[t, 0]],
                           self.large_last[self.triplets[t, 2]])
                self.triplet_table[t] = table
                table += <offset_t>self.domains[i] * self.domains[j] * self.domains[l]
                for e in range(3):
                    k = self.triplets[t, e]
                    self.link_message[t, e] = message
                    message += <offset_t>self.domains[self.large_first[k]] * self.domains[self.large_last[k]]
                    self.member_start[k] += 1
            self.triplet_table[count] = table
            for k in range(1, self.large_count + 1):
                self.member_start[k] += self.member_start[k - 1]
            for t in range(count - 1, -1, -1):
                for e in range(3):
                    k = self.triplets[t, e]
                    self.member_start[k] -= 1
                    self.member[self.member_start[k]] = <element_t>(3 * t + e)
        self.triplet_tables = np.zeros(max(1, table))
        self.link_messages = np.zeros(max(1, message))

    def _weigh(self):
        """What share of its belief a variable sends to each factor: one by the number of those ahead or behind."""
        cdef Py_ssize_t v, k
        cdef offset_t i, ahead, behind
        self.weight = np.zeros(max(1, self.n))
        with nogil:
            for v in range(self.n):
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
            counts[self.pairs[k].kind] += 1
        return tuple(counts)

    # --------------------------------------------------------------------------------------------- the passes

    def half(self, bint forward, double cost, Stopping stopping):
        """Visit all variables in order, or in reverse; (sum of what was taken out, whether all were visited)."""
        cdef Py_ssize_t left = self.n, some
        cdef double total = 0.0
        cdef bint ended = False
        self.done_forward = forward
        with nogil:
            self.front = 0 if forward else <element_t>(self.n - 1)
            while left > 0:
                if self.large_count == 0:
                    some = min(left, BLOCK)
                    total += gp_run(&self.net, self.front, some, forward)
                else:
                    some = 1
                    if not forward:
                        self._visit_tight(self.front, False)
                    total += self._visit(self.front, forward)
                    if forward:
                        self._visit_tight(self.front, True)
                left -= some
                self.front += <element_t>(some if forward else -some)
                if stopping.poll(cost):
                    ended = left > 0
                    break
        return total, not ended

    cdef double _visit(self, element_t v, bint forward) noexcept nogil:
        cdef element_t d = self.domains[v], y
        cdef offset_t i, at = self.first[v], l = self.later_start[v], e = self.earlier_start[v]
        cdef const double* start = &self.unary[at]
        cdef double* message
        cdef double least
        cdef Py_ssize_t k
        cdef bint large = self.large_rows[v] < self.large_rows[v + 1]
        if large:
            memcpy(&self.start[0], start, d * sizeof(double))
            start = &self.start[0]
            for i in range(self.large_rows[v], self.large_rows[v + 1]):
                k = self.large_of[i]
                message = self._message(k, self.place_of[i])
                if v != (self.large_first[k] if forward else self.large_last[k]):
                    self._collect(k, self.place_of[i], message)
                for y in range(d):
                    self.start[y] += message[y]
        least = gp_visit(&self.net, v, forward, start, &self.given[0])
        if large:
            for i in range(self.large_rows[v], self.large_rows[v + 1]):
                k = self.large_of[i]
                if v != (self.large_last[k] if forward else self.large_first[k]):
                    message = self._message(k, self.place_of[i])
                    for y in range(d):
                        message[y] -= self.given[y]
        return least

    cdef inline double* _message(self, Py_ssize_t k, element_t place) noexcept nogil:
        """The messages of a large factor to the variable at a place of its scope."""
        cdef offset_t begin = self.scope_start[self.large_factor[k]], i, at = self.large_message[k]
        for i in range(begin, begin + place):
            at += self.domains[self.scope[i]]
        return &self.large_messages[at]

    cdef void _collect(self, Py_ssize_t k, element_t place, double* message) noexcept nogil:
        """The message to one variable becomes the least of the table less the messages to the others."""
        cdef offset_t f = self.large_factor[k], begin = self.scope_start[f], end = self.scope_start[f + 1]
        cdef offset_t size = self.table_start[f + 1] - self.table_start[f], i, j, y, rest
        cdef double* buffer = &self.scratch[0]
        cdef const double* source
        cdef const double* other
        cdef double least
        cdef element_t d
        if self.large_table[k] >= 0:
            self._collect_pair(k, place, message)
            return
        source = &self.tables[self.table_start[f]]
        for i in range(end - 1, begin + place, -1):         # the variables behind it, from the last one
            d = self.domains[self.scope[i]]
            other = self._message(k, <element_t>(i - begin))
            size //= d
            for j in range(size):
                least = source[j * d] - other[0]
                for y in range(1, d):
                    least = min(least, source[j * d + y] - other[y])
                buffer[j] = least
            source = buffer
        for i in range(begin, begin + place):               # those before it, from the first one
            d = self.domains[self.scope[i]]
            other = self._message(k, <element_t>(i - begin))
            rest = size // d
            for j in range(rest):
                buffer[j] = source[j] - other[0]
            for y in range(1, d):
                for j in range(rest):
                    least = source[y * rest + j] - other[y]
                    buffer[j] = least if least < buffer[j] else buffer[j]
            source = buffer
            size = rest
        for y in range(size):
            message[y] = min(source[y], self.cap)

    cdef void _collect_pair(self, Py_ssize_t k, element_t place, double* message) noexcept nogil:
        cdef element_t u = self.large_first[k], v = self.large_last[k]
        cdef element_t rows = self.domains[u], columns = self.domains[v]
        cdef const double* table = &self.pair_tables[self.large_table[k]]
        cdef const double* other = self._message(k, 1 - place)
        cdef bint to_rows = self.scope[self.scope_start[self.large_factor[k]] + place] == u
        cdef offset_t i, j
        cdef double least
        if to_rows:
            for i in range(rows):
                least = INFINITY
                for j in range(columns):
                    least = min(least, table[i * columns + j] - other[j])
                message[i] = min(least, self.cap)
            return
        for j in range(columns):
            message[j] = self.cap
        for i in range(rows):
            for j in range(columns):
                least = table[i * columns + j] - other[i]
                message[j] = least if least < message[j] else message[j]

    cdef void _visit_tight(self, element_t u, bint forward) noexcept nogil:
        """For the tight pairs from u to later variables: collect from their triplets, and send shares on."""
        cdef offset_t begin = self.owned_start[u], end = self.owned_start[u + 1], step
        for step in range(end - begin):
            self._visit_pair(self.owned[begin + step if forward else end - 1 - step], forward)

    cdef void _visit_pair(self, Py_ssize_t k, bint forward) noexcept nogil:
        cdef offset_t r, ahead = 0, behind = 0
        cdef element_t place, last = 2 if forward else 0, first = 2 - last
        cdef element_t rows = self.domains[self.large_first[k]], columns = self.domains[self.large_last[k]], x, y
        cdef double* table = &self.pair_tables[self.large_table[k]]
        cdef double* share = &self.scratch[0]
        cdef const double* to_rows
        cdef const double* to_columns
        cdef double least = INFINITY, weight
        cdef bint flipped = self.scope[self.scope_start[self.large_factor[k]]] != self.large_first[k]
        if self.member_start[k] == self.member_start[k + 1]:
            return
        for r in range(self.member_start[k], self.member_start[k + 1]):
            place = self.member[r] % 3
            ahead += place != last
            behind += place != first
            if place != first:
                self._collect_triplet(self.member[r] // 3, place, table)
        if not ahead:
            return
        weight = 1.0 / (1 + max(ahead, behind))
        to_rows, to_columns = self._message(k, flipped), self._message(k, not flipped)
        for x in range(rows):
            for y in range(columns):
                share[x * columns + y] = table[x * columns + y] - to_rows[x] - to_columns[y]
                least = min(least, share[x * columns + y])
        for x in range(rows * columns):
            share[x] = min(weight * (share[x] - least), self.cap)
        for r in range(self.member_start[k], self.member_start[k + 1]):
            if self.member[r] % 3 != last:
                self._send_to_triplet(self.member[r] // 3, self.member[r] % 3, share, table)

    cdef inline void _strides(self, Py_ssize_t t, element_t place, element_t* size, offset_t* stride) noexcept nogil:
        """Sizes and strides in the table of a triplet: of the first and second variable of a pair, and of the third."""
        cdef element_t a = self.domains[self.large_first[self.triplets[t, 0]]]
        cdef element_t b = self.domains[self.large_last[self.triplets[t, 0]]]
        cdef element_t c = self.domains[self.large_last[self.triplets[t, 2]]]
        if place == 0:
            size[0], size[1], size[2] = a, b, c
            stride[0], stride[1], stride[2] = <offset_t>b * c, c, 1
        elif place == 1:
            size[0], size[1], size[2] = a, c, b
            stride[0], stride[1], stride[2] = <offset_t>b * c, 1, c
        else:
            size[0], size[1], size[2] = b, c, a
            stride[0], stride[1], stride[2] = c, 1, <offset_t>b * c

    cdef void _collect_triplet(self, Py_ssize_t t, element_t place, double* table) noexcept nogil:
        """Take out of a triplet, for each entry of a pair, the least over the third variable."""
        cdef element_t size[3]
        cdef offset_t stride[3]
        cdef element_t x, y, z
        cdef double* entry
        cdef double* link = &self.link_messages[self.link_message[t, place]]
        cdef double least
        cdef offset_t at = 0
        self._strides(t, place, size, stride)
        for x in range(size[0]):
            for y in range(size[1]):
                entry = &self.triplet_tables[self.triplet_table[t]] + x * stride[0] + y * stride[1]
                least = entry[0]
                for z in range(1, size[2]):
                    least = min(least, entry[z * stride[2]])
                for z in range(size[2]):
                    entry[z * stride[2]] -= least
                table[at] += least
                link[at] += least
                at += 1

    cdef void _send_to_triplet(self, Py_ssize_t t, element_t place, const double* share, double* table) noexcept nogil:
        cdef element_t size[3]
        cdef offset_t stride[3]
        cdef element_t x, y, z
        cdef double* entry
        cdef double* link = &self.link_messages[self.link_message[t, place]]
        cdef offset_t at = 0
        self._strides(t, place, size, stride)
        for x in range(size[0]):
            for y in range(size[1]):
                entry = &self.triplet_tables[self.triplet_table[t]] + x * stride[0] + y * stride[1]
                for z in range(size[2]):
                    entry[z * stride[2]] += share[at]
                table[at] -= share[at]
                link[at] -= share[at]
                at += 1

    # ------------------------------------------------------------------------------------- messages in and out

    cdef inline bint _at_later(self, const gp_pair* p) noexcept nogil:
        """Whether the message of a pair is that to its later variable."""
        return p.u < self.front if self.done_forward else p.v <= self.front

    def export(self, double[::1] out):
        """Write the messages in the layout of certificates.

        Where one end of a pair is implied, it is the least of the table less the messages to the other end.
        """
        cdef Py_ssize_t k, f
        cdef gp_pair* p
        cdef offset_t i, y
        cdef element_t d, e
        cdef bint at_later
        cdef double* to_u
        cdef double* to_v
        cdef double[::1] zero = np.zeros(max(1, self.given.shape[0]))
        with nogil:
            for k in range(self.pair_count):
                p = &self.pairs[k]
                f = self.pair_factor[k]
                at_later = self._at_later(p)
                d, e = self.domains[p.u], self.domains[p.v]
                to_u = &out[self.own[f]] + (e if p.flipped else 0)
                to_v = &out[self.own[f]] + (0 if p.flipped else d)
                # gp_send reads and writes one vector, which may be longer than what it stands for
                if at_later:
                    memcpy(to_v, &self.messages[p.message], e * sizeof(double))
                    memcpy(&self.given[0], to_v, e * sizeof(double))
                    gp_send(e, d, p, &self.tables[0], p.flipped, &zero[0], 0.0, &self.given[0], self.cap,
                            &self.scratch[0], &self.scratch2[0])
                    memcpy(to_u, &self.given[0], d * sizeof(double))
                else:
                    memcpy(to_u, &self.messages[p.message], d * sizeof(double))
                    memcpy(&self.given[0], to_u, d * sizeof(double))
                    gp_send(d, e, p, &self.tables[0], not p.flipped, &zero[0], 0.0, &self.given[0], self.cap,
                            &self.scratch[0], &self.scratch2[0])
                    memcpy(to_v, &self.given[0], e * sizeof(double))
            for k in range(self.large_count):
                f = self.large_factor[k]
                for i in range(self.large_message[k + 1] - self.large_message[k]):
                    out[self.own[f] + i] = self.large_messages[self.large_message[k] + i]

    def reduced(self, const double[::1] given, const element_t[::1] factors):
        """(starts, entries): tables of pairs less messages as in certificates, rows for the smaller variable."""
        cdef Py_ssize_t count = factors.shape[0], k, f
        cdef offset_t begin, x, y, at
        cdef element_t a, b, rows, columns
        cdef const double* to_rows
        cdef const double* to_columns
        cdef const double* source
        large = np.full(len(self.scope_start) - 1, -1, np.int32)
        large[np.asarray(self.large_factor)] = np.arange(self.large_count)
        cdef element_t[::1] place = large
        start_array = np.zeros(count + 1, np.int64)
        sizes = np.diff(self.table_start)[np.asarray(factors)]
        np.cumsum(sizes, out=start_array[1:])
        out_array = np.zeros(max(1, start_array[count]))
        cdef offset_t[::1] start = start_array
        cdef double[::1] out = out_array
        with nogil:
            for k in range(count):
                f = factors[k]
                begin = self.scope_start[f]
                a, b = self.scope[begin], self.scope[begin + 1]
                rows, columns = self.domains[min(a, b)], self.domains[max(a, b)]
                to_rows = to_columns = &given[self.own[f]]
                if a < b:
                    to_columns += rows
                else:
                    to_rows += columns
                at = start[k]
                source = &self.tables[self.table_start[f]]
                if place[f] >= 0:
                    source = &self.pair_tables[self.large_table[place[f]]]
                for x in range(rows):
                    for y in range(columns):
                        out[at] = source[y * rows + x if a > b and place[f] < 0 else x * columns + y]
                        out[at] -= to_rows[x] + to_columns[y]
                        at += 1
        return start_array, out_array

    def export_links(self):
        """For each triplet and its pairs the amounts sent to the pair, in the order of its scope."""
        cdef Py_ssize_t t, e
        out = np.zeros_like(self.link_messages)[: self._link_size()]
        cdef double[::1] target = out
        for t in range(self.triplets.shape[0]):
            for e in range(3):
                self._oriented_back(self.triplets[t, e], &self.link_messages[self.link_message[t, e]],
                                    &target[self.link_message[t, e]])
        return out

    def _link_size(self):
        cdef Py_ssize_t k, t = self.triplets.shape[0]
        if not t:
            return 0
        k = self.triplets[t - 1, 2]
        return self.link_message[t - 1, 2] + self.domains[self.large_first[k]] * self.domains[self.large_last[k]]

    def load(self, const double[::1] given, const double[::1] links):
        """Start from messages in the layout of certificates, and those of the first triplets."""
        cdef Py_ssize_t k, f, t, e
        cdef gp_pair* p
        cdef offset_t i, size, at = 0
        cdef double[::1] turned = np.zeros(max(1, self.link_messages.shape[0]))
        cdef double* table
        self.done_forward, self.front = False, NOBODY
        with nogil:
            for k in range(self.pair_count):
                p = &self.pairs[k]
                f = self.pair_factor[k]
                memcpy(&self.messages[p.message], &given[self.own[f]] + (self.domains[p.v] if p.flipped else 0),
                       self.domains[p.u] * sizeof(double))
            for k in range(self.large_count):
                f = self.large_factor[k]
                for i in range(self.large_message[k + 1] - self.large_message[k]):
                    self.large_messages[self.large_message[k] + i] = given[self.own[f] + i]
            for t in range(self.triplets.shape[0]):
                if at >= links.shape[0]:
                    break
                for e in range(3):
                    k = self.triplets[t, e]
                    size = <offset_t>self.domains[self.large_first[k]] * self.domains[self.large_last[k]]
                    self._oriented(k, &links[at], &turned[0])
                    for i in range(size):
                        turned[i] = -turned[i]
                    table = &self.pair_tables[self.large_table[k]]
                    self._send_to_triplet(t, <element_t>e, &turned[0], table)
                    at += size

    # ------------------------------------------------------------------------------------------------ rounding

    def round(self, element_t[::1] labels):
        """A labeling, after a pass in reverse: in order, the label that is least given those of earlier variables."""
        cdef element_t v, y, best, own
        cdef offset_t i, at, stride
        cdef double* belief = &self.given[0]
        cdef const gp_pair* p
        cdef const double* table
        cdef const double* message
        cdef double entry
        with nogil:
            for v in range(self.n):
                at = self.first[v]
                for y in range(self.domains[v]):
                    belief[y] = self.unary[at + y]
                for i in range(self.later_start[v], self.later_start[v + 1]):
                    message = &self.messages[self.pairs[i].message]
                    for y in range(self.domains[v]):
                        belief[y] += message[y]
                for i in range(self.earlier_start[v], self.earlier_start[v + 1]):
                    p = &self.pairs[self.earlier[i]]
                    own = labels[p.u]
                    if p.kind == GP_POTTS or p.kind == GP_ANTI_POTTS:
                        for y in range(self.domains[v]):
                            belief[y] += p.same if y == own else p.other
                        continue
                    stride = self.domains[p.u] if p.flipped else 1
                    table = &self.tables[p.table] + (own if p.flipped else <offset_t>own * self.domains[v])
                    for y in range(self.domains[v]):
                        belief[y] += table[y * stride]
                for i in range(self.large_rows[v], self.large_rows[v + 1]):
                    self._condition(self.large_of[i], v, &labels[0], belief)
                best = 0
                for y in range(1, self.domains[v]):
                    if belief[y] < belief[best]:
                        best = y
                labels[v] = best

    cdef void _condition(self, Py_ssize_t k, element_t v, const element_t* labels, double* belief) noexcept nogil:
        """Add the least of the table less messages to later variables, for given labels of earlier ones."""
        cdef offset_t f = self.large_factor[k], begin = self.scope_start[f], end = self.scope_start[f + 1]
        cdef offset_t size, i, j, entry, rest, message
        cdef element_t u, y
        cdef double value
        cdef double* least = &self.scratch[0]
        cdef bint fits
        cdef const double* table = &self.tables[self.table_start[f]]
        if v == self.large_first[k]:
            message = self.large_message[k]
            for i in range(begin, end):
                if self.scope[i] == v:
                    break
                message += self.domains[self.scope[i]]
            for y in range(self.domains[v]):
                belief[y] += self.large_messages[message + y]
            return
        if self.large_table[k] >= 0:
            self._condition_pair(k, labels, belief)
            return
        size = self.table_start[f + 1] - self.table_start[f]
        for y in range(self.domains[v]):
            least[y] = INFINITY
        for entry in range(size):
            rest = entry
            value = table[entry]
            fits = True
            y = 0
            message = self.large_message[k + 1]
            for i in range(end - 1, begin - 1, -1):
                u = self.scope[i]
                message -= self.domains[u]
                j = rest % self.domains[u]
                rest //= self.domains[u]
                if u == v:
                    y = <element_t>j
                elif u > v:
                    value -= self.large_messages[message + j]
                elif labels[u] != j:
                    fits = False
                    break
            if fits:
                least[y] = value if value < least[y] else least[y]
        for y in range(self.domains[v]):
            belief[y] += least[y]

    cdef void _condition_pair(self, Py_ssize_t k, const element_t* labels, double* belief) noexcept nogil:
        """The same for the later variable of a tight pair, with the triplets in which it is the second or last one."""
        cdef element_t u = self.large_first[k], v = self.large_last[k], y, z, columns = self.domains[v]
        cdef const double* table = &self.pair_tables[self.large_table[k]] + <offset_t>labels[u] * columns
        cdef element_t size[3]
        cdef offset_t stride[3]
        cdef offset_t r, t
        cdef const double* entry
        cdef double least
        for y in range(columns):
            belief[y] += table[y]
        for r in range(self.member_start[k], self.member_start[k + 1]):
            t = self.member[r] // 3
            if self.member[r] % 3 == 1:
                continue
            self._strides(t, self.member[r] % 3, size, stride)
            entry = &self.triplet_tables[self.triplet_table[t]] + labels[u] * stride[0]
            if self.member[r] % 3 == 2:         # the first variable has a label as well
                entry += labels[self.large_first[self.triplets[t, 0]]] * stride[2]
            for y in range(columns):
                least = entry[y * stride[1]]
                if self.member[r] % 3 == 0:
                    for z in range(1, size[2]):
                        least = min(least, entry[y * stride[1] + z * stride[2]])
                belief[y] += least
