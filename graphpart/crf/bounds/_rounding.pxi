"""Rounding of messages to labelings, and export and import of messages in the layout of certificates."""

import numpy as np

from libc.math cimport INFINITY
from libc.string cimport memcpy

from graphpart.crf.bounds._message_passing cimport Passing
from graphpart.crf.bounds._prepared cimport sizes
from graphpart.crf.bounds._visits cimport (
    GP_ANTI_POTTS,
    GP_POTTS,
    gp_add_message,
    gp_answer,
    gp_below,
    gp_first,
    gp_network,
    gp_pair,
    gp_read,
    gp_slack,
    gp_table,
    gp_weight,
    gp_write,
)
from graphpart.crf.problem._view cimport entries_of
from graphpart.kernels._arrays cimport full_int32, zeros_float64, zeros_int64, zeros_uint8
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    NOBODY = -1
    MOST_SWEEPS = 100


cdef class Network(Passing):
    """A factor graph with messages: to pass, to round, to export and to load; see `Prepared` for the parameters."""

    # ------------------------------------------------------------------------------------------------ rounding

    cdef inline element_t _number(self, Py_ssize_t v) noexcept nogil:
        """The number of a variable, of which labels are in the order."""
        return self.net.order[v] if self.net.order != NULL else <element_t>v

    def round(self, element_t[::1] labels):
        """Change labels: after a pass in reverse, each variable takes its best label given the earlier variables.

        After a pass in order, of pairs only, which need not be complete, each variable that it visited takes its best
        label given the later ones.
        """
        cdef element_t v
        cdef Py_ssize_t part = self.front.shape[0]
        with nogil:
            if not self.done_forward:
                for v in range(self.n):
                    self._choose(v, &labels[0])
            else:
                while part > 0:
                    part -= 1
                    v = self.front[part]
                    while v > self.ends[part]:
                        v -= 1
                        self._choose(v, &labels[0])

    cdef void _choose(self, element_t v, element_t* labels) noexcept nogil:
        """Give a variable its best label, given those of the variables whose messages to it are not the latest ones."""
        cdef element_t y, best = 0
        cdef offset_t i, at = gp_first(&self.net, v)
        cdef double* belief = &self.given[0]
        for y in range(self.domains[v]):
            belief[y] = self.unary[at + y]
        for i in range(self.later_start[v], self.later_start[v + 1]):
            if self.done_forward:
                self._add_entries(&self.pairs[i], False, labels, belief)
            else:
                gp_add_message(&self.net, i, self.domains[v], belief)
        for i in range(self.earlier_start[v], self.earlier_start[v + 1]):
            if self.done_forward:
                gp_add_message(&self.net, self.earlier[i], self.domains[v], belief)
            else:
                self._add_entries(&self.pairs[self.earlier[i]], True, labels, belief)
        for i in range(self.large_rows[v], self.large_rows[v + 1]):
            self._condition(self.large_of[i], v, labels, belief)
        for y in range(1, self.domains[v]):
            if belief[y] < belief[best]:
                best = y
        labels[self._number(v)] = best

    cdef void _add_entries(self, const gp_pair* p, bint to_later, const element_t* labels, double* belief) noexcept nogil:
        """Add the entries of the table of a pair for the labels of one end, given the label of the other."""
        cdef element_t other = labels[self._number(p.u if to_later else p.v)], y
        cdef element_t d = self.domains[p.v if to_later else p.u], e = self.domains[p.u if to_later else p.v]
        cdef const gp_table* t = &self.kind_of[p.table]
        cdef const double* table = &self.tables[t.start]
        if t.kind == GP_POTTS or t.kind == GP_ANTI_POTTS:
            for y in range(d):
                belief[y] += t.same if y == other else t.other
        elif to_later == p.flipped:     # the rows are those of the labels
            for y in range(d):
                belief[y] += table[<offset_t>y * e + other]
        else:
            for y in range(d):
                belief[y] += table[<offset_t>other * d + y]

    def descend(self, element_t[::1] labels, double cost, Stopping stopping):
        """Give the variables their best labels one after the other, in place, until none changes. For pairs only.

        Unlike `icm.sweep`, this takes no memory, and looks at all costs of a variable again.
        """
        cdef element_t v, y, best, number
        cdef offset_t i, at
        cdef int turn
        cdef double* belief = &self.given[0]
        cdef unsigned char[::1] done = zeros_uint8(self.n)
        cdef bint again = True
        with nogil:
            for turn in range(MOST_SWEEPS):     # rounding could make it endless
                if not again:
                    break
                again = False
                for v in range(self.n):
                    if done[v]:
                        continue
                    done[v] = True
                    at = gp_first(&self.net, v)
                    for y in range(self.domains[v]):
                        belief[y] = self.unary[at + y]
                    for i in range(self.later_start[v], self.later_start[v + 1]):
                        self._add_entries(&self.pairs[i], False, &labels[0], belief)
                    for i in range(self.earlier_start[v], self.earlier_start[v + 1]):
                        self._add_entries(&self.pairs[self.earlier[i]], True, &labels[0], belief)
                    number = self._number(v)
                    best = labels[number]
                    for y in range(self.domains[v]):
                        if belief[y] < belief[best]:
                            best = y
                    if best == labels[number]:
                        continue
                    labels[number] = best
                    again = True
                    for i in range(self.later_start[v], self.later_start[v + 1]):
                        done[self.pairs[i].v] = False
                    for i in range(self.earlier_start[v], self.earlier_start[v + 1]):
                        done[self.pairs[self.earlier[i]].u] = False
                    if stopping.poll(cost):
                        again = False
                        break

    cdef void _condition(self, Py_ssize_t k, element_t v, const element_t* labels, double* belief) noexcept nogil:
        """Add the minimum of the table less messages over later variables, given the labels of earlier ones."""
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
        size = entries_of(&self.view.g, f)
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
        cdef element_t a, b, c, x
        cdef offset_t r, t
        cdef const double* first
        cdef const double* second
        cdef const double* third
        cdef double most
        for y in range(columns):
            belief[y] += table[y]
        for r in range(self.member_start[k], self.member_start[k + 1]):
            t = self.member[r] // 3
            if self.member[r] % 3 == 1:
                continue
            sizes(self, t, &a, &b, &c)
            first = &self.link_messages[self.link_message[t, 0]]
            second = &self.link_messages[self.link_message[t, 1]]
            third = &self.link_messages[self.link_message[t, 2]]
            if self.member[r] % 3 == 2:         # the first variable has a label as well
                x = labels[self.large_first[self.triplets[t, 0]]]
                for y in range(c):
                    belief[y] -= first[x * b + labels[u]] + second[x * c + y] + third[labels[u] * c + y]
                continue
            x = labels[u]
            for y in range(b):
                most = second[x * c] + third[y * c]
                for z in range(1, c):
                    most = max(most, second[x * c + z] + third[y * c + z])
                belief[y] -= first[x * b + y] + most

    # ------------------------------------------------------------------------------------- messages in and out

    cdef inline bint _at_later(self, const gp_pair* p) noexcept nogil:
        """Whether the message of a pair is that to its later variable."""
        cdef element_t v = p.u if self.done_forward else p.v
        cdef Py_ssize_t part = 0
        while v >= self.ends[part + 1]:
            part += 1
        return v < self.front[part] if self.done_forward else v <= self.front[part]

    cdef offset_t _span(self, Py_ssize_t begin, Py_ssize_t end, offset_t most):
        """Of how many pairs in a row, at most, new messages have to be kept until they are read."""
        cdef offset_t span = 0, i, k
        cdef Py_ssize_t v
        with nogil:
            for v in range(begin, end):
                for i in range(self.earlier_start[v], self.earlier_start[v + 1]):
                    k = self.earlier[i]
                    if self.pairs[k].u >= begin and self.later_start[v] - k <= most:
                        span = max(span, self.later_start[v] - k)
        return span

    cdef inline void _to_earlier(self, const gp_network* net, Py_ssize_t k, const double* zero, double* m) noexcept nogil:
        """The message of a pair to its earlier variable."""
        cdef bint at_later = self._at_later(&self.pairs[k])
        gp_read(net, k, self.domains[self.pairs[k].v if at_later else self.pairs[k].u], m)
        if at_later:
            gp_answer(net, k, True, zero, m)

    cdef inline void _put(self, Py_ssize_t k, bint to_later, const double* m, double[::1] out,
                          const offset_t[::1] own) noexcept nogil:
        """Write a message in the layout of certificates, if it is asked for."""
        cdef const gp_pair* p = &self.pairs[k]
        cdef element_t d = self.domains[p.u], e = self.domains[p.v]
        cdef offset_t behind = 0 if to_later == p.flipped else d if to_later else e
        if out.shape[0]:
            memcpy(&out[own[k] + behind], m, (e if to_later else d) * sizeof(double))

    def proven(self, Py_ssize_t begin, Py_ssize_t end, double[::1] least, offset_t room_for, double[::1] out,
               const offset_t[::1] own):
        """For some variables a number not above their least cost, with what they are sent, and least entries of pairs.

        The pairs are those with earlier variables, or with later ones if their message is new, see below. For pairs
        only, without infinite entries. Of each pair, the answer to its message is made anew where it is needed;
        `gp_slack` says how far it may be off. Unless `out` is empty, the messages that prove the bound are written to
        it, in the layout of certificates, where those of pair k begin at ``own[k]``.

        Narrow messages are rounded, so that the bound of themselves is a little lower. This is made up for by a pass
        forward over the variables: messages to later ones are new, and kept in full until they are read, if `room_for`
        numbers suffice.
        """
        cdef Py_ssize_t largest = self.given.shape[0]
        cdef offset_t span = self._span(begin, end, room_for // largest if self.narrow else 0)
        cdef double[::1] room = zeros_float64(6 * largest), ring = zeros_float64(max(1, span * largest))
        cdef gp_network net = self.net
        cdef double* belief = &room[2 * largest]
        cdef double* share = &room[3 * largest]
        cdef double* other = &room[4 * largest]
        cdef const double* zero = &room[5 * largest]
        cdef double* m
        cdef offset_t i, k, at
        cdef element_t v, d, y
        cdef bint at_later
        cdef double slack, lowest, weight
        net.in_, net.out = &room[0], &room[largest]
        with nogil:
            for v in range(begin, end):
                d, at, slack = self.domains[v], gp_first(&self.net, v), 0.0
                for y in range(d):
                    belief[y] = self.unary[at + y]
                for i in range(self.earlier_start[v], self.earlier_start[v + 1]):
                    k = self.earlier[i]
                    m = other
                    if self.pairs[k].u >= begin and self.later_start[v] - k <= span:
                        m = &ring[k % span * largest]
                    else:
                        at_later = self._at_later(&self.pairs[k])
                        gp_read(&net, k, d if at_later else self.domains[self.pairs[k].u], m)
                        slack += gp_slack(&net, k, at_later, m)
                        if not at_later:
                            gp_answer(&net, k, False, zero, m)
                    self._put(k, True, m, out, own)
                    for y in range(d):
                        belief[y] = gp_below(belief[y], m[y])
                if span:
                    memcpy(share, belief, d * sizeof(double))
                    for k in range(self.later_start[v], self.later_start[v + 1]):
                        self._to_earlier(&net, k, zero, other)
                        for y in range(d):
                            share[y] += other[y]
                    lowest, weight = share[0], gp_weight(&net, v)
                    for y in range(1, d):
                        lowest = min(lowest, share[y])
                    for y in range(d):
                        share[y] = weight * (share[y] - lowest)
                for k in range(self.later_start[v], self.later_start[v + 1]):
                    self._to_earlier(&net, k, zero, other)
                    if self.pairs[k].v < end and self.later_start[self.pairs[k].v] - k <= span:
                        m = &ring[k % span * largest]
                        for y in range(d):
                            other[y] -= share[y]
                            m[y] = other[y]
                        slack += gp_slack(&net, k, False, m)
                        gp_answer(&net, k, False, zero, m)
                    self._put(k, False, other, out, own)
                    for y in range(d):
                        belief[y] = gp_below(belief[y], other[y])
                lowest = belief[0]
                for y in range(1, d):
                    lowest = min(lowest, belief[y])
                least[v - begin] = gp_below(lowest, -slack)

    def export(self, double[::1] out, const offset_t[::1] own):
        """Write the messages in the layout of certificates, where those of factor f begin at ``own[f]``.

        Only one of the two messages of a pair is stored. The other is the minimum of the table less the stored message.
        """
        cdef Py_ssize_t k, f
        cdef gp_pair* p
        cdef offset_t i
        cdef element_t d, e
        cdef bint at_later
        cdef double* to_u
        cdef double* to_v
        cdef Py_ssize_t largest = self.given.shape[0]
        cdef double[::1] room = zeros_float64(4 * largest)      # other threads may read the messages at the same time
        cdef gp_network net = self.net
        cdef double* m = &room[2 * largest]     # the answer may be longer than the message
        cdef const double* zero = &room[3 * largest]
        net.in_, net.out = &room[0], &room[largest]
        with nogil:
            for k in range(self.pair_count):
                p = &self.pairs[k]
                f = self.pair_factor[k]
                at_later = self._at_later(p)
                d, e = self.domains[p.u], self.domains[p.v]
                to_u = &out[own[f]] + (e if p.flipped else 0)
                to_v = &out[own[f]] + (0 if p.flipped else d)
                gp_read(&net, k, e if at_later else d, m)
                memcpy(to_v if at_later else to_u, m, (e if at_later else d) * sizeof(double))
                gp_answer(&net, k, at_later, zero, m)
                memcpy(to_u if at_later else to_v, m, (d if at_later else e) * sizeof(double))
            for k in range(self.large_count):
                f = self.large_factor[k]
                for i in range(self.large_message[k + 1] - self.large_message[k]):
                    out[own[f] + i] = self.large_messages[self.large_message[k] + i]

    def reduced(self, const double[::1] given, const element_t[::1] factors, const offset_t[::1] own):
        """(starts, entries): tables of pairs less messages as in certificates, rows for the smaller variable."""
        cdef Py_ssize_t count = factors.shape[0], k, f
        cdef offset_t begin, x, y, at
        cdef element_t a, b, rows, columns
        cdef const double* to_rows
        cdef const double* to_columns
        cdef const double* source
        large = full_int32(len(self.scope_start) - 1, -1)
        large[np.asarray(self.large_factor)] = np.arange(self.large_count)
        cdef element_t[::1] place = large
        start_array = zeros_int64(count + 1)
        for k in range(count):
            start_array[k + 1] = start_array[k] + entries_of(&self.view.g, factors[k])
        out_array = zeros_float64(max(1, start_array[count]))
        cdef offset_t[::1] start = start_array
        cdef double[::1] out = out_array
        with nogil:
            for k in range(count):
                f = factors[k]
                begin = self.scope_start[f]
                a, b = self.scope[begin], self.scope[begin + 1]
                rows, columns = self.domains[min(a, b)], self.domains[max(a, b)]
                to_rows = to_columns = &given[own[f]]
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

    def load(self, const double[::1] given, const double[::1] links, const offset_t[::1] own):
        """Start from messages in the layout of certificates, and those of the first triplets.

        `own` tells where the messages of each factor begin; if messages are narrow, where those of each pair do.
        """
        cdef Py_ssize_t k, f, t, e
        cdef gp_pair* p
        cdef offset_t i, size, at = 0
        cdef double[::1] turned = zeros_float64(max(1, self.link_messages.shape[0]))
        cdef double* table
        self.done_forward, self.front[:] = False, NOBODY
        with nogil:
            for k in range(self.pair_count):
                p = &self.pairs[k]
                f = k if self.narrow else self.pair_factor[k]
                gp_write(&self.net, k, self.domains[p.u], &given[own[f]] + (self.domains[p.v] if p.flipped else 0))
            for k in range(self.large_count):
                f = self.large_factor[k]
                for i in range(self.large_message[k + 1] - self.large_message[k]):
                    self.large_messages[self.large_message[k] + i] = given[own[f] + i]
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
