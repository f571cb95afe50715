"""One C view of a factor graph: the pointers and sizes that all kernels of `crf` read; see `_view.pyx`."""

from graphpart.kernels.types cimport cost_t, element_t, offset_t


cdef struct Factors:
    Py_ssize_t n, m
    offset_t width                  # the number of labels, if all variables have the same; else 0
    offset_t size                   # labels of all variables
    const element_t* domains
    const offset_t* first           # where the labels of each variable begin; NULL if `width` says it
    const offset_t* scope_start     # m + 1
    const element_t* scope
    const offset_t* table_start     # start of the table of factor f; several factors may have the same
    const cost_t* tables
    const offset_t* run             # see _structure.runs; NULL without runs
    offset_t largest_domain, largest_table, largest_arity
    bint has_forbidden
    bint pairs_only                 # all variables are binary, no factor has more than two, and no entry is infinite
    const offset_t* rows            # the factors of variable v: factors[rows[v]:rows[v + 1]]; NULL unless connected
    const element_t* factors
    const element_t* slots          # the place of the variable in the scope of each of them


cdef class View:
    cdef Factors g
    cdef readonly tuple arrays      # (domains, scope_start, scope, table_start, tables)
    cdef tuple kept
    cdef readonly bint connected


cdef inline offset_t labels_of(const Factors* g, Py_ssize_t v) noexcept nogil:
    """The number of labels of a variable."""
    return g.width if g.width else g.domains[v]


cdef inline offset_t place(const Factors* g, Py_ssize_t v) noexcept nogil:
    """Where the labels of a variable begin in a vector of the labels of all variables."""
    return g.width * v if g.width else g.first[v]


cdef inline offset_t arity_of(const Factors* g, Py_ssize_t f) noexcept nogil:
    return g.scope_start[f + 1] - g.scope_start[f]


cdef inline const element_t* scope_of(const Factors* g, Py_ssize_t f) noexcept nogil:
    return g.scope + g.scope_start[f]


cdef inline const cost_t* table_of(const Factors* g, Py_ssize_t f) noexcept nogil:
    return g.tables + g.table_start[f]


cdef inline offset_t entries_of(const Factors* g, Py_ssize_t f) noexcept nogil:
    """The number of entries of a table, from the domains of its variables."""
    cdef offset_t i, size = 1
    for i in range(g.scope_start[f], g.scope_start[f + 1]):
        size *= g.domains[g.scope[i]]
    return size


cdef inline offset_t entry_of(const Factors* g, Py_ssize_t f, const element_t* labels) noexcept nogil:
    """The entry of a table that labels select, counted from its first one."""
    cdef offset_t i, at = 0
    for i in range(g.scope_start[f], g.scope_start[f + 1]):
        at = at * labels_of(g, g.scope[i]) + labels[g.scope[i]]
    return at
