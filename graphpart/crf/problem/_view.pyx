"""One C view of a factor graph: its arrays, its layout and, on request, its incidence, as one struct of pointers.

`FactorGraph._view` makes it once for each factor graph. Kernels take it in place of the arrays. They read the table of
factor f from ``table_start[f]`` on, and its size from the domains of its scope. So factors may share tables. Vectors of the
labels of all variables are made here, too.
"""

from graphpart.kernels._arrays cimport zeros_float64, zeros_int32
from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef class View:
    """The arrays of a factor graph for kernels.

    Parameters
    ----------
    arrays : tuple of ndarray
        domains, scope_start, scope, table_start, tables.
    layout : Layout
    has_forbidden : bool
        Whether an entry of the tables is infinite.
    """

    def __init__(self, tuple arrays, layout, bint has_forbidden):
        cdef const element_t[::1] domains = arrays[0], scope = arrays[2]
        cdef const offset_t[::1] scope_start = arrays[1], table_start = arrays[3], first = layout.first
        cdef const cost_t[::1] tables = arrays[4]
        cdef const offset_t[:, ::1] run = layout.runs
        cdef Factors* g = &self.g
        cdef Py_ssize_t v
        self.arrays, self.kept, self.connected = arrays, (layout,), False
        g.n, g.m = domains.shape[0], scope_start.shape[0] - 1
        g.width, g.size = layout.width, layout.size
        g.largest_table, g.largest_arity = layout.largest_table, layout.largest_arity
        g.has_forbidden, g.pairs_only = has_forbidden, layout.pairs_only
        g.domains = &domains[0] if g.n else NULL
        g.first = &first[0] if first.shape[0] else NULL
        g.scope_start, g.table_start = &scope_start[0], &table_start[0]
        g.scope = &scope[0] if scope.shape[0] else NULL
        g.tables = &tables[0] if tables.shape[0] else NULL
        g.run = &run[0, 0] if run.shape[0] else NULL
        g.rows, g.factors, g.slots = NULL, NULL, NULL
        g.largest_domain = g.width
        if not g.width:
            g.largest_domain = 1
            for v in range(g.n):
                g.largest_domain = max(g.largest_domain, g.domains[v])

    def connect(self, tuple incidence):
        """Take over what `FactorGraph.incidence` returns."""
        cdef const offset_t[::1] rows = incidence[0]
        cdef const element_t[::1] factors = incidence[1], slots = incidence[2]
        self.kept += (incidence,)
        self.g.rows = &rows[0]
        self.g.factors = &factors[0] if factors.shape[0] else NULL
        self.g.slots = &slots[0] if slots.shape[0] else NULL
        self.connected = True


def unary_sums(View view, const cost_t[::1] tables):
    """The sum of the unary tables of each variable, from the entries `tables` in place of those of the view."""
    cdef const Factors* g = &view.g
    cdef Py_ssize_t f
    cdef element_t v
    cdef offset_t i, at
    out = zeros_float64(g.size)
    cdef double[::1] total = out
    with nogil:
        for f in range(g.m):
            if arity_of(g, f) == 1:
                v = scope_of(g, f)[0]
                at = place(g, v)
                for i in range(labels_of(g, v)):
                    total[at + i] += tables[g.table_start[f] + i]
    return out


def least_labels(View view, const double[::1] costs):
    """The label of least cost of each variable, the first of several."""
    cdef const Factors* g = &view.g
    cdef Py_ssize_t v
    cdef offset_t i, at
    out = zeros_int32(g.n)
    cdef element_t[::1] label = out
    with nogil:
        for v in range(g.n):
            at = place(g, v)
            for i in range(1, labels_of(g, v)):
                if costs[at + i] < costs[at + label[v]]:
                    label[v] = <element_t>i
    return out


def add_sent(View view, const element_t[::1] more, const double[::1] messages, double[::1] total):
    """Add messages to the labels they go to: those of factors of at least two variables, then those to `more`."""
    cdef const Factors* g = &view.g
    cdef Py_ssize_t f, at = 0
    cdef offset_t i
    with nogil:
        for f in range(g.m):
            if arity_of(g, f) > 1:
                for i in range(g.scope_start[f], g.scope_start[f + 1]):
                    at += added(g, g.scope[i], &messages[at], &total[0])
        for i in range(more.shape[0]):
            at += added(g, more[i], &messages[at], &total[0])


cdef offset_t added(const Factors* g, element_t v, const double* message, double* total) noexcept nogil:
    cdef offset_t i, count = labels_of(g, v)
    for i in range(count):
        total[place(g, v) + i] += message[i]
    return count
