"""Kernel of moves: each variable keeps its label or takes the one proposed, all at once, at the least energy.

The network of all pairs is made once; a move only fills in capacities. If all pairs are submodular in "keep" and
"take", the minimum cut is the best of all 2^n labelings. Otherwise roof duality (see `_doubled`) gives the labels of
some variables in a best labeling, and the other variables keep their labels. This never raises the energy (Lempitsky,
Rother, Roth & Blake 2010). The doubled network for this has two edges for each pair, one for each sign; one of them has
no capacity.

Potts tables are recognised and kept as one number each. Of equal tables, only the first is read, so that moves read
less memory. Unary costs are read where the factor graph has them, unless a variable has several unary factors: then
their sums are kept. Energies are compared exactly, in fixed point.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcmp, memcpy

from graphpart.crf.graph_cuts._max_flow cimport Network, Node
from graphpart.crf.graph_cuts._kernels cimport OrderedCut
from graphpart.crf.graph_cuts._scaling cimport Wide, rounded, sides, wide_add
from graphpart.crf.problem._view cimport Factors, place
from graphpart.kernels._arrays cimport full_int32, full_int64, zeros_float64, zeros_int32, zeros_int64
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    DISTINCT = 1024             # number of tables that later ones are compared with
    SLOTS = 4096

cdef double MODULAR = 2.0**-50


cdef class Moves(OrderedCut):
    """The network of a factor graph with pairs. In order: measure, prepare, then moves."""

    cdef Py_ssize_t pairs
    cdef int32_t[::1] kind              # of a pair: the number of its table, where equal ones have one number
    cdef offset_t[::1] at               # where to read a table; -1 for Potts
    cdef int64_t[::1] weight            # of a Potts table; of any other the number of entries
    cdef double[::1] low                # least entry of any other table
    cdef int32_t kinds
    cdef bint summed                    # whether a variable has several unary factors
    cdef int64_t[::1] unary             # then the sums for all labels of all variables, in units
    cdef offset_t[::1] begin            # where those of a variable begin, or its unary table; -1 if it has none
    cdef double[::1] least              # the least entry of this table
    cdef int32_t[::1] known             # kinds by the hash of their tables
    cdef Py_ssize_t distinct            # how many there are
    cdef Network doubled
    cdef readonly Py_ssize_t fusions    # moves that needed roof duality

    def prepare(self):
        """Read all tables once, and make the network."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f, k = 0, slot
        cdef offset_t rows, columns
        cdef element_t a, b
        cdef int32_t* other
        cdef offset_t[::1] began = full_int64(SLOTS, -1)     # where a recent table begins, and a pair with it
        cdef int32_t[::1] recent = zeros_int32(SLOTS)
        self.first = zeros_int64(0)                          # not needed any more
        with nogil:
            for f in range(t.m):
                k += sides(t, f, &a, &b, &rows, &columns) == 2
        self.pairs = k
        self.fusions = 0
        self.read_unary()
        self.kind, self.at, self.weight, self.low = (np.empty(k, one) for one in (np.int32, np.int64, np.int64, float))
        self.known, self.distinct, self.kinds = full_int32(SLOTS, -1), 0, 0
        self.network = Network(t.n, k)
        self.flow = &self.network.flow
        self.ends = &self.network.ends[0] if k else NULL
        k = 0
        with nogil:
            for f in range(t.m):
                if sides(t, f, &a, &b, &rows, &columns) < 2:
                    continue
                self.ends[2 * k], self.ends[2 * k + 1] = a, b
                slot = t.table_start[f] % SLOTS
                other = self.ends + 2 * recent[slot]
                if began[slot] == t.table_start[f] and t.domains[other[0]] == rows and t.domains[other[1]] == columns:
                    self.kind[k] = self.kind[recent[slot]]
                else:
                    self.kind[k] = self.read(t.table_start[f], rows, columns)
                    began[slot], recent[slot] = t.table_start[f], <int32_t>k
                k += 1
            self.network.connect()
        if self.kinds < k:
            self.at, self.weight = self.at[:self.kinds].copy(), self.weight[:self.kinds].copy()
            self.low = self.low[:self.kinds].copy()

    cdef int32_t read(self, offset_t start, offset_t rows, offset_t columns) noexcept nogil:
        """The number of a table that begins at `start`: that of an equal one, if it is found, or a new one."""
        cdef const cost_t* table = self.t.tables + start
        cdef offset_t i, size = rows * columns
        cdef uint64_t hashed = <uint64_t>size, word
        cdef double lost = 0.0, low = INFINITY
        cdef int32_t new = self.kinds, old
        cdef Py_ssize_t slot
        if is_potts(table, rows, columns):
            self.at[new] = -1
            self.weight[new] = rounded(table[1] - table[0], &self.s, &lost)
            self.kinds += 1
            return new
        for i in range(size):
            low = table[i] if table[i] < low else low
            memcpy(&word, &table[i], sizeof(word))
            hashed = (hashed ^ word) * <uint64_t>0x9E3779B97F4A7C15
            hashed ^= hashed >> 32
        slot = hashed & (SLOTS - 1)
        while self.known[slot] >= 0:
            old = self.known[slot]
            if self.weight[old] == size and memcmp(self.t.tables + self.at[old], table, size * sizeof(cost_t)) == 0:
                return old
            slot = (slot + 1) & (SLOTS - 1)
        if self.distinct < DISTINCT:
            self.known[slot] = new
            self.distinct += 1
        self.at[new], self.low[new], self.weight[new] = start, low, size
        self.kinds += 1
        return new

    def read_unary(self):
        """Find out where the unary costs of each variable are, or sum them."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f, v
        cdef offset_t rows, columns, i
        cdef element_t a, b
        cdef double low
        self.begin, self.least, self.unary = full_int64(t.n, -1), zeros_float64(t.n), zeros_int64(0)
        self.summed = False
        with nogil:
            for f in range(t.m):
                if sides(t, f, &a, &b, &rows, &columns) != 1:
                    continue
                if self.begin[a] >= 0:
                    self.summed = True
                    break
                self.begin[a], low = t.table_start[f], INFINITY
                for i in range(t.table_start[f], t.table_start[f] + rows):
                    low = t.tables[i] if t.tables[i] < low else low
                self.least[a] = low
        if not self.summed:
            return
        self.unary, self.least = zeros_int64(t.size), zeros_float64(0)
        with nogil:
            for v in range(t.n):
                self.begin[v] = place(t, v)
            for f in range(t.m):
                if sides(t, f, &a, &b, &rows, &columns) == 1:
                    self.add_unary(a, t.tables + t.table_start[f], rows)

    cdef void add_unary(self, element_t v, const cost_t* table, offset_t size) noexcept nogil:
        cdef offset_t i
        cdef double low = INFINITY
        for i in range(size):
            low = table[i] if table[i] < low else low
        for i in range(size):
            self.unary[self.begin[v] + i] += self.units(table[i], low)

    cdef inline int64_t units(self, double x, double low) noexcept nogil:
        cdef double lost = 0.0
        return self.s.forbidden if x == INFINITY else rounded(x - low, &self.s, &lost)

    cdef inline int64_t own(self, Py_ssize_t v, element_t label) noexcept nogil:
        """The unary cost of a label, less a constant of the variable."""
        if self.begin[v] < 0:
            return 0
        if self.summed:
            return self.unary[self.begin[v] + label]
        return self.units(self.t.tables[self.begin[v] + label], self.least[v])

    def best_unary(self):
        """The label of least unary cost of each variable, the first of several."""
        out = zeros_int32(self.t.n)
        cdef element_t[::1] label = out
        cdef Py_ssize_t v
        cdef element_t i
        cdef int64_t x, least
        for v in range(self.t.n):
            least = self.own(v, 0)
            for i in range(1, self.t.domains[v]):
                x = self.own(v, i)
                if x < least:
                    label[v], least = i, x
        return out

    cdef inline int64_t value(self, Py_ssize_t k, element_t a, element_t b) noexcept nogil:
        cdef int32_t kind = self.kind[k]
        cdef offset_t at = self.at[kind]
        if at < 0:
            return self.weight[kind] if a != b else 0
        return self.units(self.t.tables[at + a * <offset_t>self.t.domains[self.ends[2 * k + 1]] + b], self.low[kind])

    def difference(self, const element_t[::1] old, const element_t[::1] new):
        """(high, low): the energy of new labels minus that of old ones is ``high * 2**32 + low`` units."""
        cdef Wide total
        cdef Py_ssize_t v, k
        cdef element_t a, b
        total.high = total.low = 0
        with nogil:
            for v in range(self.t.n):
                if old[v] != new[v]:
                    wide_add(&total, self.own(v, new[v]) - self.own(v, old[v]))
            for k in range(self.pairs):
                a, b = self.ends[2 * k], self.ends[2 * k + 1]
                if old[a] != new[a] or old[b] != new[b]:
                    wide_add(&total, self.value(k, new[a], new[b]) - self.value(k, old[a], old[b]))
        return total.high, total.low

    def move(self, const element_t[::1] zero, const element_t[::1] one, element_t[::1] labels, double cost,
             Stopping stopping):
        """Give each variable its label of `zero` or `one`; variables that roof duality leaves open keep their labels.

        False if stopped; the labels are then unchanged.
        """
        cdef bint submodular, finished
        cdef Py_ssize_t v
        cdef Network net = self.network
        net.flow.known_cost = cost
        with nogil:
            submodular = self.fill(zero, one)
            finished = net.run(stopping) if submodular else True
            if submodular and finished:
                for v in range(self.t.n):
                    labels[v] = one[v] if net.in_source_set(v) else zero[v]
        if submodular or not finished:
            return finished
        self.fusions += 1
        if self.doubled is None:
            self.double()
        net = self.doubled
        net.flow.known_cost = cost
        with nogil:
            self.fill_doubled(zero, one)
            finished = net.run(stopping)
            if finished:
                for v in range(self.t.n):
                    if net.flow.nodes[v].label:
                        labels[v] = one[v] if net.in_source_set(v) else zero[v]
        return finished

    cdef bint fill(self, const element_t[::1] zero, const element_t[::1] one) noexcept nogil:
        """Capacities of the plain network; False as soon as a pair is not submodular."""
        cdef Py_ssize_t v, k
        cdef element_t a, b, a0, a1, b0, b1
        cdef int64_t x, y, d, part
        cdef Node* nodes = self.flow.nodes
        cdef int64_t* capacity = self.flow.capacity
        for v in range(self.t.n):
            nodes[v].excess = self.own(v, zero[v]) - self.own(v, one[v])
        for k in range(self.pairs):
            a, b = self.ends[2 * k], self.ends[2 * k + 1]
            a0, a1, b0, b1 = zero[a], one[a], zero[b], one[b]
            capacity[2 * k] = capacity[2 * k + 1] = 0
            if a0 == a1:
                if b0 != b1:
                    nodes[b].excess -= self.value(k, a0, b1) - self.value(k, a0, b0)
                continue
            if b0 == b1:
                nodes[a].excess -= self.value(k, a1, b0) - self.value(k, a0, b0)
                continue
            self.cell(k, a0, a1, b0, b1, &x, &y, &d)
            if d < 0:
                return False
            part = max(<int64_t>0, min(x, d))
            capacity[2 * k], capacity[2 * k + 1] = part, d - part
            nodes[a].excess -= x - part
            nodes[b].excess -= y - (d - part)
        return True

    cdef inline void cell(self, Py_ssize_t k, element_t a0, element_t a1, element_t b0, element_t b1,
                          int64_t* x, int64_t* y, int64_t* d) noexcept nogil:
        """The cost of "take" for either variable alone, and what both save together, set to 0 if that is rounding
        only."""
        cdef int64_t e = self.value(k, a0, b0), ex = self.value(k, a1, b0), ey = self.value(k, a0, b1)
        cdef int64_t exy = self.value(k, a1, b1)
        cdef double tolerance
        x[0], y[0], d[0] = ex - e, ey - e, ex + ey - e - exy
        if d[0] < 0 and self.at[self.kind[k]] >= 0:
            tolerance = 2.0 + MODULAR * <double>(max(max(ex, ey), max(e, exy)))
            if -d[0] <= tolerance:
                d[0] = 0

    def double(self):
        """Make the doubled network: of each pair an edge between nodes of equal sense and a crossed one."""
        cdef Py_ssize_t k
        cdef int32_t x, y
        cdef Network net = Network(self.t.n, 2 * self.pairs, True)
        cdef int32_t* ends
        self.doubled = net
        if self.pairs == 0:
            return
        ends = &net.ends[0]
        with nogil:
            for k in range(self.pairs):
                x, y = self.ends[2 * k], self.ends[2 * k + 1]
                ends[4 * k], ends[4 * k + 1], ends[4 * k + 2], ends[4 * k + 3] = x, y, x, ~y
            net.connect()

    cdef void fill_doubled(self, const element_t[::1] zero, const element_t[::1] one) noexcept nogil:
        cdef Py_ssize_t v, k
        cdef element_t a, b, a0, a1, b0, b1
        cdef int64_t x, y, d, part
        cdef Node* nodes = self.doubled.flow.nodes
        cdef int64_t* capacity
        for v in range(self.t.n):
            nodes[v].excess = self.own(v, zero[v]) - self.own(v, one[v])
        for k in range(self.pairs):
            capacity = self.doubled.flow.capacity + 4 * k
            capacity[0] = capacity[1] = capacity[2] = capacity[3] = 0
            a, b = self.ends[2 * k], self.ends[2 * k + 1]
            a0, a1, b0, b1 = zero[a], one[a], zero[b], one[b]
            x = y = 0
            if a0 == a1 and b0 != b1:
                y = self.value(k, a0, b1) - self.value(k, a0, b0)
            elif a0 != a1 and b0 == b1:
                x = self.value(k, a1, b0) - self.value(k, a0, b0)
            elif a0 != a1:
                self.cell(k, a0, a1, b0, b1, &x, &y, &d)
                if d >= 0:
                    part = max(<int64_t>0, min(x, d))
                    capacity[0], capacity[1] = part, d - part
                    x -= part
                    y -= d - part
                else:
                    part = max(<int64_t>0, min(-x, -d))
                    capacity[2], capacity[3] = -d - part, part
                    x += part
                    y += part
            nodes[a].excess -= x
            nodes[b].excess -= y


cdef bint is_potts(const cost_t* table, offset_t rows, offset_t columns) noexcept nogil:
    """Whether equal labels have one cost, all different ones another, both finite; at least two of each."""
    cdef offset_t i, j
    cdef double same = table[0], other = table[1]
    if rows != columns or same == INFINITY or other == INFINITY:
        return False
    for i in range(rows):
        for j in range(columns):
            if table[i * columns + j] != (same if i == j else other):
                return False
    return True
