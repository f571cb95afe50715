"""Kernel of roof duality: the doubled network of a binary problem (Boros & Hammer 2002), and labels from its flow.

Variable x has two nodes, one on the source's side if x is 1, one if x is 0; they are mirror images of each other (see
`_max_flow`), and stored as one. A pair with D >= 0 (see `_ordered`) is an edge between nodes of the same sense, one with
D < 0 a crossed edge. The network stands for twice the energy. Labels are read from its maximum flow:

* Nodes that the source reaches give labels that every optimal labeling has (strong).
* The other nodes form strongly connected components (by depth-first search; Tarjan 1972), which are decided together.
  If the two nodes of a variable are in different components, the one that comes later in topological order is
  chosen, as for satisfiability with two literals in each clause (Aspvall, Plass & Tarjan 1979). This holds in some
  optimal labeling (weak).

The flow may have dropped units of capacity (see `_max_flow`) that are part of the energy. The bound needs no
correction, since the energy without them is not higher. If no cost was rounded, labels are read with these units:

* Let F be the nodes that the source reaches, also along dropped capacity, and B their mirror images, which reach the
  sink.
* A node in F and not in B gives the label of its variable in some optimal labeling, since no arc leads from there to B.
* A node is strong if a node with positive excess outside of B reaches it along capacity that was not dropped.
* Nodes in F and in B stay open. No arc leads there from nodes that are in neither, which are decided as above.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from graphpart.crf.graph_cuts._max_flow cimport Arc, Flow, Network, Node, magnitude
from graphpart.crf.graph_cuts._scaling cimport Wide, sides, wide_add
from graphpart.crf.problem._view cimport Factors, entries_of
from graphpart.kernels._arrays cimport empty_int32, empty_int64, full_int32, zeros_float64, zeros_int32, zeros_uint8
from graphpart.kernels.types cimport element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    REACHED = 1         # by the source, also along dropped capacity
    STRONG = 2


cdef class DoubledCut(OrderedCut):
    """The network of a factor graph over variables with at most two labels. In order: measure, build, run; then look."""

    def build(self):
        """Make the network."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f, edges = 0
        cdef offset_t[::1] first = self.first
        with nogil:
            for f in range(t.m):
                edges += entries_of(t, f) == 4
        self.buffer = empty_int64(4)
        self.network = Network(first[t.n], edges, True)
        self.flow = &self.network.flow
        self.ends = &self.network.ends[0] if edges else NULL
        self.constant.high = self.constant.low = 0
        self.s.slack = 0.0
        edges = 0
        with nogil:
            for f in range(t.m):
                self.factor(f, &edges, True)
            self.network.edges = edges
            self.network.connect()

    cdef offset_t factor(self, Py_ssize_t f, Py_ssize_t* edges, bint write) noexcept nogil:
        cdef element_t u, v
        cdef offset_t rows, columns
        cdef int64_t a, b, d, one
        cdef int32_t x, y = 0
        cdef int64_t* table = &self.buffer[0]
        cdef int64_t* capacity
        cdef double tolerance
        cdef bint crossed
        if sides(&self.t, f, &u, &v, &rows, &columns) == 0:
            return -1
        tolerance = self.load(f, rows, columns)
        x = <int32_t>self.first[u]
        wide_add(&self.constant, 2 * table[0])
        if columns == 1:
            self.unary(x, table[1] - table[0])
            return -1
        y = <int32_t>self.first[v]
        a, b = table[2] - table[0], table[1] - table[0]
        d = table[1] + table[2] - table[0] - table[3]
        if -tolerance <= d <= tolerance:
            self.s.slack += <double>(d if d > 0 else -d)
        else:
            capacity = self.flow.capacity + 2 * edges[0]
            crossed = d < 0
            if d > 0:
                one = max(<int64_t>0, min(a, d))
                capacity[0], capacity[1] = one, d - one
                a -= one
                b -= d - one
            else:
                d = -d
                one = max(<int64_t>0, min(-a, d))
                capacity[0], capacity[1] = d - one, one
                a += one
                b += one
                wide_add(&self.constant, -2 * one)
            self.ends[2 * edges[0]], self.ends[2 * edges[0] + 1] = x, ~y if crossed else y
            edges[0] += 1
        self.unary(x, a)
        self.unary(y, b)
        return -1

    cdef inline void unary(self, int32_t x, int64_t cost) noexcept nogil:
        self.flow.nodes[x].excess -= cost
        wide_add(&self.constant, cost)

    def bound(self) -> tuple[int, int, float, float, float, float, float, float]:
        """As for `OrderedCut`, in halves of units."""
        cdef Wide total = self.constant
        cdef Py_ssize_t v
        cdef Flow* flow = self.flow
        with nogil:
            wide_add(&total, -flow.spilled)
            for v in range(flow.n):
                wide_add(&total, -magnitude(flow.nodes[v].excess))
        least = (self.least, self.least_error, self.least_slack)
        return total.high, total.low, 2.0 * self.s.slack, self.s.scale, self.s.before, *least

    def strong(self):
        """The label of each variable that all optimal labelings share, -1 if there is none."""
        out = full_int32(self.t.n, -1)
        cdef element_t[::1] label = out
        cdef Py_ssize_t v, x
        cdef Node* nodes = self.flow.nodes
        cdef int32_t found
        cdef uint8_t[::1] mark
        for v in range(self.t.n):
            if self.first[v + 1] == self.first[v]:
                label[v] = 0
                continue
            found = nodes[self.first[v]].label
            label[v] = -1 if found == 0 else 1 - (found & 1)
        if self.in_doubt():
            mark = self.marks()
            for v in range(self.t.n):
                x = 2 * self.first[v]
                if self.first[v + 1] > self.first[v] and not (mark[x] | mark[x + 1]) & STRONG:
                    label[v] = -1
        return out

    cdef bint in_doubt(self) noexcept nogil:
        """Whether dropped capacity counts: not if costs were rounded, since labels then hold up to rounding only."""
        return self.flow.drops and self.s.slack == 0.0

    cdef uint8_t[::1] marks(self):
        """Which nodes are reached, and strong; the mirror image of a node is next to it. O(n + pairs)"""
        cdef uint8_t[::1] mark = zeros_uint8(2 * self.flow.n)
        cdef int32_t[::1] stack = empty_int32(2 * self.flow.n)
        with nogil:
            self.reach(mark, stack, REACHED)
            self.reach(mark, stack, STRONG)
        return mark

    cdef void reach(self, uint8_t[::1] mark, int32_t[::1] stack, uint8_t bit) noexcept nogil:
        cdef Py_ssize_t root, top, a
        cdef int32_t x, y, place
        cdef int64_t excess
        cdef Flow* f = self.flow
        for root in range(2 * f.n):
            excess = -f.nodes[root >> 1].excess if root & 1 else f.nodes[root >> 1].excess
            if bit == REACHED and f.dropped_excess[root >> 1] >> (root & 1) & 1:
                excess = 1
            if excess <= 0 or mark[root] & bit or (bit == STRONG and mark[root ^ 1] & REACHED):
                continue
            mark[root] |= bit
            stack[0] = <int32_t>root
            top = 1
            while top:
                top -= 1
                x = stack[top]
                for a in range(f.nodes[x >> 1].first, f.nodes[(x >> 1) + 1].first):
                    y, place = f.arcs[a].head ^ (x & 1), f.arcs[a].place ^ (x & 1)
                    if not mark[y] & bit and (f.capacity[place] or (bit == REACHED and f.dropped[place])):
                        mark[y] |= bit
                        stack[top] = y
                        top += 1

    def weak(self, element_t[::1] label):
        """Give labels that some optimal labeling has, together with those given, to variables that have none (-1)."""
        cdef Py_ssize_t n = 2 * self.flow.n, v, root, top = 0, depth = 0, a
        cdef int32_t time = 0, components = 0, x, y, place
        cdef Node* nodes = self.flow.nodes
        cdef Arc* arcs = self.flow.arcs
        cdef int32_t[::1] number = zeros_int32(n)    # when first seen; 0: not yet
        cdef int32_t[::1] lowest = zeros_int32(n)
        cdef int32_t[::1] component = full_int32(n, -1)
        cdef int32_t[::1] stack = empty_int32(n), path = empty_int32(n), arc = empty_int32(n)
        cdef uint8_t[::1] mark
        if self.in_doubt():
            mark = self.marks()
            for v in range(self.t.n):
                root = 2 * self.first[v]
                if label[v] >= 0 or not (mark[root] | mark[root + 1]) & REACHED:
                    continue
                if not mark[root] & mark[root + 1] & REACHED:
                    label[v] = mark[root] & REACHED
                number[root] = number[root + 1] = -1
        with nogil:
            for v in range(self.t.n):       # nodes of variables with labels count as visited
                if self.first[v + 1] > self.first[v] and label[v] >= 0:
                    number[2 * self.first[v]] = number[2 * self.first[v] + 1] = -1
            for root in range(n):
                if number[root]:
                    continue
                depth = 1
                path[0] = <int32_t>root
                time += 1
                number[root] = lowest[root] = time
                arc[root] = nodes[root >> 1].first
                stack[top] = <int32_t>root
                top += 1
                while depth:
                    x = path[depth - 1]
                    a = arc[x]
                    if a < nodes[(x >> 1) + 1].first:
                        arc[x] += 1
                        y = arcs[a].head ^ (x & 1)      # the mirror image of a node is next to it
                        place = arcs[a].place ^ (x & 1)
                        if number[y] < 0 or not (self.flow.capacity[place] or self.flow.dropped[place]):
                            continue
                        if number[y] == 0:
                            time += 1
                            number[y] = lowest[y] = time
                            arc[y] = nodes[y >> 1].first
                            stack[top] = y
                            top += 1
                            path[depth] = y
                            depth += 1
                        elif component[y] < 0 and number[y] < lowest[x]:
                            lowest[x] = number[y]
                        continue
                    depth -= 1
                    if depth and lowest[x] < lowest[path[depth - 1]]:
                        lowest[path[depth - 1]] = lowest[x]
                    if lowest[x] == number[x]:
                        while True:
                            top -= 1
                            y = stack[top]
                            component[y] = components
                            if y == x:
                                break
                        components += 1
            for v in range(self.t.n):
                if label[v] >= 0:
                    continue
                x = <int32_t>(2 * self.first[v])
                if component[x] != component[x + 1]:        # components are numbered against topological order
                    label[v] = component[x] < component[x + 1]

    def messages(self) -> NDArray[np.float64]:
        """The costs that the flow moved from tables to labels: one for each factor, variable and label."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f, size = 0, at = 0, e = 0
        cdef offset_t k, rows, columns
        cdef element_t u, v
        cdef int64_t a, b, d
        cdef int64_t* table = &self.buffer[0]
        cdef int64_t* capacity = self.flow.capacity
        cdef double half = 0.5 / self.s.scale / self.s.before, tolerance, slack = self.s.slack
        for f in range(t.m):
            if t.scope_start[f + 1] - t.scope_start[f] > 1:
                for k in range(t.scope_start[f], t.scope_start[f + 1]):
                    size += t.domains[t.scope[k]]
        out = zeros_float64(size)
        cdef double[::1] message = out
        with nogil:
            for f in range(t.m):
                if sides(t, f, &u, &v, &rows, &columns) == 0:
                    a = b = 0
                else:
                    tolerance = self.load(f, rows, columns)
                    b = 0
                    a = 2 * (table[columns] - table[0])
                    if columns == 2:
                        b = 2 * (table[1] - table[0])
                        d = table[1] + table[2] - table[0] - table[3]
                        if d > tolerance:
                            a -= 2 * capacity[2 * e]
                            b -= 2 * capacity[2 * e + 1]
                            e += 1
                        elif d < -tolerance:
                            a += 2 * capacity[2 * e + 1]
                            b += 2 * capacity[2 * e + 1]
                            e += 1
                if t.scope_start[f + 1] - t.scope_start[f] < 2:
                    continue
                for k in range(t.scope_start[f], t.scope_start[f + 1]):
                    if t.scope[k] == u:
                        message[at + 1] = a * half
                    elif t.scope[k] == v:
                        message[at + 1] = b * half
                    at += t.domains[t.scope[k]]
        self.s.slack = slack
        return out
