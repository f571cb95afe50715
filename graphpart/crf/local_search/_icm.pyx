"""Kernels of iterated conditional modes: change one label at a time, while that lowers the energy.

For each variable v and label y, ``local[v, y]`` is the sum of the entries of all tables of v if v had the label y and
nothing else changed. Infinite entries are counted separately (``forbidden[v, y]``), so that no sum is undefined. A
change is better if it lowers the number of forbidding factors, or keeps it and lowers the sum of finite entries. A heap
holds every variable with a better label, keyed by its best change. A change updates the sums of the neighbours.
Rounding errors may add up in these, so the sums of a variable are recomputed before its change is applied. The sums of
all variables are recomputed before the algorithm ends.
"""

import numpy as np

from libc.math cimport INFINITY, fabs

from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, empty_int8, empty_uint8, full_int32
from graphpart.kernels.heap cimport Heap, heap_settle
from graphpart.kernels.memory cimport prefetch
from graphpart.crf.problem._view cimport Factors, View, entry_of, labels_of, place
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef double ROUNDING = 2.0**-50     # relative to the sum of absolute entries of a variable

cdef struct Change:
    double delta
    element_t count         # change of the number of forbidding factors
    element_t variable

cdef enum:
    ALONE = -1              # instead of the other variable: there is none
    SEVERAL = -2

cdef struct Link:           # one place of a variable in a scope
    offset_t stride         # of the variable; with `pairs`: 2 * start of the table + (stride == 2)
    element_t factor
    element_t other         # the other variable of a pair

cdef struct Search:
    Factors g
    bint plain                      # all variables binary, all entries finite
    bint pairs                      # moreover no factor has more than two variables: labels say which entries count
    const offset_t* rows            # the links of variable v: links[rows[v]:rows[v + 1]], factors ascending
    Link* links
    offset_t* at                    # the entry of each table that the labels select
    element_t* labels
    unsigned char* bits             # with `pairs` in place of `labels`
    cost_t* local
    element_t* forbidden
    Change* heap
    element_t size
    element_t* where                # place in the heap, or -1


cdef void connect(Search* s, offset_t* rows, Link* links) noexcept nogil:
    """Count the places of each variable, then fill them in from the last one, factors ascending."""
    cdef offset_t f, i, begin, end, stride
    cdef element_t v
    cdef Link* link
    for v in range(s.g.n + 1):
        rows[v] = 0
    for i in range(s.g.scope_start[s.g.m]):
        rows[s.g.scope[i]] += 1
    for v in range(1, s.g.n + 1):
        rows[v] += rows[v - 1]      # the end of row v
    for f in range(s.g.m - 1, -1, -1):
        begin, end = s.g.scope_start[f], s.g.scope_start[f + 1]
        stride = 1
        for i in range(end - 1, begin - 1, -1):
            v = s.g.scope[i]
            rows[v] -= 1
            link = &links[rows[v]]
            link.factor = <element_t>f
            link.other = SEVERAL if end - begin > 2 else (s.g.scope[2 * begin + 1 - i] if end - begin == 2 else ALONE)
            link.stride = stride
            stride *= labels_of(&s.g, v)


# ---------------------------------------------------------------------------------------------------- the best change

cdef inline bint better(const Change* a, const Change* b) noexcept nogil:
    if a.count != b.count:
        return a.count < b.count
    if a.delta != b.delta:
        return a.delta < b.delta
    return a.variable < b.variable


cdef inline Change best_change(Search* s, element_t v, element_t* label) noexcept nogil:
    """The best change of one variable among all other labels, the smallest label of equals."""
    cdef offset_t d = labels_of(&s.g, v), y, own = s.labels[v]
    cdef const cost_t* local = &s.local[place(&s.g, v)]
    cdef const element_t* forbidden = &s.forbidden[place(&s.g, v)] if s.g.has_forbidden else NULL
    cdef Change best, now
    best.variable = now.variable = v
    best.delta = INFINITY
    best.count = 0x7fffffff
    now.count = 0
    label[0] = s.labels[v]
    if s.plain:
        if s.pairs:
            own = s.bits[v]
        best.delta = local[1 - own] - local[own]
        best.count = 0
        label[0] = <element_t>(1 - own)
        return best
    for y in range(d):
        if y == own:
            continue
        now.delta = local[y] - local[own]
        if s.g.has_forbidden:
            now.count = forbidden[y] - forbidden[own]
        if better(&now, &best):
            best = now
            label[0] = <element_t>y
    return best


cdef inline bint improves(Change* change, double tolerance) noexcept nogil:
    return change.count < 0 or (change.count == 0 and change.delta < -tolerance)


cdef inline const cost_t* column(Search* s, const Link* link, offset_t* stride) noexcept nogil:
    """With `pairs`, the entries of both labels, `stride` apart, at the label of the other variable."""
    stride[0] = 1 + (link.stride & 1)
    return &s.g.tables[(link.stride >> 1) + (s.bits[link.other] * (3 - stride[0]) if link.other >= 0 else 0)]


cdef inline double refresh(Search* s, element_t v, cost_t* local, element_t* forbidden) noexcept nogil:
    """Recompute the sums of v over its tables, factors ascending; return their tolerance."""
    cdef offset_t d = labels_of(&s.g, v), own = s.labels[v], i, y, stride
    cdef const cost_t* table
    cdef double x, z, magnitude = 0.0, low = 0.0, high = 0.0
    if s.plain:
        for i in range(s.rows[v], s.rows[v + 1]):
            if s.pairs:
                table = column(s, &s.links[i], &stride)
            else:
                stride = s.links[i].stride
                table = &s.g.tables[s.at[s.links[i].factor] - own * stride]
            x = table[0]
            z = table[stride]
            low += x
            high += z
            magnitude += fabs(x) + fabs(z)
        local[0] = low
        local[1] = high
        return ROUNDING * magnitude
    for y in range(d):
        local[y] = 0.0
        if s.g.has_forbidden:
            forbidden[y] = 0
    for i in range(s.rows[v], s.rows[v + 1]):
        stride = s.links[i].stride
        table = &s.g.tables[s.at[s.links[i].factor] - own * stride]
        for y in range(d):
            x = table[y * stride]
            if x == INFINITY:
                forbidden[y] += 1
            else:
                local[y] += x
                magnitude += fabs(x)
    return ROUNDING * magnitude


cdef inline void exchange(
    Search* s, element_t u, offset_t stride, const cost_t* old, const cost_t* new
) noexcept nogil:
    """In the sums of u, replace the entries of one table around `old` by those around `new`."""
    cdef offset_t y, d = labels_of(&s.g, u)
    cdef cost_t* local = &s.local[place(&s.g, u)]
    old -= s.labels[u] * stride
    new -= s.labels[u] * stride
    if s.plain:
        local[0] += new[0] - old[0]
        local[1] += new[stride] - old[stride]
        return
    for y in range(d):
        if s.g.has_forbidden:
            if old[y * stride] == INFINITY:
                s.forbidden[place(&s.g, u) + y] -= 1
            else:
                local[y] -= old[y * stride]
            if new[y * stride] == INFINITY:
                s.forbidden[place(&s.g, u) + y] += 1
            else:
                local[y] += new[y * stride]
        else:
            local[y] += new[y * stride] - old[y * stride]


# ---------------------------------------------------------------------------------------------- the heap of best changes

cdef inline bint comes_first(void* context, const void* one, const void* other) noexcept nogil:
    return better(<const Change*>one, <const Change*>other)


cdef inline void note_place(void* context, const void* change, Py_ssize_t at) noexcept nogil:
    (<Search*>context).where[(<const Change*>change).variable] = <element_t>at


cdef inline Heap heap_of(Search* s) noexcept nogil:
    return Heap(s.heap, s.size, sizeof(Change), comes_first, note_place, s)


cdef inline void take_out(Search* s, element_t v) noexcept nogil:
    cdef element_t i = s.where[v]
    cdef Change last
    if i < 0:
        return
    s.where[v] = -1
    s.size -= 1
    if i < s.size:
        last = s.heap[s.size]
        heap_settle(heap_of(s), i, &last)


cdef inline void enter(Search* s, element_t v, double tolerance) noexcept nogil:
    """Bring the heap in line with the sums of v."""
    cdef element_t label, i = s.where[v]
    cdef Change change = best_change(s, v, &label)
    if not improves(&change, tolerance):
        take_out(s, v)
        return
    if i < 0:
        i = s.size
        s.size += 1
    heap_settle(heap_of(s), i, &change)


# ------------------------------------------------------------------------------------------------------ the algorithms

cdef void apply_change(Search* s, element_t v, element_t label, bint best_first) noexcept nogil:
    """Give v another label, and update the sums and the places in the heap of its neighbours."""
    cdef offset_t i, j, f, begin, stride
    cdef element_t u
    cdef const cost_t* old
    cdef const cost_t* new
    cdef const cost_t* table
    cdef cost_t* local
    if s.pairs:
        s.bits[v] = <unsigned char>label
        for i in range(s.rows[v], s.rows[v + 1]):
            u = s.links[i].other
            if u >= 0:
                stride = 1 + (s.links[i].stride & 1)
                table = &s.g.tables[s.links[i].stride >> 1]
                old, new = table + (1 - label) * stride, table + label * stride
                local = &s.local[2 * u]
                local[0] += new[0] - old[0]
                local[1] += new[3 - stride] - old[3 - stride]
                enter(s, u, 0.0)
        return
    for i in range(s.rows[v], s.rows[v + 1]):
        f = s.links[i].factor
        u = s.links[i].other
        stride = s.links[i].stride
        old = &s.g.tables[s.at[f]]
        s.at[f] += (label - s.labels[v]) * stride
        new = &s.g.tables[s.at[f]]
        if u == ALONE:
            continue
        if u != SEVERAL:
            exchange(s, u, labels_of(&s.g, v) if stride == 1 else 1, old, new)     # if u has one label, any stride fits
            enter(s, u, 0.0)
            continue
        begin = s.g.scope_start[f]
        stride = 1
        for j in range(s.g.scope_start[f + 1] - 1, begin - 1, -1):
            u = s.g.scope[j]
            if u != v:
                exchange(s, u, stride, old, new)
                enter(s, u, 0.0)
            stride *= labels_of(&s.g, u)
    s.labels[v] = label


cdef inline void ask_for(Search* s, element_t v) noexcept nogil:
    """Prefetch, in two rounds, the memory that a change of v will read."""
    cdef offset_t i, k
    cdef element_t u
    for i in range(s.rows[v], s.rows[v + 1]):
        if not s.pairs:
            prefetch(&s.at[s.links[i].factor])
        u = s.links[i].other
        if u >= 0:
            prefetch(&s.local[place(&s.g, u)])
            prefetch(&s.where[u])
            if not s.pairs:
                prefetch(&s.labels[u])
    for i in range(1, min(5, s.size)):      # one of these is likely to be next
        u = s.heap[i].variable
        if s.pairs:
            for k in range(s.rows[u], s.rows[u + 1]):
                prefetch(&s.g.tables[s.links[k].stride >> 1])
        else:
            prefetch(&s.links[s.rows[u]])
    for i in range(5, min(21, s.size)):
        u = s.heap[i].variable
        if s.pairs:
            prefetch(&s.links[s.rows[u]])
        else:
            prefetch(&s.rows[u])
    for i in range(s.rows[v], s.rows[v + 1]):
        if not s.pairs:
            prefetch(&s.g.tables[s.at[s.links[i].factor]])


def best_first(
    View view,
    element_t[::1] labels,
    double cost,
    Stopping stopping,
):
    """Repeatedly apply the best of all changes, in place; ties go to the smallest variable, then label."""
    cdef Search s
    cdef offset_t size = view.g.size
    cdef bint has_forbidden = view.g.has_forbidden
    cdef Py_ssize_t f
    cdef offset_t forbidding = 0
    cdef element_t v, label
    cdef Change change, known
    cdef double tolerance
    cdef bint ended = False
    cdef bint pairs = view.g.pairs_only
    cdef offset_t[::1] at = empty_int64(0 if pairs else view.g.m)
    cdef offset_t[::1] row = empty_int64(labels.shape[0] + 1)
    cdef unsigned char[::1] bits = np.array(labels, np.uint8) if pairs else empty_uint8(0)
    cdef char[::1] link = empty_int8(view.g.scope_start[view.g.m] * sizeof(Link))
    cdef cost_t[::1] local = empty_float64(size)
    cdef element_t[::1] forbidden = empty_int32(size if has_forbidden else 0)
    cdef char[::1] heap = empty_int8(labels.shape[0] * sizeof(Change))
    cdef element_t[::1] where = full_int32(labels.shape[0], -1)
    set_up(&s, view, labels, row, at, link)
    if s.g.n == 0:
        return
    s.local = &local[0]
    s.forbidden = &forbidden[0] if has_forbidden else NULL
    s.heap = <Change*>&heap[0]
    s.where = &where[0]
    s.size = 0
    with nogil:
        connect(&s, <offset_t*>s.rows, <Link*>s.links)
        if pairs:
            s.pairs, s.bits = True, &bits[0]
            for f in range(row[s.g.n]):
                s.links[f].stride = 2 * s.g.table_start[s.links[f].factor] + (s.links[f].stride == 2)
        else:
            select(&s)
            for f in range(s.g.m):
                forbidding += s.g.tables[at[f]] == INFINITY
        if forbidding:
            cost = finite_sum(&s)
        while not ended:
            # Recompute all sums: at the start, and before the end, because rounding may have hidden a better label.
            for v in range(s.g.n):
                tolerance = refresh(&s, v, &s.local[place(&s.g, v)], &s.forbidden[place(&s.g, v)] if has_forbidden else NULL)
                enter(&s, v, tolerance)
            if s.size == 0:
                break
            while s.size > 0:
                known = s.heap[0]
                v = known.variable
                ask_for(&s, v)
                tolerance = refresh(&s, v, &s.local[place(&s.g, v)], &s.forbidden[place(&s.g, v)] if has_forbidden else NULL)
                change = best_change(&s, v, &label)
                if not improves(&change, tolerance):
                    take_out(&s, v)
                    continue
                if change.delta != known.delta or change.count != known.count:
                    enter(&s, v, tolerance)
                    continue
                apply_change(&s, v, label, True)
                enter(&s, v, 0.0)
                cost += change.delta
                forbidding += change.count
                if stopping.tick(INFINITY if forbidding else cost):
                    ended = True
                    break
        if pairs:
            for v in range(s.g.n):
                labels[v] = bits[v]


def sweep(
    View view,
    element_t[::1] labels,
    double cost,
    Stopping stopping,
):
    """Give the variables their best labels one after the other, in place, until none changes."""
    cdef Search s
    cdef offset_t i, j, f, forbidding = 0, stride
    cdef element_t v, label
    cdef Change change
    cdef double tolerance
    cdef bint again = True
    cdef offset_t[::1] at = empty_int64(view.g.m)
    cdef offset_t[::1] row = empty_int64(labels.shape[0] + 1)
    cdef char[::1] link = empty_int8(view.g.scope_start[view.g.m] * sizeof(Link))
    cdef unsigned char[::1] dirty = np.ones(labels.shape[0], np.uint8)
    set_up(&s, view, labels, row, at, link)
    if s.g.n == 0:
        return
    # The sums of one variable at a time, in the place of those of all variables.
    cdef offset_t widest = s.g.largest_domain
    cdef cost_t[::1] local = empty_float64(widest)
    cdef element_t[::1] forbidden = empty_int32(widest)
    with nogil:
        select(&s)
        connect(&s, <offset_t*>s.rows, <Link*>s.links)
        for f in range(s.g.m):
            forbidding += s.g.tables[at[f]] == INFINITY
        if forbidding:
            cost = finite_sum(&s)
        while again:
            again = False
            for v in range(s.g.n):
                if not dirty[v]:
                    continue
                dirty[v] = False
                tolerance = refresh(&s, v, &local[0], &forbidden[0])
                s.local = &local[0] - place(&s.g, v)
                s.forbidden = &forbidden[0] - place(&s.g, v)
                change = best_change(&s, v, &label)
                if not improves(&change, tolerance):
                    continue
                for i in range(s.rows[v], s.rows[v + 1]):
                    f = s.links[i].factor
                    at[f] += (label - s.labels[v]) * s.links[i].stride
                    for j in range(s.g.scope_start[f], s.g.scope_start[f + 1]):
                        if s.g.scope[j] != v:
                            dirty[s.g.scope[j]] = True
                            again = True
                s.labels[v] = label
                cost += change.delta
                forbidding += change.count
                if stopping.tick(INFINITY if forbidding else cost):
                    again = False
                    break


cdef int set_up(
    Search* s, View view, element_t[::1] labels, offset_t[::1] row, offset_t[::1] at, char[::1] links
) except -1:
    s.g = view.g
    s.plain = s.g.width == 2 and not s.g.has_forbidden
    s.pairs = False
    s.rows = &row[0]
    s.at = &at[0] if at.shape[0] else NULL
    s.links = <Link*>&links[0] if s.g.m else NULL
    s.labels = &labels[0] if s.g.n else NULL
    return 0


cdef void select(Search* s) noexcept nogil:
    cdef offset_t f
    for f in range(s.g.m):
        s.at[f] = s.g.table_start[f] + entry_of(&s.g, f, s.labels)


cdef double finite_sum(Search* s) noexcept nogil:
    cdef offset_t f
    cdef double total = 0.0
    for f in range(s.g.m):
        if s.g.tables[s.at[f]] < INFINITY:
            total += s.g.tables[s.at[f]]
    return total
