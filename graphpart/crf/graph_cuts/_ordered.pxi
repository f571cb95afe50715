"""Kernel of graph cuts for ordered labels: the network of Ishikawa (2003), from flat tables, and labels from its cut.

A variable with the labels 0, ..., d - 1 has d - 1 nodes; node i is on the source's side if the label is above i. Arcs of
infinite capacity from each node to the one before it make the nodes agree with one label. With

    D(i, j) = table(i, j + 1) + table(i + 1, j) - table(i, j) - table(i + 1, j + 1)

the table of a pair is table(0, 0), plus a term for each node, minus the sum of D(i, j) over the nodes i of the first
variable and j of the second that are both on the source's side. If no D is negative, each is an edge between two nodes.
A table with forbidden entries is first made finite, and stays submodular: each entry becomes the least sum of another
entry and the distance to it times a number larger than all differences of finite entries.

The residual capacities of a factor's edges are its table less its messages.
"""

import numpy as np

from libc.math cimport INFINITY, fabs, frexp, ldexp
from libc.stdint cimport int32_t, int64_t

from graphpart.crf.graph_cuts._max_flow cimport Network, Node
from graphpart.crf.graph_cuts._scaling cimport Scale, Wide, rounded, sides, wide_add
from graphpart.crf.problem._view cimport Factors, View, entries_of
from graphpart.kernels._arrays cimport empty_int64, zeros_float64, zeros_int32, zeros_int64
from graphpart.kernels.fixed cimport fixed, scale_for
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef int64_t ENDLESS = <int64_t>1 << 62
cdef double MODULAR = 2.0**-50      # a D of at most this times the largest entry of its table counts as rounding


cdef class OrderedCut:
    """The network of a factor graph. In order: measure, build, run, then labels, bound and messages."""

    def __init__(self, View view):
        self.view, self.t = view, view.g

    def measure(self):
        """(factor, what): the first factor with more than two variables of several labels (0), or all forbidden (1).

        Factor is -1 if there is none. Chooses the scale.
        """
        cdef const Factors* t = &self.t
        cdef Scale* s = &self.s
        cdef Py_ssize_t f, v
        cdef int what = -1, exponent = 0
        cdef double total = 0.0, largest = 0.0, magnitude, x
        cdef offset_t most = 1
        cdef offset_t[::1] first = zeros_int64(t.n + 1)
        cdef double[::1] weight = zeros_float64(t.n), walls = zeros_float64(t.n)
        self.first = first
        s.before = 1.0
        f = self.spans(weight, walls, &total, &what)
        if what < 0 and (total > 2.0**800 or 0.0 < total < 2.0**-700):
            # The scale of huge and tiny numbers is found, and used, nearer to 1.
            s.before = 2.0**-256 if total > 1.0 else 2.0**640
            weight[:] = 0.0
            walls[:] = 0.0
            f = self.spans(weight, walls, &total, &what)
        with nogil:
            for v in range(t.n):
                first[v + 1] = first[v] + t.domains[v] - 1
                most = max(most, t.domains[v])
        if what >= 0:
            return f, what
        magnitude = 1.0
        if total > 0.0:
            frexp(total, &exponent)
            magnitude = ldexp(1.0, exponent + 1)
        with nogil:
            for v in range(t.n):
                x = (weight[v] + magnitude * walls[v]) * (t.domains[v] + 2)
                largest = x if x > largest else largest
        s.scale = scale_for(largest)
        s.forbidden = fixed(magnitude, s.scale) if largest > 0.0 else 0
        self.binary = most <= 2
        return -1, -1

    cdef Py_ssize_t spans(self, double[::1] weight, double[::1] walls, double* total, int* what) noexcept nogil:
        """The range of tables: in all, and at each variable; and the room that forbidden entries need there."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f
        cdef offset_t i, rows, columns, infinite = 0, entries = 0
        cdef element_t a, b
        cdef double low = INFINITY, high = -INFINITY, x, size, absolute = 0.0
        cdef bint exact = True
        total[0] = 0.0
        self.least = self.least_error = self.least_slack = 0.0
        for f in range(t.m):
            if sides(t, f, &a, &b, &rows, &columns) > 2:
                what[0] = 0
                return f
            if f == 0 or t.table_start[f] != t.table_start[f - 1] or rows * columns != entries:
                low, high, infinite, entries = INFINITY, -INFINITY, 0, entries_of(t, f)
                for i in range(t.table_start[f], t.table_start[f] + entries):
                    x = t.tables[i]
                    low = x if x < low else low
                    if x == INFINITY:
                        infinite += 1
                    elif x > high:
                        high = x
            if low == INFINITY:
                what[0] = 1
                return f
            if add_exactly(&self.least, &self.least_error, low):
                exact = False
            absolute += fabs(low)
            size = (high - low) * self.s.before
            total[0] += size
            if a >= 0:
                weight[a] += size
                walls[a] += rows + columns if infinite else 0
            if b >= 0:
                weight[b] += size
                walls[b] += rows + columns if infinite else 0
        self.least_slack = 0.0 if exact else absolute * t.m * 2.0**-104
        return -1

    def build(self):
        """(factor, i, j) where D(i, j) is negative, factor = -1 if it never is: then the network is made."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f, v, i, k, edges = 0
        cdef offset_t cell = -1, columns = 1, rows = 1
        cdef element_t a = -1, b = -1
        cdef offset_t[::1] first = self.first
        cdef offset_t largest = 1
        with nogil:
            for f in range(t.m):
                largest = max(largest, entries_of(t, f))
        self.buffer = empty_int64(largest)
        self.chains = 0
        with nogil:
            for v in range(t.n):
                self.chains += max(0, t.domains[v] - 2)
            edges = self.chains
            for k in range(2):      # unary factors, which are never wrong, come last
                for f in range(t.m):
                    if (t.scope_start[f + 1] - t.scope_start[f] < 2) != (k == 1):
                        continue
                    if self.binary:
                        edges += entries_of(t, f) == 4
                        continue
                    cell = self.factor(f, &edges, False)
                    if cell >= 0:
                        break
                if cell >= 0:
                    break
        if cell >= 0:
            sides(t, f, &a, &b, &rows, &columns)
            return f, cell // columns, cell % columns
        self.network = Network(first[t.n], edges)
        self.flow = &self.network.flow
        self.ends = &self.network.ends[0] if edges else NULL
        self.constant.high = self.constant.low = 0
        self.s.slack = 0.0
        edges = 0
        with nogil:
            for v in range(t.n):
                for i in range(first[v], first[v + 1] - 1):
                    self.network.ends[2 * edges], self.network.ends[2 * edges + 1] = <int32_t>i + 1, <int32_t>i
                    self.network.capacity[2 * edges], self.network.capacity[2 * edges + 1] = ENDLESS, 0
                    edges += 1
            for f in range(t.m):
                cell = self.factor(f, &edges, True)
                if cell >= 0:
                    break
        if cell >= 0:
            sides(t, f, &a, &b, &rows, &columns)
            return f, cell // columns, cell % columns
        self.network.edges = edges      # some pairs of binary variables need no edge
        with nogil:
            self.network.connect()
        return -1, -1, -1

    cdef double load(self, Py_ssize_t f, offset_t rows, offset_t columns) noexcept nogil:
        """The table of a factor in units, less its smallest entry, in the buffer; the size of D that counts as 0."""
        cdef const Factors* t = &self.t
        cdef const cost_t* table = t.tables + t.table_start[f]
        cdef int64_t* x = &self.buffer[0]
        cdef int64_t wall = self.s.forbidden
        cdef offset_t i, j
        cdef double low = INFINITY, high = -INFINITY, lost = 0.0, x_less_low, back
        cdef bint walls = False
        for i in range(rows * columns):
            low = table[i] if table[i] < low else low
        for i in range(rows * columns):
            if table[i] == INFINITY:
                x[i] = ENDLESS
                walls = True
            else:
                x_less_low = table[i] - low
                x[i] = rounded(x_less_low, &self.s, &lost)
                back = x_less_low - table[i]
                if (table[i] - (x_less_low - back)) - (low + back) != 0.0:  # it was rounded (Knuth 1969)
                    lost = max(lost, 0.5 + x_less_low * self.s.before * self.s.scale * 2.0**-52)
                high = table[i] if table[i] > high else high
        if walls:
            for i in range(rows):
                for j in range(1, columns):
                    x[i * columns + j] = min(x[i * columns + j], x[i * columns + j - 1] + wall)
                for j in range(columns - 2, -1, -1):
                    x[i * columns + j] = min(x[i * columns + j], x[i * columns + j + 1] + wall)
            for j in range(columns):
                for i in range(1, rows):
                    x[i * columns + j] = min(x[i * columns + j], x[(i - 1) * columns + j] + wall)
                for i in range(rows - 2, -1, -1):
                    x[i * columns + j] = min(x[i * columns + j], x[(i + 1) * columns + j] + wall)
        self.s.slack += lost
        high = max(fabs(low), fabs(high)) * self.s.before * self.s.scale
        return high * MODULAR + (4.0 if lost > 0.0 else 0.0)

    cdef offset_t factor(self, Py_ssize_t f, Py_ssize_t* edges, bint write) noexcept nogil:
        """Count or write the edges of a factor, and what it adds to nodes; a cell with negative D, or -1."""
        cdef element_t u, v
        cdef offset_t rows, columns, i, j
        cdef int64_t left, d, part
        cdef double tolerance
        cdef int64_t* x = &self.buffer[0]
        cdef int32_t* ends = self.ends
        cdef Node* nodes = self.flow.nodes if write else NULL
        sides(&self.t, f, &u, &v, &rows, &columns)
        tolerance = self.load(f, rows, columns)
        if write:
            wide_add(&self.constant, x[0])
            for j in range(columns - 1):
                nodes[self.first[v] + j].excess -= x[j + 1] - x[j]
        for i in range(rows - 1):
            left = x[(i + 1) * columns] - x[i * columns]
            for j in range(columns - 1):
                d = x[i * columns + j + 1] + x[(i + 1) * columns + j] - x[i * columns + j] - x[(i + 1) * columns + j + 1]
                if d < -tolerance:
                    return i * columns + j
                if d <= tolerance:
                    self.s.slack += <double>(d if d > 0 else -d)
                    continue
                if write:
                    part = max(<int64_t>0, min(left, d))
                    left -= part
                    ends[2 * edges[0]] = <int32_t>(self.first[u] + i)
                    ends[2 * edges[0] + 1] = <int32_t>(self.first[v] + j)
                    self.flow.capacity[2 * edges[0]] = part
                    self.flow.capacity[2 * edges[0] + 1] = d - part
                    nodes[self.first[v] + j].excess += d - part
                edges[0] += 1
            if write:
                nodes[self.first[u] + i].excess -= left
        return -1

    def run(self, Stopping stopping):
        """Push flow; whether it is maximum."""
        cdef bint finished
        cdef Network net = self.network
        with nogil:
            finished = net.run(stopping)
        return finished

    def labels(self):
        """The labels of the cut; if the flow is not maximum, of the nodes that the source has reached so far."""
        out = zeros_int32(self.t.n)
        cdef element_t[::1] label = out
        cdef Py_ssize_t v
        cdef offset_t i
        cdef Network net = self.network
        with nogil:
            for v in range(self.t.n):
                i = self.first[v]
                while i < self.first[v + 1] and net.in_source_set(i):
                    i += 1
                label[v] = <element_t>(i - self.first[v])
        return out

    def unit(self):
        """The cost of one unit of the network."""
        return 1.0 / self.s.scale / self.s.before

    def bound(self) -> tuple[int, int, float, float, float, float, float, float]:
        """(high, low, slack, scale, before, least, error, least_slack): the bound that the flow proves.

        No labeling costs less than the constant plus ``least + error - least_slack`` plus
        ``(high * 2**32 + low - slack) / scale / before``.
        """
        cdef Wide total = self.constant
        cdef Py_ssize_t v
        cdef Network net = self.network
        with nogil:
            for v in range(net.n):
                if net.flow.nodes[v].excess > 0:
                    wide_add(&total, -net.flow.nodes[v].excess)
        least = (self.least, self.least_error, self.least_slack)
        return total.high, total.low, self.s.slack, self.s.scale, self.s.before, *least

    def messages(self) -> NDArray[np.float64]:
        """What flow has moved from tables of several variables to these: a number for each factor, variable, label."""
        cdef const Factors* t = &self.t
        cdef Py_ssize_t f, size = 0, at = 0, e = self.chains
        cdef offset_t k, i, j, rows, columns, d
        cdef element_t u, v
        cdef int64_t cell
        cdef int64_t* x = &self.buffer[0]
        cdef int64_t* capacity = self.network.flow.capacity
        cdef double unit = 1.0 / self.s.scale / self.s.before, tolerance
        for f in range(t.m):
            if t.scope_start[f + 1] - t.scope_start[f] > 1:
                for k in range(t.scope_start[f], t.scope_start[f + 1]):
                    size += t.domains[t.scope[k]]
        out = zeros_float64(size)
        cdef double[::1] message = out
        cdef int64_t[::1] step = zeros_int64(2 * self.t.largest_domain)
        cdef int64_t* row = &step[0]
        cdef int64_t* column = &step[step.shape[0] // 2]
        cdef double slack = self.s.slack
        with nogil:
            for f in range(t.m):
                sides(t, f, &u, &v, &rows, &columns)
                tolerance = self.load(f, rows, columns)
                for i in range(rows - 1):
                    row[i] = x[(i + 1) * columns] - x[i * columns]
                for j in range(columns - 1):
                    column[j] = x[j + 1] - x[j]
                for i in range(rows - 1):
                    for j in range(columns - 1):
                        cell = (x[i * columns + j + 1] + x[(i + 1) * columns + j] - x[i * columns + j]
                                - x[(i + 1) * columns + j + 1])
                        if cell > tolerance:
                            row[i] -= capacity[2 * e]
                            column[j] -= capacity[2 * e + 1]
                            e += 1
                if t.scope_start[f + 1] - t.scope_start[f] < 2:
                    continue
                for k in range(t.scope_start[f], t.scope_start[f + 1]):
                    d = t.domains[t.scope[k]]
                    if t.scope[k] == u:
                        running(row, d, unit, &message[at])
                    elif t.scope[k] == v:
                        running(column, d, unit, &message[at])
                    at += d
        self.s.slack = slack        # counted once
        return out


cdef void running(const int64_t* step, offset_t d, double unit, double* out) noexcept nogil:
    cdef offset_t i
    cdef int64_t total = 0
    out[0] = 0.0
    for i in range(d - 1):
        total += step[i]
        out[i + 1] = total * unit


cdef inline bint add_exactly(double* sum, double* error, double x) noexcept nogil:
    """Add to a sum in two doubles (Neumaier 1974); return whether the addition was rounded."""
    cdef double t = sum[0] + x, lost
    lost = (sum[0] - t) + x if fabs(sum[0]) >= fabs(x) else (x - t) + sum[0]
    error[0] += lost
    sum[0] = t
    return lost != 0.0
