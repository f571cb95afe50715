# A graph with costs that shrinks: rows sorted by neighbour, and the contraction of two elements into one.
#
# The row of the contracted element is made from both rows, in an array of its own. In the row of a neighbour, the cost
# of one entry is increased, or the entry is moved to the place of its new name. An entry of cost 0 may name an element
# that no longer exists.
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memmove

from graphpart.kernels.sorted_row cimport first_not_below
from graphpart.kernels.types cimport element_t, offset_t

cdef struct Row:
    element_t* to
    double* cost
    Py_ssize_t size
    bint owned
    double attraction           # sum of -cost where negative
    double repulsion            # sum of finite positive costs
    Py_ssize_t cuts             # infinite costs
    double weight               # sum of all absolute costs ever added here, which bounds the rounding errors of sums
    double terms                # number of costs ever added here

cdef struct Shrinking:
    Py_ssize_t n
    Row* rows
    element_t* parent           # itself while the element is there


cdef inline bint shrinking_make(Shrinking* g, Py_ssize_t n, const offset_t* starts, element_t* to,
                                double* cost) noexcept nogil:
    """Begin with compressed rows, which later steps overwrite. False if there is no memory."""
    cdef Py_ssize_t a
    cdef offset_t i
    cdef Row* row
    g.n = n
    g.rows = <Row*>calloc(n + 1, sizeof(Row))
    g.parent = <element_t*>malloc((n + 1) * sizeof(element_t))
    if g.rows == NULL or g.parent == NULL:
        return False
    for a in range(n):
        g.parent[a] = <element_t>a
        row = &g.rows[a]
        row.to, row.cost = to + starts[a], cost + starts[a]
        for i in range(starts[a], starts[a + 1]):
            if cost[i] != 0:
                row.to[row.size] = to[i]
                row.cost[row.size] = cost[i]
                row.size += 1
        row_sum(row)
        row.weight, row.terms = row.attraction + row.repulsion, row.size
    return True


cdef inline void shrinking_free(Shrinking* g) noexcept nogil:
    cdef Py_ssize_t a
    if g.rows != NULL:
        for a in range(g.n):
            row_free(&g.rows[a])
    free(g.rows)
    free(g.parent)


cdef inline void row_free(Row* row) noexcept nogil:
    if row.owned:
        free(row.to)
        free(row.cost)


cdef inline void row_sum(Row* row) noexcept nogil:
    cdef Py_ssize_t i
    row.attraction = row.repulsion = 0.0
    row.cuts = 0
    for i in range(row.size):
        row_count(row, row.cost[i], 1)


cdef inline void row_count(Row* row, double cost, int sign) noexcept nogil:
    if cost < 0:
        row.attraction -= sign * cost
    elif cost == INFINITY:
        row.cuts += sign
    else:
        row.repulsion += sign * cost


cdef inline Py_ssize_t row_place(const Row* row, element_t x) noexcept nogil:
    """Position of the first entry that is not below x."""
    return first_not_below(row.to, 0, row.size, x)


cdef inline void row_set(Row* row, element_t x, double cost) noexcept nogil:
    """Change the cost of an entry that there is."""
    cdef Py_ssize_t i = row_place(row, x)
    row_count(row, row.cost[i], -1)
    row.cost[i] = cost
    row_count(row, cost, 1)


cdef inline element_t shrinking_find(Shrinking* g, element_t a) noexcept nogil:
    """The element that a is now part of."""
    while g.parent[a] != a:
        g.parent[a] = g.parent[g.parent[a]]
        a = g.parent[a]
    return a


cdef inline element_t shrinking_contract(Shrinking* g, element_t a, element_t b) noexcept nogil:
    """Contract two elements into the one with the longer row, which is returned; -1 if there is no memory."""
    cdef Row* p
    cdef Row* q
    cdef Row both
    cdef Py_ssize_t i = 0, j = 0
    cdef element_t x
    cdef double cost
    if g.rows[a].size < g.rows[b].size:
        a, b = b, a
    p, q = &g.rows[a], &g.rows[b]
    both.to = <element_t*>malloc((p.size + q.size + 1) * sizeof(element_t))
    both.cost = <double*>malloc((p.size + q.size + 1) * sizeof(double))
    if both.to == NULL or both.cost == NULL:
        free(both.to)
        free(both.cost)
        return -1
    both.size, both.owned = 0, True
    while i < p.size or j < q.size:
        if j >= q.size or (i < p.size and p.to[i] < q.to[j]):
            x, cost = p.to[i], p.cost[i]
            i += 1
        elif i >= p.size or q.to[j] < p.to[i]:
            x, cost = q.to[j], q.cost[j]
            j += 1
            if cost != 0 and x != a:
                row_rename(&g.rows[x], b, a)
        else:
            x, cost = p.to[i], p.cost[i] + q.cost[j]
            if q.cost[j] != 0:
                row_fold(&g.rows[x], b, a, p.cost[i], q.cost[j])
            i += 1
            j += 1
        if cost != 0 and x != a and x != b:
            both.to[both.size] = x
            both.cost[both.size] = cost
            both.size += 1
    both.weight, both.terms = p.weight + q.weight, p.terms + q.terms
    row_sum(&both)
    row_free(p)
    row_free(q)
    q.size, q.owned = 0, False
    p[0] = both
    g.parent[b] = a
    return a


cdef inline void row_rename(Row* row, element_t b, element_t a) noexcept nogil:
    """Entry b becomes entry a, which the row does not have, or with cost 0."""
    cdef Py_ssize_t i = row_place(row, b), j = row_place(row, a)
    cdef double cost = row.cost[i]
    if j < row.size and row.to[j] == a:
        row.cost[i] = 0.0
        row.cost[j] = cost
        return
    if i < j:
        j -= 1
        memmove(row.to + i, row.to + i + 1, (j - i) * sizeof(element_t))
        memmove(row.cost + i, row.cost + i + 1, (j - i) * sizeof(double))
    else:
        memmove(row.to + j + 1, row.to + j, (i - j) * sizeof(element_t))
        memmove(row.cost + j + 1, row.cost + j, (i - j) * sizeof(double))
    row.to[j] = a
    row.cost[j] = cost


cdef inline void row_fold(Row* row, element_t b, element_t a, double kept, double gone) noexcept nogil:
    """Entry b is added to entry a; their costs are given as the contracted rows have them."""
    cdef Py_ssize_t i = row_place(row, b), j = row_place(row, a)
    if kept == 0:               # there may be no entry
        row_rename(row, b, a)
        return
    row_count(row, kept, -1)
    row_count(row, gone, -1)
    row.cost[j] = kept + gone
    row.cost[i] = 0.0
    row_count(row, row.cost[j], 1)
