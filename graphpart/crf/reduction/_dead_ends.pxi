"""Kernel of dead-end elimination: labels that another label can always replace at no higher energy (Goldstein 1994).

Label a of variable v is dead if, for some other label b of v, the sum over all factors of v of

    min over the labels of the other variables of  table(a, others) - table(b, others)

is positive: replacing a by b lowers every energy. If it is 0, some optimal labeling does not use a (weak). Then a is
removed, unless b has been removed. Minima are over labels that are not dead. A label is also dead if all its entries in
one table are forbidden. Entries that forbid a are ignored, whether they forbid b or not. Variables wait in a
queue, and enter it again when a neighbour has lost a label.

Sums are in fixed point (see graph_cuts/_scaling.pxd). If entries were rounded, sums must exceed the rounding error.
"""

import numpy as np

from libc.math cimport INFINITY
from libc.stdint cimport INT64_MAX, int64_t, uint8_t

from graphpart.crf.graph_cuts._scaling cimport Scale, rounded
from graphpart.crf.problem._view cimport Factors, View, entries_of, labels_of, place, table_of
from graphpart.kernels._arrays cimport empty_float64, empty_int32, empty_int64, zeros_int32, zeros_int64
from graphpart.kernels.fixed cimport scale_for
from graphpart.kernels.types cimport cost_t, element_t, offset_t
from graphpart.stopping cimport Stopping

cdef enum:
    CANDIDATES = 16             # most labels that the others are compared with

cdef int64_t NEVER = -((<int64_t>1) << 62)
cdef int64_t ALWAYS = INT64_MAX


cdef struct Graph:
    Factors all
    uint8_t* alive              # one flag for each label of each variable
    double* low
    Scale scale
    offset_t* offsets           # of entries of one table with label 0 of the variable and living labels of the others
    element_t* counter
    int64_t* least              # for each label, the sum over factors of the least entries
    int64_t* differences        # for each label and candidate
    element_t* candidates


def dead_ends(
    View view,
    uint8_t[::1] alive,
    bint weak,
    Stopping stopping,
):
    """Clear the flags of dead labels in `alive`, one for each label; returns a variable without any label, or -1."""
    cdef const Factors* all = &view.g
    cdef Py_ssize_t n = all.n, m = all.m, f, head = 0, waiting = n, v, u
    cdef offset_t i, j
    cdef const cost_t* table
    cdef double total = 0.0, low, high
    cdef Graph g
    if n == 0 or m == 0:
        return -1
    cdef double[::1] least = empty_float64(m)
    cdef element_t[::1] queue = np.arange(n, dtype=np.int32)
    cdef uint8_t[::1] queued = np.ones(n, np.uint8)
    cdef int found
    g.scale.before = 1.0
    for _ in range(2):
        total = 0.0
        with nogil:
            for f in range(m):
                low, high = INFINITY, -INFINITY
                table = table_of(all, f)
                for i in range(entries_of(all, f)):
                    low = table[i] if table[i] < low else low
                    high = table[i] if high < table[i] < INFINITY else high
                least[f] = low if low < INFINITY else 0.0
                if high > low:
                    total += (high - low) * g.scale.before
        if 2.0**-700 < total < 2.0**800 or total == 0.0:
            break
        g.scale.before = 2.0**-256 if total > 1.0 else 2.0**640
    g.scale.scale = scale_for(4.0 * total)
    cdef offset_t[::1] offsets = empty_int64(all.largest_table)
    cdef element_t[::1] counter = empty_int32(all.largest_arity), candidates = empty_int32(CANDIDATES)
    cdef int64_t[::1] sums = empty_int64(all.largest_domain)
    cdef int64_t[::1] differences = empty_int64(all.largest_domain * CANDIDATES)
    g.all = view.g
    g.alive, g.low, g.offsets, g.counter = &alive[0], &least[0], &offsets[0], &counter[0]
    g.least, g.differences, g.candidates = &sums[0], &differences[0], &candidates[0]
    with nogil:
        while waiting:
            if stopping.poll(INFINITY):
                break
            v = queue[head]
            head = head + 1 if head + 1 < n else 0
            waiting -= 1
            queued[v] = False
            found = look_at(&g, v, weak)
            if found < 0:
                with gil:
                    return v
            if found == 0:
                continue
            for i in range(all.rows[v], all.rows[v + 1]):
                f = all.factors[i]
                for j in range(all.scope_start[f], all.scope_start[f + 1]):
                    u = all.scope[j]
                    if u != v and not queued[u]:
                        queued[u] = True
                        queue[(head + waiting) % n] = <element_t>u
                        waiting += 1
    return -1


cdef int look_at(Graph* g, Py_ssize_t v, bint weak) noexcept nogil:
    """Mark the dead labels of one variable; return their number, -1 if all are dead."""
    cdef uint8_t* alive = g.alive + place(&g.all, v)
    cdef offset_t d = g.all.domains[v], a, i, k, count, stride
    cdef Py_ssize_t f, c, candidates = 0
    cdef int64_t x, y, least, worst
    cdef double lost = 0.0, tolerance = 0.0
    cdef int dead = 0, living = 0
    cdef element_t b
    cdef const cost_t* table
    for a in range(d):
        living += alive[a]
        g.least[a] = 0
    # Labels that a factor forbids, and a lower bound on the cost of each other label.
    for i in range(g.all.rows[v], g.all.rows[v + 1]):
        f = g.all.factors[i]
        count = others(g, f, g.all.slots[i], &stride)
        table = table_of(&g.all, f)
        for a in range(d):
            if not alive[a]:
                continue
            least = ALWAYS
            for k in range(count):
                if table[g.offsets[k] + a * stride] < INFINITY:
                    lost = 0.0
                    x = rounded(table[g.offsets[k] + a * stride] - g.low[f], &g.scale, &lost)
                    least = x if x < least else least
            if least == ALWAYS:
                alive[a] = False
                dead += 1
                living -= 1
            else:
                g.least[a] += least
    if living == 0:
        return -1
    if living == 1:
        return dead
    while candidates < CANDIDATES and candidates < living:
        b = -1
        for a in range(d):
            if alive[a] and (b < 0 or g.least[a] < g.least[b]):
                for c in range(candidates):
                    if g.candidates[c] == a:
                        break
                else:
                    b = <element_t>a
        g.candidates[candidates] = b
        candidates += 1
    for a in range(d * candidates):
        g.differences[a] = 0
    for i in range(g.all.rows[v], g.all.rows[v + 1]):
        f = g.all.factors[i]
        count = others(g, f, g.all.slots[i], &stride)
        table = table_of(&g.all, f)
        lost = 0.0
        for a in range(d):
            if not alive[a]:
                continue
            for c in range(candidates):
                if g.differences[a * candidates + c] == NEVER or g.candidates[c] == a:
                    continue
                worst = ALWAYS
                for k in range(count):
                    if table[g.offsets[k] + a * stride] == INFINITY:
                        continue
                    if table[g.offsets[k] + g.candidates[c] * stride] == INFINITY:
                        worst = NEVER
                        break
                    x = rounded(table[g.offsets[k] + a * stride] - g.low[f], &g.scale, &lost)
                    y = rounded(table[g.offsets[k] + g.candidates[c] * stride] - g.low[f], &g.scale, &lost)
                    worst = x - y if x - y < worst else worst
                if worst == NEVER:
                    g.differences[a * candidates + c] = NEVER
                else:
                    g.differences[a * candidates + c] += worst
        tolerance += 2.0 * lost
    for a in range(d):
        if not alive[a]:
            continue
        for c in range(candidates):
            b = g.candidates[c]
            x = g.differences[a * candidates + c]
            if b != a and alive[b] and x > NEVER and (
                <double>x > tolerance * 1.01 or (weak and x >= 0 and tolerance == 0.0)
            ):
                alive[a] = False
                dead += 1
                break
    return dead


cdef offset_t others(Graph* g, Py_ssize_t f, element_t slot, offset_t* stride) noexcept nogil:
    """List the entries of a table with label 0 at `slot` and living labels elsewhere; return their number."""
    cdef offset_t arity = g.all.scope_start[f + 1] - g.all.scope_start[f], count = 0, at = 0, k, step
    cdef const element_t* scope = g.all.scope + g.all.scope_start[f]
    cdef offset_t size = 1
    cdef bint good
    stride[0] = 1
    for k in range(arity - 1, slot, -1):
        stride[0] *= g.all.domains[scope[k]]
    if arity == 1:
        g.offsets[0] = 0
        return 1
    if arity == 2:
        k = 1 - slot
        step = 1 if k == 1 else g.all.domains[scope[1]]
        for at in range(g.all.domains[scope[k]]):
            if g.alive[place(&g.all, scope[k]) + at]:
                g.offsets[count] = at * step
                count += 1
        return count
    for k in range(arity):
        g.counter[k] = 0
    while True:
        good = True
        for k in range(arity):
            if k != slot and not g.alive[place(&g.all, scope[k]) + g.counter[k]]:
                good = False
                break
        if good:
            g.offsets[count] = at
            count += 1
        k = arity - 1
        size = 1
        while k >= 0:
            if k != slot:
                g.counter[k] += 1
                at += size
                if g.counter[k] < g.all.domains[scope[k]]:
                    break
                at -= size * g.all.domains[scope[k]]
                g.counter[k] = 0
            size *= g.all.domains[scope[k]]
            k -= 1
        if k < 0:
            return count


def restrict(
    View view,
    const uint8_t[::1] alive,
    const element_t[::1] like,
):
    """The factors over living labels, without decided variables: (scope_start, scope, begins, tables, constants, bad).

    Variables keep their numbers; those with one label left are dropped from scopes. ``like[f]`` is the first factor of
    which the same table is left as of f, perhaps f itself; this table is kept once. `begins` says where the table of
    each factor begins. Factors without a remaining variable give the entries of `constants`; `bad` is the first of
    these with a forbidden entry, or -1.
    """
    cdef const Factors* g = &view.g
    cdef Py_ssize_t n = g.n, m = g.m, f, kept = 0, none = 0, bad = -1
    cdef offset_t members = 0, entries = 0, size, arity, i, at, k
    cdef element_t[::1] count = zeros_int32(n)
    cdef element_t[::1] counter = zeros_int32(g.largest_arity)
    cdef const cost_t* table
    cdef bint good
    cdef Py_ssize_t v
    with nogil:
        for v in range(n):
            for i in range(place(g, v), place(g, v) + labels_of(g, v)):
                count[v] += alive[i]
        for f in range(m):
            size = 1
            arity = 0
            for i in range(g.scope_start[f], g.scope_start[f + 1]):
                size *= count[g.scope[i]]
                arity += count[g.scope[i]] > 1
            if arity:
                kept += 1
                members += arity
                if like[f] == f:
                    entries += size
            else:
                none += 1
    start_array, scope_array = zeros_int64(kept + 1), empty_int32(members)
    tables_array, constants_array, begins_array = empty_float64(entries), empty_float64(none), empty_int64(kept)
    cdef offset_t[::1] start = start_array, begins = begins_array, begin = empty_int64(m)
    cdef element_t[::1] rest = scope_array
    cdef cost_t[::1] out = tables_array
    cdef double[::1] constants = constants_array
    kept = none = 0
    members = entries = 0
    with nogil:
        for f in range(m):
            arity = g.scope_start[f + 1] - g.scope_start[f]
            size = members
            for k in range(arity):
                counter[k] = 0
                if count[g.scope[g.scope_start[f] + k]] > 1:
                    rest[members] = g.scope[g.scope_start[f] + k]
                    members += 1
            if members > size:
                kept += 1
                start[kept] = members
                begin[f] = entries if like[f] == f else begin[like[f]]
                begins[kept - 1] = begin[f]
                if like[f] != f:
                    continue
            table = table_of(g, f)
            for at in range(entries_of(g, f)):
                good = True
                for k in range(arity):
                    if not alive[place(g, g.scope[g.scope_start[f] + k]) + counter[k]]:
                        good = False
                        break
                if good:
                    if members > size:
                        out[entries] = table[at]
                        entries += 1
                    else:
                        constants[none] = table[at]
                        none += 1
                        if bad < 0 and table[at] == INFINITY:
                            bad = f
                for k in range(arity - 1, -1, -1):
                    counter[k] += 1
                    if counter[k] < g.domains[g.scope[g.scope_start[f] + k]]:
                        break
                    counter[k] = 0
    return start_array, scope_array, begins_array, tables_array, constants_array, bad
